/* What stands under a name, printed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INSPECTION_H
#define CLI_INSPECTION_H

#include <rlock/inspect.h>

/* For people: a line, and one more for each holder, waiter and permit. */
void inspection_print_text(const char *name, const rlock_inspection *found);
/* As one JSON object on one line. */
void inspection_print_json(const char *name, const rlock_inspection *found);

#endif
