/* Error messages: the detail of each thread's last failure. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ERROR_H
#define RLI_ERROR_H

#include <rlock/status.h>

/* Stores the formatted message as the calling thread's rlock_last_error() and returns `status`. A message longer than
 * 511 bytes is cut at a character boundary; control characters are escaped. */
rlock_status rli_fail(rlock_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prefixes the calling thread's last message with the object that it is about, as in `lock "order": …`, unless the
 * message already contains the name. `what` is the kind of object ("lock"). Returns `status`. */
rlock_status rli_fail_prefix(rlock_status status, const char *what, const char *name);

/* RLOCK_INVALID: a program has passed NULL for `what`. The thread's last message may say why that could not be made;
 * then it is a part of this one. */
rlock_status rli_fail_null(const char *what);

/* Like rli_fail, with a message that was composed elsewhere, for example by the thread that led a pipeline. */
rlock_status rli_fail_text(rlock_status status, const char *message);

/* A name as messages show it: at most 100 bytes, ending in "…" if it was cut. Returns `shown`. */
#define RLI_NAME_SHOWN 104
const char *rli_show_name(const char *name, char shown[RLI_NAME_SHOWN]);

#endif
