/* Ends: every hold has one, every waiter wakes, every loss is told, and nothing is left. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ENDS_H
#define SIM_ENDS_H

#include "tests/sim/program/run.h"

/* Looks now and then, until the run ends. */
void ends_begin(void);
/* All processes have ended: what may be left, and for how long. */
void ends_check(const plan *plan);

/* For rlock_on_lost; the argument is a process. */
/* Nobody gives it back, and it is renewed. */
void ends_left_for_good(int object);
void ends_note_loss(const rlock_lost_event *lost, void *argument);
/* Whether that owner of a client has holds, as far as its calls say. */
bool ends_is_held_by(int client, int resource, int number);
/* A hold is left to its lease: its thread has ended, or its client was closed. */
void ends_abandon(hold *held, int64_t watchdog_ms);
/* What was left to its lease there has ended by then. */
int64_t ends_abandoned_until_ns(int resource);
/* Whoever held that object, or gave it back, may be unknown to the server that has it now: it stands until its lease ends. */
void ends_left_behind(int object);
/* A client is closed: what it held, or was about to. */
void ends_abandon_all(int64_t watchdog_ms);
/* The same, if a lease is longer than what may run late is looked for. */
void ends_abandon_late(int64_t watchdog_ms);

#endif
