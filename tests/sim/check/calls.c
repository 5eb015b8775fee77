/* Calls: what the headers promise of each answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/calls.h"

#include "tests/sim/check/holders.h"
#include "tests/sim/check/kept.h"
#include "tests/sim/check/losses.h"
#include "tests/sim/check/masters.h"
#include "tests/sim/check/members.h"
#include "tests/sim/check/order.h"
#include "tests/sim/check/parts.h"
#include "tests/sim/program/known.h"
#include "tests/sim/program/loops.h"
#include "tests/sim/program/plan.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"

#include <inttypes.h>
#include <string.h>

/* A call that waits may be later than its time by the client's patience with a server, and by this. */
#define SLACK_MS 3000

static object_kind kind_of(const call *self)
{
    return self->worker->of->plan->objects[self->step->object].kind;
}

/* Where memory is short, an unlock of a red lock may fail at some members, and find another one lost: it says that the lock
 * is lost, and it is valid. */
static void doubt_red(hold *held)
{
    held->unsure |= run_of->objects[held->resource].kind == RED && memory_failures() > 0;
}

void call_resume(call *self)
{
    hold *held = self->hold;
    self->began_ns = world_now_ns();
    self->epoch = held ? ledger_epoch(held->resource) : 0;
    self->data_losses = ledger_data_losses();
    self->re_entries = held ? holders_re_entries(held->resource) : 0;
    self->fresh_takes = held ? holders_fresh_takes(held->resource) : 0;
    self->stopped_ns = self->worker->of->machine->stood_still_ns;
    self->gains = held ? held->gains : 0;
    self->free_parts = held && held->side == PART_SIDE ? parts_free(self) : 0;
    if (!held)
        return;
    self->alone = !members_note_others(held) && held->calls == 0;
    self->begun = ++held->begun;
    held->unsure |= held->calls++ > 0;
    held->unlocks += self->step->kind == UNLOCK;
    doubt_red(held);
    if (self->step->kind == LOCK || self->step->kind == TOKEN) /* what is valid from now on may be of this call */
        held->given_up_ns = 0;
}

void call_begin(call *self, worker *who, const plan_step *step, hold *held)
{
    const plan_object *object = &who->of->plan->objects[step->object];
    *self = (call){.worker = who, .step = step, .hold = held};
    snprintf(self->title, sizeof self->title, "%s %s %s (owner %d, wait %" PRId64 ", lease %" PRId64 ", count %d)",
             step_word(step->kind), object_word(object->kind), object->name, step->owner, step->wait_ms, step->lease_ms,
             step->count);
    call_resume(self);
    timeline(thread_title(who->thread), "%s", self->title);
    run_count_call();
}

/* The thread may have stood still between the two. */
void call_valid_before(call *self, validity before)
{
    int64_t passed_ms = (self->began_ns - before.asked_ns) / 1000000;
    self->valid_before_ms = before.ms > passed_ms ? before.ms - passed_ms : before.ms > 0 ? 1 : 0;
}

void call_end_with(call *self, rlock_status status, const char *error)
{
    self->status = status;
    self->ended_ns = world_now_ns();
    if (self->hold)
        doubt_red(self->hold);
    /* It may have been repeated, and what was sent first may come yet. */
    bool repeated = world_now_ns() - self->began_ns >= run_timeout_ms(self->worker->of) * 1000000;
    /* These are granted though a member or a part has not answered. */
    bool stands_in = kind_of(self) == RED || kind_of(self) == SHARDED;
    self->worker->of->doubts |= status != RLOCK_OK || repeated || stands_in;
    snprintf(self->message, sizeof self->message, "%s", error);
    timeline(thread_title(self->worker->thread), "  %s → %s%s%s", step_word(self->step->kind), rlock_strstatus(status),
             status == RLOCK_OK ? "" : ": ", status == RLOCK_OK ? "" : self->message);
}

