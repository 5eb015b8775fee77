/* Descriptors of the simulated system: connections, and events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_DESCRIPTORS_H
#define SIM_DESCRIPTORS_H

/* How many are open, on all machines. */
int descriptors_open(void);
/* A forked child closes its copies: what they stand for stays open in its parent. */
void descriptors_forked(void);
void descriptors_fork_is_over(void);

#endif
