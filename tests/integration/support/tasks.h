/* Tasks: the threads of this process, by the names the kernel knows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_H
#define TASKS_H

/* How many threads have a name that begins with `prefix`. */
int tasks_named(const char *prefix);

#endif