void call_end(call *self, rlock_status status)
{
    call_end_with(self, status, rlock_last_error());
}

/* For how long nobody has processed completions during the call. */
static int64_t unprocessed_ns(const call *self)
{
    return loop_forgotten_ns(self->worker->of) - self->forgotten_ns;
}

int64_t call_took_ns(const call *self)
{
    return world_now_ns() - self->began_ns - (self->worker->of->machine->stood_still_ns - self->stopped_ns) -
           (self->is_async ? unprocessed_ns(self) : 0);
}

/* The requests of a call whose completion nobody processes leave late, with a renewal, and so it may end unanswered. So
 * may another call of the same owner, which has to wait for it. */
static bool may_fail_unprocessed(const call *self)
{
    return unprocessed_ns(self) >= run_timeout_ms(self->worker->of) * 1000000;
}

/* It took as long as one request may. Clocks count whole ms, and may be 1 % faster. */
static bool has_used_its_time(const call *self)
{
    int64_t timeout_ms = run_timeout_ms(self->worker->of);
    return call_took_ns(self) > (timeout_ms - timeout_ms / 100 - 1) * 1000000;
}

/* A client that was opened lazily may need more round trips to find its servers than a call has time. */
static bool may_find_no_server(const call *self)
{
    return strstr(self->message, "no server has been found yet") && has_used_its_time(self);
}

/* An unlock of a lock of several waits for each member as long as for one request, the turn of its owner included. Where
 * threads share an owner, the requests of others may use that up. */
static bool may_wait_for_its_owner(const call *self)
{
    bool of_several = object_is_composite(kind_of(self)) || kind_of(self) == SHARDED;
    return of_several && self->step->kind == UNLOCK && self->step->owner > 0 && has_used_its_time(self);
}

/* In a cluster, a read hold whose own keys others have deleted looks as if the cluster moved its slot. */
static bool may_seem_to_move(const call *self)
{
    return run_of->topology == CLUSTER && strstr(self->message, "the cluster moves its slot") && run_has_fault(HELPERS_DELETED);
}

/* By then a client has found its servers again, whatever went wrong before. */
#define FOUND_AGAIN_NS INT64_C(20000000000)

static bool fails_though_all_is_well(const call *self)
{
    int64_t since_ns = run_well_since_ns();
    return since_ns < WORLD_NEVER && self->began_ns > since_ns + FOUND_AGAIN_NS && !may_seem_to_move(self) &&
           (self->status == RLOCK_UNAVAILABLE || self->status == RLOCK_SERVER);
}

/* An attempt follows five redirects, and each move of a slot may make two. */
static bool may_be_led_astray(const call *self)
{
    int moves = 0;
    for (int i = 0; i < run_of->fault_count; i++)
        moves += run_of->faults[i].kind == SLOT_MOVES;
    return moves > 2 && strstr(run_of->clients[self->worker->of->index].options, "retryAttempts=0");
}

/* Promises that hold for every call. */
static void judge_any(const call *self)
{
    if (self->hold) {
        self->hold->calls--;
        self->hold->unlocks -= self->step->kind == UNLOCK;
    }
    rlock_status status = self->status;
    if (status == RLOCK_CLOSED && !self->worker->of->closed)
        finding("%s answered that the client was closed, and it was not", self->title);
    if (status == RLOCK_FORKED || status == RLOCK_INVALID || status == RLOCK_UNSUPPORTED)
        finding("%s answered %s: %s", self->title, rlock_strstatus(status), self->message);
    if (status == RLOCK_CANCELLED && !self->cancelled)
        finding("%s answered that it was cancelled, and it was not", self->title);
    bool failed = status == RLOCK_UNAVAILABLE || status == RLOCK_UNKNOWN || status == RLOCK_SERVER ||
                  status == RLOCK_NO_MEMORY || status == RLOCK_NOT_SYNCED;
    if (failed && run_is_calm() && !may_fail_unprocessed(self) && !may_find_no_server(self) &&
        !may_wait_for_its_owner(self))
        finding("%s answered %s though nothing is wrong: %s", self->title, rlock_strstatus(status), self->message);
    if (fails_though_all_is_well(self) && !may_fail_unprocessed(self) && !may_wait_for_its_owner(self))
        finding("%s answered %s though nothing is wrong any more: %s", self->title, rlock_strstatus(status),
                self->message);
    bool led_astray = strstr(self->message, "MOVED ") || strstr(self->message, "ASK ");
    if (failed && led_astray && run_only_moves() && !may_be_led_astray(self))
        finding("%s was not led to where its slot is: %s", self->title, self->message);
    if (status != RLOCK_OK && !*self->message)
        finding("%s answered %s and said nothing of why", self->title, rlock_strstatus(status));
}

