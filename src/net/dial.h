/* Dialling: a connected socket to the server, or the reason why there is none. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DIAL_H
#define RLI_DIAL_H

#include "config/settings.h"
#include "net/patience.h"

/* Looks the name of the host up and tries all that it stands for. The socket is blocking, closed on exec, tuned as the
 * tcp… settings say, and tracked (forked.h). -1: *why says why (static text or strerror). */
int rli_dial(const rli_settings *settings, const rli_address *address, const rli_patience *patience, const char **why);

#endif
