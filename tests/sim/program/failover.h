/* Failovers, replicas that do not confirm, and slots that move. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FAILOVER_H
#define SIM_FAILOVER_H

#include "tests/sim/program/plan.h"

void failover_begin(const plan_fault *fault);
void failover_end(const plan_fault *fault);
bool failover_cuts_off_nobody(const plan_fault *fault); /* the old master goes on for all clients */
void replicas_fall_silent(const plan_fault *fault);
void replicas_speak(const plan_fault *fault);
void slot_begins(const plan_fault *fault);
void slot_ends(const plan_fault *fault);
/* All that is under way ends, and all know what is so. */
void failovers_heal(void);

#endif
