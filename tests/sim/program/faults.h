/* Faults: what a plan has go wrong, when; and its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "tests/sim/program/plan.h"

void faults_plan(const plan *plan);
/* Nothing goes wrong any more, and what did is mended. */
void faults_heal(void);
/* When the last one ends. */
int64_t faults_end_ns(const plan *plan);
/* Whether it is that the server takes no more connections. */
bool fault_fills(const plan_fault *fault);
/* As an operator would: frees the locks that stand for long, or for ever, and tells those who wait. */
void faults_free_locks(void);

#endif