/* A multi lock ends its wait when the lease is too short, again and again, to take all members in. */
static bool may_be_in_vain(const call *self)
{
    return object_is_composite(kind_of(self));
}

/* How long the other calls of its owner may have the turn before it, each for its whole time. */
static int64_t turns_before_ms(const call *self)
{
    int64_t others = 0;
    for (int i = 0; i < run_of->thread_count; i++) {
        const plan_thread *one = &run_of->threads[i];
        for (int k = 0; k < one->step_count && one->client == self->worker->of->index; k++)
            others += one->steps[k].owner == self->step->owner;
    }
    return self->step->owner > 0 ? others * run_timeout_ms(self->worker->of) : 0;
}

static void judge_time(const call *self)
{
    int64_t took_ms = call_took_ns(self) / 1000000, wait_ms = self->step->wait_ms;
    int64_t passed_ms = (world_now_ns() - self->began_ns) / 1000000;
    if (self->status == RLOCK_TIMEOUT && wait_ms > 0 && !may_be_in_vain(self) &&
        passed_ms < wait_ms - wait_ms / 50 - 2) /* clocks may differ by 1 % */
        finding("%s answered that its time was up after %" PRId64 " ms", self->title, passed_ms);
    int64_t since_ms = (world_now_ns() - self->cancelled_ns) / 1000000 - (passed_ms - took_ms);
    if (self->cancelled && since_ms > run_patience_ms(self->worker->of) + SLACK_MS)
        finding("%s went on for %" PRId64 " ms after its token was fired", self->title, since_ms);
    int64_t most_ms = wait_ms + wait_ms / 50 + run_patience_ms(self->worker->of) + SLACK_MS + turns_before_ms(self);
    if (wait_ms >= 0 && took_ms > most_ms)
        finding("%s took %" PRId64 " ms, of at most %" PRId64, self->title, took_ms, most_ms);
}

/* A red lock is not valid for the last 2 ms of its members, and what lengthens these then makes it valid again. By 4 ms
 * later they have ended. */
#define FAINT_NS INT64_C(4000000)

static bool is_faint(hold *held, validity by)
{
    if (by.ms > 0 || run_of->objects[held->resource].kind != RED)
        held->faint_ns = 0;
    else if (held->faint_ns == 0)
        held->faint_ns = world_now_ns();
    return held->faint_ns > 0 && world_now_ns() - held->faint_ns < FAINT_NS;
}

/* The answer may have been so late that hardly anything was left of the lease. */
static bool is_just_granted(const hold *held)
{
    return world_now_ns() - held->granted_ns < run_watchdog_ms(run_process(held->owner.client)) * 500000;
}

/* The keys of a read hold go to the new node of their slot one by one, and no script finds all of them until the last has
 * gone. Its lease may end before. */
static bool is_torn_apart(const hold *held)
{
    bool slow = false;
    for (int i = 0; i < run_of->fault_count; i++)
        slow |= run_of->faults[i].kind == SLOT_MOVES &&
                run_of->faults[i].span_ms > run_watchdog_ms(run_process(held->owner.client)) / 2;
    return slow && (held->side == READ_SIDE || held->side == WRITE_SIDE);
}

