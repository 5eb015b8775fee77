/* Foreign hands: what others do to the keys and channels of locks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include "tests/sim/program/plan.h"
#include "tests/sim/world/network.h"

void foreign_delete(const plan_fault *fault);
void foreign_shorten(const plan_fault *fault);
void foreign_force(const plan_fault *fault);
void foreign_write_field(const plan_fault *fault);
void foreign_delete_all(const plan_fault *fault);
void foreign_publish_garbage(const plan_fault *fault);
void foreign_persist(const plan_fault *fault);
void foreign_rename(const plan_fault *fault);
void foreign_name_back(const plan_fault *fault);
void foreign_take(const plan_fault *fault);
void foreign_give_back(const plan_fault *fault);
void foreign_clear(const plan_fault *fault); /* whatever has its name */
void foreign_write_queue(const plan_fault *fault);
void foreign_delete_helpers(const plan_fault *fault);
void foreign_overhear(const plan_fault *fault);
void foreign_hang_up(const plan_fault *fault);
/* All who wait for that lock look again. */
void foreign_tell_waiters(host *at, const char *name);

#endif
