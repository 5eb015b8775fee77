/* Losses: a hold that foreign hands took away is told to its owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LOSSES_H
#define SIM_LOSSES_H

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/run.h"

/* The key of that resource is being deleted: none of its holds will stand any more. Before ledger_void. */
void losses_gone(int resource);
/* It was not: the server refused. */
void losses_not_gone(int resource);
/* rlock_on_lost said so to that client. */
void losses_told(int client, const rlock_lost_event *lost);
/* Its last unlock answered RLOCK_OK. */
void losses_given_back(hold *hold);
/* It is valid for so long, its owner was answered. */
void losses_valid(const hold *hold, validity validity);
/* Now and then: whether all that was to be told by now is. */
void losses_look(void);
/* In a forked child nobody tells of those of its parent. */
void losses_forget(void);

#endif
