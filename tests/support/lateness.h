/* Lateness: how late this machine was for a thread that only wanted to wake. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_LATENESS_H
#define TEST_LATENESS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on, a thread of this process wakes every few milliseconds and notes how late it was. */
void lateness_watch(void);
/* The most that it was late since; 0 when nobody watched. ms. */
int64_t lateness_ms(void);
/* Whether a hold of that lease, renewed each third of it, may have run out for that, with some time for the answer. */
bool may_have_run_out(int64_t lease_ms);

#endif
