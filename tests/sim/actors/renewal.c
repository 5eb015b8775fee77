/* Renewal: how long an actor may rely on what it holds, and its watchdog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/actor.h"

#include "tests/sim/actors/scripts.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

#define MS INT64_C(1000000)
#define WORD(text) (word){text, strlen(text)}

static side side_of(object_kind kind)
{
    return kind == READ ? READ_SIDE : kind == WRITE ? WRITE_SIDE : EXCLUSIVE_SIDE;
}

hold *actor_entry(actor *self, int object, int owner_number)
{
    owner own = {.client = actor_client(self), .number = owner_number ? -owner_number : self->index};
    if (owner_number)
        snprintf(own.title, sizeof own.title, "%s/thread %d", self->machine->name, owner_number);
    else
        snprintf(own.title, sizeof own.title, "%s", thread_title(self->thread));
    return ledger_hold(run_resource(run_of, object), side_of(run_of->objects[object].kind), &own);
}

java_hold *actor_hold(actor *self, int object, int owner_number)
{
    hold *entry = actor_entry(self, object, owner_number);
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        java_hold *one = &self->holds[i];
        if (one->entry == entry)
            return one;
        if (!one->entry) {
            *one = (java_hold){.actor = self, .entry = entry, .object = object, .owner = owner_number, .kind = run_of->objects[object].kind};
            return one;
        }
    }
    finding("%s has too many holds for the simulation", self->machine->name);
}

void actor_owner(const actor *self, int owner_number, char text[static 64])
{
    snprintf(text, 64, "%s:%d", self->id, 1 + self->index + 100 * owner_number);
}

/* Clocks may differ by 1 %, which an actor allows for; its own is a part of that. */
int64_t actor_until_ns(const actor *self, int64_t sent_ns, int64_t lease_ms)
{
    (void)self;
    int64_t relied_ms = lease_ms - lease_ms / 50 - 2;
    if (relied_ms > WORLD_NEVER / 4 / MS)
        return WORLD_NEVER / 4;
    return sent_ns + (relied_ms > 0 ? relied_ms * MS : 0);
}

/* A renewal sets the time to live, and so may shorten it; not that of reads and writes, see the scripts. */
static bool renewal_shortens(const java_hold *of)
{
    return of->kind != READ && of->kind != WRITE;
}

/* Those under way, too: what was sent before may be answered first. */
static int64_t renewals_leave_ns(const java_hold *of, int64_t until_ns)
{
    const actor *self = of->actor;
    for (int i = 0; i < self->count && renewal_shortens(of); i++) {
        const pending *one = &self->awaited[(self->first + i) % 64];
        int64_t own_ns = actor_until_ns(self, one->sent_ns, self->watchdog_ms);
        if (one->renews == of && own_ns < until_ns)
            until_ns = own_ns;
    }
    return until_ns;
}

int64_t hold_until_ns(const java_hold *of, int64_t sent_ns, int64_t lease_ms)
{
    const actor *self = of->actor;
    int64_t until_ns = actor_until_ns(self, sent_ns, lease_ms);
    if (of->renewal_sent_ns <= sent_ns || !renewal_shortens(of))
        return until_ns;
    /* Which of the two the server ran last is not known. */
    int64_t renewed_ns = actor_until_ns(self, of->renewal_sent_ns, self->watchdog_ms);
    return renewed_ns < until_ns ? renewed_ns : until_ns;
}

void renewals_unheard(actor *self)
{
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        java_hold *one = &self->holds[i];
        for (int k = 0; k < one->count && k < ACTOR_LEVELS; k++)
            one->until_ns[k] = renewals_leave_ns(one, one->until_ns[k]);
    }
    for (int i = 0; i < self->count; i++) { /* the server may still run them */
        const pending *of = &self->awaited[(self->first + i) % 64];
        if (of->renews)
            of->renews->renewal_sent_ns = of->sent_ns;
    }
}

