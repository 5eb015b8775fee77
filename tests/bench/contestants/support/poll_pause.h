/* The pause between two attempts of a contestant that polls: 0.5 to 1.5 ms, at random. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_POLL_PAUSE_H
#define BENCH_POLL_PAUSE_H

/* Another one for each thread of each process. */
unsigned poll_pause_seed(void);
void poll_pause(unsigned *random);

#endif