void judge_validity(hold *held, validity by)
{
    if (by.ms > 0 && by.asked_ns <= held->dropped_ns) /* another thread of the owner has given it back since */
        return;
    if (by.ms == 0 && by.asked_ns < held->granted_ns) /* or has taken it */
        return;
    losses_valid(held, by);
    bool faint = is_faint(held, by);
    if (held->unsure || held->calls > 0 || members_has_others(held)) {
        ledger_claim(held, held->calls > 0 || members_are_called(held) ? (validity){.ms = 0} : by);
        return;
    }
    if (by.ms > 0 && held->count == 0)
        finding("%s may rely on a hold for %" PRId64 " ms, and has none", held->owner.title, by.ms);
    if (by.ms > 0 && held->lost_ns && by.asked_ns > held->lost_ns)
        finding("%s may rely on a hold again that it had lost", held->owner.title);
    if (by.ms == 0 && held->count > 0 && !held->lost_ns && held->renewed && held->lease_ms == 0 &&
        run_keeps_holds(held->owner.client) && !is_torn_apart(held) && held->epoch == ledger_epoch(held->resource) && !is_just_granted(held))
        finding("%s has lost its hold of \"%s\", which is renewed, and nothing has kept it from that",
                held->owner.title, run_of->objects[held->resource].name);
    if (by.ms == 0 && held->count > 0 && !held->lost_ns && !faint)
        held->lost_ns = world_now_ns();
    ledger_claim(held, by);
}

static void forget(hold *held)
{
    held->count = held->to_tell = 0;
    held->lost_ns = held->told_ns = held->lease_ms = 0;
    held->renewed = held->unsure = false;
    held->gone_ns = held->given_up_ns = 0;
    held->token = 0;
}

static void note_lease(const call *self)
{
    hold *held = self->hold;
    held->renewed |= self->step->lease_ms < 0;
    if (self->step->lease_ms > held->lease_ms)
        held->lease_ms = self->step->lease_ms;
}

/* Several threads act for one owner at a time, or its client forces the lock open: only that nobody else holds it is
 * checked. */
static bool judge_unsure(const call *self, validity by)
{
    hold *held = self->hold;
    held->unsure |= held->calls > 0;
    if (!held->unsure)
        return false;
    bool of_former = held->to_tell > 0 && (held->count == 0 || self->status == RLOCK_LOST);
    int *counted = of_former ? &held->to_tell : &held->count;
    if (self->gives_back) /* what was answered while it was under way does not count any more */
        ledger_drop(held);
    /* What an unlock gave back may be members that an acquire was just taking, which failed for that, and was not counted.
     * Nobody knows whether the hold that another acquire got meanwhile is among them: it counts until an unlock is denied. */
    bool mixed = object_is_composite(kind_of(self)) && held->gains != self->gains;
    if (self->gives_back && !mixed)
        *counted -= *counted > 0 && !self->not_begun && self->status != RLOCK_CLOSED && self->status != RLOCK_NOT_OWNER;
    else
        held->count += self->status == RLOCK_OK;
    bool denied = self->status == RLOCK_NOT_OWNER && held->gains == self->gains; /* nor has another call taken it since */
    bool none = (held->count + held->to_tell == 0 && !self->not_begun) || denied;
    if (held->calls == 0 && self->gives_back && none)
        forget(held);
    held->lost_ns = 0;
    if (self->status == RLOCK_OK && !self->gives_back) {
        held->granted_ns = self->ended_ns;
        held->gone_ns = 0;
        held->token = 0;
        if (held->count <= 1) /* else again: what took the outer one away has taken this one, too */
            held->epoch = ledger_inherited(held, self->epoch);
        note_lease(self);
    }
    ledger_claim(held, held->calls > 0 || members_are_called(held) ? (validity){.ms = 0} : by);
    return true;
}

