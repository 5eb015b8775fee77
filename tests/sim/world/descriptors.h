/* Descriptors of the simulated system. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_DESCRIPTORS_H
#define SIM_DESCRIPTORS_H

#include "tests/sim/world/machine.h"

/* How many are open, on all machines. */
int descriptors_open(void);
/* Another process has it, too: it is open until each has closed it. */
void descriptors_share(int fd, const machine *with);
/* As when its process ends. */
void descriptors_close_all(const machine *of);
/* A forked child closes its copies: what they stand for stays open in its parent. */
void descriptors_forked(void);
void descriptors_fork_is_over(void);

#endif
