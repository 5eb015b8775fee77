/* Memory that runs out: allocations of the calling thread fail, as the test says. For programs that are linked with
 * --wrap for malloc, calloc, realloc and strdup (Makefile). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_MEMORY_H
#define TEST_MEMORY_H

#include <stdbool.h>

/* From now on the first-th allocation of this thread, 1 being the next, and all after it fail. */
void memory_end(int first);
/* Whether one has failed since. */
bool memory_has_ended(void);
/* They succeed again. How many have failed. */
int memory_return(void);

#endif