/* --- acquiring --- */

static void gain(const call *self)
{
    hold *held = self->hold;
    if (held->count == 0) {
        held->epoch = ledger_inherited(held, self->epoch);
        held->gone_ns = 0;
    }
    if (held->told_ns >= held->gone_ns) /* the program knows that the former one is lost; it waited for a new one */
        held->gone_ns = 0;
    held->count++;
    held->token = 0;
    held->granted_ns = self->ended_ns;
    note_lease(self);
}

/* Nothing has taken it away, and its time is not over. The library counts whole milliseconds of its clock: what it answers
 * may be up to two more than there is until it calls the hold lost. */
static bool is_relied_on(const hold *held)
{
    return !held->lost_ns && held->claimed_until_ns > world_now_ns() + 2000000 && ledger_epoch(held->resource) == held->epoch;
}

/* By then it has looked at the servers again. */
#define LOOKS_NS INT64_C(6000000000)

/* It was granted when a replica had heard of it: of those that had long been there one at least. */
static void judge_confirmed(const call *self, validity by)
{
    const process *of = self->worker->of;
    const char *name = of->plan->objects[self->step->object].name;
    /* One that was handed over may have been taken away from who had it before. */
    bool gone = by.ms <= (world_now_ns() - by.asked_ns) / 1000000 + 2 || self->hold->epoch != ledger_epoch(self->hold->resource);
    /* A process that stood still has not looked since who follows its master. */
    if (of->machine->stopped_until_ns > 0 && self->began_ns < of->machine->stopped_until_ns + LOOKS_NS)
        return;
    if (memory_failures() > 0 && self->began_ns < memory_failed_ns() + LOOKS_NS) /* nor has one without memory */
        return;
    if (gone || object_is_composite(kind_of(self)) || kind_of(self) == SHARDED || strstr(of->plan->clients[of->index].options, "checkLockSyncedSlaves=false"))
        return;
    if (shards_lack(name, self->began_ns))
        finding("%s was granted, and no replica has heard of it", self->title);
}

/* A shorter lease may end while its thread stands still for a moment. */
#define SHORT_MS 50

/* A hold may be relied on that was granted within half its lease, unless somebody has taken it away. */
static void judge_relied_on(const call *self, validity by)
{
    const hold *held = self->hold;
    int64_t lease_ms = self->step->lease_ms < 0 ? run_watchdog_ms(self->worker->of) : self->step->lease_ms;
    bool late = lease_ms < SHORT_MS || world_now_ns() - self->began_ns > lease_ms * 500000;
    if (by.ms == 0 && !late && !members_has_others(held) && !is_torn_apart(held) && run_keeps_holds(held->owner.client) &&
        held->epoch == ledger_epoch(held->resource))
        finding("%s was granted, and its owner may not rely on it", self->title);
}