void hold_tell(java_hold *of)
{
    int64_t until_ns = 0;
    for (int i = 0; i < of->count && i < ACTOR_LEVELS; i++)
        until_ns = of->until_ns[i] > until_ns ? of->until_ns[i] : until_ns;
    if (of->capped && of->cap_ns < until_ns)
        until_ns = of->cap_ns;
    until_ns = renewals_leave_ns(of, until_ns);
    of->entry->count = of->count;
    of->entry->renewed = of->renewed;
    of->entry->lease_ms = of->lease_ms;
    ledger_claim_until(of->entry, until_ns);
}

void hold_drop(java_hold *of)
{
    of->count = 0;
    of->renewed = false;
    of->entry->count = 0;
    ledger_drop(of->entry);
}

bool hold_is_sure(const java_hold *of, unsigned epoch, int64_t sent_ns)
{
    int resource = of->entry->resource;
    return of->count > 0 && of->entry->claimed_until_ns > world_now_ns() && of->entry->epoch == ledger_epoch(resource) &&
           epoch == of->entry->epoch && ledger_restart_ns() < sent_ns && !run_has_odd_field(resource);
}

/* --- the watchdog --- */

int64_t renewal_due_ns(const actor *self)
{
    int64_t due_ns = WORLD_NEVER;
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        const java_hold *one = &self->holds[i];
        if (one->count > 0 && one->renewed && one->renew_at_ns < due_ns)
            due_ns = one->renew_at_ns;
    }
    return due_ns;
}

static void renew(actor *self, java_hold *one)
{
    char who[64], lease[24], base[40];
    const char *name = actor_name_of(self, one->object);
    const char *text = script_text(one->kind == READ ? READ_RENEW : one->kind == WRITE ? WRITE_RENEW
                                   : one->kind == TOKEN_LOCK || one->kind == SIGNAL_LOCK ? TOKEN_RENEW : LOCK_RENEW);
    actor_owner(self, one->owner, who);
    snprintf(lease, sizeof lease, "%" PRId64, self->watchdog_ms);
    snprintf(base, sizeof base, "{%s}:", name);
    const word words[] = {WORD("EVAL"), WORD(text), WORD("1"), WORD(name), WORD(who), WORD(lease), WORD(""), WORD(base)};
    one->renew_at_ns = world_now_ns() + self->watchdog_ms * MS / 3;
    if (self->count == 64)
        return;
    self->awaited[(self->first + self->count++) % 64] =
        (pending){.renews = one, .sent_ns = world_now_ns(), .epoch = ledger_epoch(one->entry->resource)};
    hold_tell(one);
    wire_say(&self->commands, words, 8); /* that it is broken is seen by hearing */
}

void renewal_ask(actor *self)
{
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        java_hold *one = &self->holds[i];
        if (one->count > 0 && one->renewed && one->renew_at_ns <= world_now_ns())
            renew(self, one);
    }
}

void renewal_answered(actor *self, const pending *of, const reply *answer)
{
    java_hold *one = of->renews;
    if (one->count == 0 || answer->self.kind != REPLY_INTEGER)
        return;
    timeline(thread_title(self->thread), "renewal of %s → %" PRId64, actor_name_of(self, one->object), answer->self.number);
    if (answer->self.number == 0) {
        if (hold_is_sure(one, of->epoch, of->sent_ns))
            finding("%s finds its hold of \"%s\" gone, which it could rely on", thread_title(self->thread),
                    actor_name_of(self, one->object));
        hold_drop(one);
        return;
    }
    int64_t until_ns = actor_until_ns(self, of->sent_ns, self->watchdog_ms);
    one->renewal_sent_ns = of->sent_ns;
    if (one->kind == READ && of->sent_ns <= one->limited_ns)
        return; /* it ran before what shortened the hold */
    for (int i = 0; i < ACTOR_LEVELS; i++) {
        bool gone = one->kind == READ && one->until_ns[i] <= world_now_ns(); /* its own key, which is not made again */
        if (!gone && (one->until_ns[i] < until_ns || renewal_shortens(one)))
            one->until_ns[i] = until_ns;
    }
    hold_tell(one);
}
