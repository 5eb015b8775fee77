/* Singleflights: many threads of a process ask for one key, and some loads end badly. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FLIGHTS_H
#define SIM_FLIGHTS_H

#include "tests/sim/program/run.h"

/* Before the threads of a process, and when they have ended. */
void flights_begin(process *process);
void flights_end(process *process);
/* In a forked child: those of its parent cannot be used. */
void flights_in_child(const process *process);
void flight_step(worker *worker, const plan_step *step);

#endif