static void judge_gain(call *self, validity by)
{
    hold *held = self->hold;
    bool once = kind_of(self) == NON_REENTRANT || kind_of(self) == NON_REENTRANT_FAIR;
    judge_any(self);
    judge_time(self);
    held->gains += self->status == RLOCK_OK;
    /* Taken again with other members, each of which tells of its own losses: one hold's may be told with another's. */
    bool lost = held->lost_ns || held->claimed_until_ns <= world_now_ns();
    held->mixed |= self->status == RLOCK_OK && held->owed > 0 && lost && kind_of(self) == RED;
    held->owed += self->status == RLOCK_OK;
    if (self->status == RLOCK_OK && held->lost_ns && held->count > 0 && object_is_composite(kind_of(self)))
        held->unsure = true; /* its members may be held still: again, or anew? */
    if (self->status == RLOCK_OK && held->count == 0)
        order_check(self);
    if (self->status == RLOCK_OK)
        holders_check_row(self);
    masters_check(self);
    if (judge_unsure(self, by))
        return;
    switch (self->status) {
    case RLOCK_OK:
        if (once && held->count > 0 && is_relied_on(held))
            finding("%s: a non-reentrant lock was taken twice", self->title);
        holders_check_re_entry(self);
        if (once && held->count > 0 && !held->lost_ns)
            held->lost_ns = world_now_ns();
        if (held->lost_ns) /* its former hold; that it was lost, and not told yet, is still to be told */
            held->to_tell += held->count;
        if (held->lost_ns)
            held->count = 0, held->lost_ns = 0;
        held->unsure |= held->count > 0 && held->claimed_until_ns <= world_now_ns(); /* again, or anew? */
        gain(self);
        judge_relied_on(self, by);
        judge_validity(held, by);
        break;
    case RLOCK_TIMEOUT:
        if (self->step->wait_ms < 0 && !may_be_in_vain(self))
            finding("%s waits for ever, and its time was up", self->title);
        break;
    case RLOCK_ALREADY_HELD:
        if (!once || held->count == 0)
            finding("%s answered that it is held already, and it is not", self->title);
        break;
    case RLOCK_LOST:
        if (held->count == 0 && !parts_is_one(held->resource)) /* its owner may have it by the sharded lock */
            finding("%s answered that a hold was lost, and there was none", self->title);
        if (!held->lost_ns)
            held->lost_ns = world_now_ns();
        ledger_drop(held);
        break;
    case RLOCK_NOT_OWNER:
    case RLOCK_UNKNOWN:
        finding("%s answered %s", self->title, rlock_strstatus(self->status));
    default:
        break;
    }
}

void judge_acquire(call *self, validity by)
{
    judge_gain(self, by);
    if (self->status != RLOCK_OK)
        return;
    kept_from(self, by);
    judge_confirmed(self, by);
}

/* --- giving back --- */

/* Whether something may have taken it away that is not the library's doing. */
static bool may_be_lost(const call *self)
{
    const hold *held = self->hold;
    if (kind_of(self) == RED && !run_is_calm()) /* one member is lost, and of the others nobody answers */
        return true;
    int64_t passed_ms = (world_now_ns() - self->began_ns) / 1000000;
    bool two_nodes = known_slot_from(); /* while a slot moves, one of two nodes answers, and no client knows which had it */
    return held->lost_ns || ledger_epoch(held->resource) != held->epoch || ledger_is_new_to(self->began_ns) || two_nodes ||
           self->valid_before_ms <= passed_ms + passed_ms / 100 + 2; /* the client's clock may be 1 % faster */
}

/* Each hold is answered for by one unlock, whatever calls meet: that this owner holds nothing is so when all have been.
 * The unlock of a multi lock answers for the first member that failed, and gives the others back. */
static void judge_answered(const call *self)
{
    hold *held = self->hold;
    bool answers = !self->not_begun && self->status != RLOCK_CLOSED && self->status != RLOCK_NOT_OWNER;
    held->owed -= answers;
    bool denied = self->status == RLOCK_NOT_OWNER && held->calls == 0 && held->gains == self->gains;
    bool whole = !held->mixed && kind_of(self) != MULTI && !self->worker->of->closed; /* a close lets go of all holds */
    if (denied && held->owed > 0 && whole)
        finding("%s answered that this owner does not hold it; %d of its holds were never answered for", self->title,
                held->owed);
    if (denied)
        held->owed = 0, held->mixed = false;
}

