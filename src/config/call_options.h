/* Call options: the timeout and retries of one handle, where they differ from the client's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CALL_OPTIONS_H
#define RLI_CALL_OPTIONS_H

#include "config/settings.h"

#include <rlock/client.h>

/* Checks the options of a program that was built with any version, against the client's settings, and with `sets`
 * copies them into *own. RLOCK_OK; RLOCK_INVALID: they are NULL, have the size of no version, or a value out of
 * range. */
rlock_status rli_call_options_read(rlock_call_options *own, const rlock_call_options *given,
                                   const rli_settings *settings, bool sets);

#endif
