/* Calls: what the headers promise of each answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_CALLS_H
#define SIM_CALLS_H

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/run.h"

/* One call of the library, from its begin to its return. */
typedef struct call {
    worker *worker;
    const plan_step *step;
    hold *hold;              /* of a lock; NULL */
    char title[96];          /* "lock reentrant a, wait 300, lease -1" */
    int64_t began_ns, ended_ns, stopped_ns; /* the last: how long its machine had stood still when it began */
    unsigned epoch, gains; /* of the resource and of the hold, when it began */
    unsigned data_losses;  /* of servers, by then */
    unsigned re_entries, fresh_takes; /* of the resource, by then */
    int64_t valid_before_ms; /* of the hold */
    int64_t members_before_ms[PLAN_MEMBERS]; /* of the members of a lock of several, which its owner gives back */
    unsigned begun;          /* of the hold: with this one */
    bool alone;              /* when it began, no other was under way, and its owner had no part of it otherwise */
    bool gives_back;
    unsigned free_parts;     /* of a sharded lock, when it began: a bit each */
    bool cancelled;          /* its token was fired… */
    int64_t cancelled_ns;    /* …then */
    bool is_async, not_begun; /* an async call that answered at once: nothing has changed */
    int64_t forgotten_ns; /* how long its loop had forgotten to process by then */
    rlock_status status;
    char message[200];
} call;

void call_begin(call *call, worker *worker, const plan_step *step, hold *hold);
/* It goes on, after what it answered first: the end of a block. */
void call_resume(call *call);
/* What its hold's owner was answered before it. */
void call_valid_before(call *call, validity before);
/* With the status that it answered; the calls below judge it. */
void call_end(call *call, rlock_status status);
void call_end_with(call *call, rlock_status status, const char *error);
int64_t call_took_ns(const call *call); /* without the time that its machine stood still */

void judge_acquire(call *call, validity validity);
void judge_unlock(call *call, validity validity);
void judge_extend(call *call, validity validity);
void judge_question(call *call);
void judge_force(call *call);
void judge_object(call *call);
/* A fencing token was given with that acquire. */
void judge_token(call *call, uint64_t token);
/* The same of any acquire, which `what` names. */
void judge_token_given(int resource, unsigned epoch, int64_t began_ns, uint64_t token, const char *what);
/* rlock_get_token has answered, of a hold that is valid for so long. */
void judge_own_token(call *call, uint64_t token, validity validity);
/* Whether the hold is lost by now, as far as its owner can know. */
void judge_validity(hold *hold, validity validity);

#endif