void judge_unlock(call *self, validity by)
{
    hold *held = self->hold;
    self->gives_back = true;
    judge_any(self);
    judge_answered(self);
    if (judge_unsure(self, by))
        return;
    if (self->not_begun) {
        judge_validity(held, by);
        return;
    }
    switch (self->status) {
    case RLOCK_NOT_OWNER:
        if (held->count > 0 && !held->lost_ns && ledger_epoch(held->resource) == held->epoch)
            finding("%s answered that this owner does not hold it; it does, %d times", self->title, held->count);
        forget(held);
        break;
    case RLOCK_OK:
        if (held->count == 0)
            finding("%s gave back what this owner did not hold", self->title);
        if (held->lost_ns && self->valid_before_ms == 0 && !object_is_composite(kind_of(self))) /* its members tell */
            finding("%s answered that all is well; the hold was lost before", self->title);
        if (held->count == 1)
            holders_check_given_back(self);
        if (--held->count == 0)
            losses_given_back(held);
        break;
    case RLOCK_LOST:
        if (held->side == PART_SIDE && held->to_tell > 0 && held->count > 0 && !may_be_lost(self))
            finding("%s was of a part that was lost before, and not of the one that its owner holds", self->title);
        if (held->to_tell > 0 && (held->count == 0 || held->lost_ns == 0)) {
            held->to_tell--;
            return; /* of a former hold */
        }
        if (held->count == 0)
            finding("%s answered that a hold was lost, and there was none", self->title);
        if (!may_be_lost(self))
            finding("%s answered that the hold was lost; nothing has taken it away, and it was valid for %" PRId64
                    " ms when the call began", self->title, self->valid_before_ms);
        if (!held->lost_ns)
            held->lost_ns = world_now_ns();
        held->count--;
        break;
    case RLOCK_TIMEOUT:
    case RLOCK_CANCELLED:
    case RLOCK_ALREADY_HELD:
    case RLOCK_UNKNOWN:
    case RLOCK_NOT_SYNCED:
        finding("%s answered %s", self->title, rlock_strstatus(self->status));
    case RLOCK_CLOSED:
        return;
    case RLOCK_NO_MEMORY:
        holders_check_memory(self); /* fall through */
    default: /* given back, though the server may not know yet */
        if (held->count > 0)
            held->count--;
        break;
    }
    if (held->count == 0) {
        if (by.ms > 0)
            finding("%s: given back, and valid for %" PRId64 " ms", self->title, by.ms);
        int to_tell = held->to_tell;
        forget(held);
        held->to_tell = to_tell;
        ledger_drop(held);
    } else {
        judge_validity(held, by);
    }
}

/* An extension adds no hold and gives none back. */
void judge_extend(call *self, validity by)
{
    hold *held = self->hold;
    judge_any(self);
    if (self->status != RLOCK_NOT_OWNER && self->status != RLOCK_LOST) /* it may have run, whatever the call answered */
        note_lease(self);
    if (self->status == RLOCK_TIMEOUT || self->status == RLOCK_CANCELLED || self->status == RLOCK_UNKNOWN ||
        self->status == RLOCK_ALREADY_HELD || self->status == RLOCK_NOT_SYNCED)
        finding("%s answered %s", self->title, rlock_strstatus(self->status));
    if (held->unsure || held->calls > 0 || held->to_tell > 0) {
        judge_validity(held, by);
        return;
    }
    bool is_held = held->count > 0 && !held->lost_ns;
    if (self->status == RLOCK_OK && held->count == 0)
        finding("%s extended what this owner does not hold", self->title);
    if (self->status == RLOCK_NOT_OWNER && is_held && !may_be_lost(self))
        finding("%s answered that this owner does not hold it; it does, %d times", self->title, held->count);
    if (self->status == RLOCK_LOST && held->count == 0)
        finding("%s answered that a hold was lost, and there was none", self->title);
    /* A client that is closed meanwhile lets go of its holds. */
    if (self->status == RLOCK_LOST && !may_be_lost(self) && !self->worker->of->closed)
        finding("%s answered that the hold was lost; nothing has taken it away, and it was valid for %" PRId64
                " ms when the call began", self->title, self->valid_before_ms);
    if (self->status == RLOCK_LOST && by.ms > 0)
        finding("%s answered that the hold was lost, and it is valid for %" PRId64 " ms", self->title, by.ms);
    judge_validity(held, by);
}

