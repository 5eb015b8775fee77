/* The detail of a thread's last failure. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ERROR_H
#define RLI_ERROR_H

#include <rlock/status.h>

/* Notes the message for rlock_last_error() and answers `status`. Long names are cut. */
rlock_status rli_fail(rlock_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts the object that a call was about before the message, as in `lock "order": …`, unless the message has its name
 * already; answers `status`. */
rlock_status rli_fail_of(rlock_status status, const char *what, const char *name);

/* Notes a message made elsewhere, for example by the thread that led a connection. */
rlock_status rli_fail_as(rlock_status status, const char *message);

/* A name for a message: at most 100 bytes, ending in … where it was cut. */
#define RLI_NAME_SHOWN 104
const char *rli_show_name(const char *name, char shown[RLI_NAME_SHOWN]);

#endif
