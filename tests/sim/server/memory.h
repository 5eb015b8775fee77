/* Memory of the server model: an allocation that fails ends the program, since this is a tool of the tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_MEMORY_H
#define SIM_SERVER_MEMORY_H

#include <stddef.h>

/* Where the model's memory comes from. The simulation, in which allocations of the library fail on purpose, puts
 * another function here before the first server is made. As Lua's allocators: size 0 frees. */
extern void *(*sim_memory)(void *at, size_t size);

void *sim_new(size_t size); /* zeroed */
void *sim_resize(void *at, size_t size);
void sim_free(void *at);
char *sim_copy(const char *at, size_t length); /* with a NUL behind it */

#endif