void judge_question(call *self)
{
    judge_any(self);
    switch (self->status) {
    case RLOCK_TIMEOUT:
    case RLOCK_CANCELLED:
    case RLOCK_ALREADY_HELD:
    case RLOCK_UNKNOWN:
    case RLOCK_NOT_SYNCED:
        finding("%s answered %s", self->title, rlock_strstatus(self->status));
    default:
        break;
    }
}

void judge_force(call *self)
{
    judge_any(self);
    if (self->status == RLOCK_TIMEOUT || self->status == RLOCK_LOST || self->status == RLOCK_NOT_OWNER)
        finding("%s answered %s", self->title, rlock_strstatus(self->status));
    /* Its own holds are lost, or are not, when nobody knows whether it ran: the library gives them up. */
    if (self->status != RLOCK_OK)
        run_void(self->step->object, "the client that forced it open does not know whether it is");
    for (hold *held = ledger_first(); held; held = held->next) {
        if (held->resource == self->hold->resource && held->owner.client == self->worker->of->index)
            held->unsure |= held->count > 0;
    }
    bool gave_up = self->status == RLOCK_OK || self->status == RLOCK_UNKNOWN;
    for (hold *held = ledger_first(); held && gave_up; held = held->next) {
        if (held->resource == self->hold->resource && held->owner.client == self->worker->of->index &&
            held->side == EXCLUSIVE_SIDE && held->count > 0 && held->calls == 0 && held->granted_ns < self->began_ns)
            held->given_up_ns = world_now_ns();
    }
}

void judge_object(call *self)
{
    judge_any(self);
    judge_time(self);
    if (self->status == RLOCK_LOST || self->status == RLOCK_NOT_OWNER || self->status == RLOCK_ALREADY_HELD)
        finding("%s answered %s", self->title, rlock_strstatus(self->status));
}

/* --- tokens --- */

static struct {
    unsigned epoch;
    uint64_t highest; /* of all that were given by calls that had returned */
    int64_t at_ns;
} given[16];

/* A hold that began after another was granted has a greater token. */
void judge_token_given(int resource, unsigned epoch, int64_t began_ns, uint64_t token, const char *what)
{
    if (epoch != ledger_epoch(resource)) /* what it was counted from may have been deleted since */
        return;
    if (given[resource].epoch != ledger_epoch(resource)) {
        given[resource].epoch = ledger_epoch(resource);
        given[resource].highest = 0;
    }
    if (token <= given[resource].highest && began_ns > given[resource].at_ns)
        finding("%s has token %" PRIu64 ", and %" PRIu64 " was given before", what, token, given[resource].highest);
    if (token > given[resource].highest) {
        given[resource].highest = token;
        given[resource].at_ns = world_now_ns();
    }
}

/* Where a hold may be relied on, all that were granted before have ended: its token is the greatest, though its call may
 * have begun before theirs. */
void judge_token(call *self, uint64_t token)
{
    const hold *held = self->hold;
    bool stands = !held->unsure && held->calls == 0 && held->count == 1 && is_relied_on(held);
    self->hold->token = token;
    judge_token_given(held->resource, self->epoch, stands ? world_now_ns() : self->began_ns, token, self->title);
}

void judge_own_token(call *self, uint64_t token, validity by)
{
    const hold *held = self->hold;
    if (held->unsure || held->calls > 0 || held->count == 0 || held->lost_ns || !run_is_of_one_kind(held->resource))
        return;
    if (self->status == RLOCK_NOT_OWNER && by.ms > 0)
        finding("%s answered that it holds nothing; it is valid for %" PRId64 " ms", self->title, by.ms);
    if (self->status == RLOCK_OK && held->token && token != held->token)
        finding("%s has token %" PRIu64 "; its acquire said %" PRIu64, self->title, token, held->token);
}
