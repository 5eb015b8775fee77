/* Prints an inspection: what is stored under a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INSPECTION_H
#define CLI_INSPECTION_H

#include <rlock/inspect.h>

/* As text: one line, and one more for each holder, waiter and permit. */
void inspection_print_text(const char *name, const rlock_inspection *found);
/* As one JSON object on one line. */
void inspection_print_json(const char *name, const rlock_inspection *found);

#endif
