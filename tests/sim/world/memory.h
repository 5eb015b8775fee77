/* Memory: what the library allocates is counted, and may run out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* From now on one allocation of so many fails, anywhere; 0: none. */
void memory_fails(int one_in);
/* The calling thread's next allocations: the n-th from now on and the `more` after it fail. 0: none does. */
void memory_fails_here(int nth, int more);

/* How many blocks the library has allocated and not freed. */
int64_t memory_blocks(void);
/* How many allocations have failed. */
int64_t memory_failures(void);
/* When the last one failed, as world_now_ns; INT64_MIN: none has. */
int64_t memory_failed_ns(void);

#endif
