/* A party: one owner of one lock, a thread of C or of Java, so that a claim about two of them is
 * written once and holds in both directions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/party.h"

#include "tests/interop/support/asleep.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTIES 64
#define SHORT_CALL_MS 20000

struct party {
    const lock_kind *kind;
    char *name;
    rlock_client *client; /* NULL: of Java */
    rlock *lock;
    actor *actor;
    bool guest; /* the actor is another party's */
    char thread[16];
    int tag;         /* Java's call under way */
    bool unlocks;    /* which is an unlock */
    int64_t scripts; /* scripts_ended() when it was begun */
    int64_t began_ms, ended_ms;
};

static party parties[PARTIES];
static int count;

static party *add(party made, const lock_kind *kind, const char *name)
{
    cr_assert(count < PARTIES, "too many parties");
    made.kind = kind;
    made.name = strdup(name);
    made.lock = made.client ? kind->get(made.client, name) : NULL;
    cr_assert(made.lock || !made.client, "no handle: %s", rlock_last_error());
    parties[count] = made;
    return &parties[count++];
}

party *party_of(rlock_client *client, const lock_kind *kind, const char *name)
{
    party made = {.client = client, .actor = client ? actor_start() : NULL};
    snprintf(made.thread, sizeof made.thread, "party%d", count);
    return add(made, kind, name);
}

party *party_also(const party *owner, const lock_kind *kind, const char *name)
{
    party made = *owner;
    made.guest = true;
    return add(made, kind, name);
}

/* After the clients, whose end ends the calls that a failed test left waiting. */
void party_stage_close(void)
{
    java_stage_close();
    for (; count; count--) {
        party *self = &parties[count - 1];
        if (self->actor && !self->guest)
            actor_end(self->actor);
        rlock_free(self->lock);
        free(self->name);
    }
}

bool party_is_java(const party *self)
{
    return !self->client;
}

const lock_kind *party_kind(const party *self)
{
    return self->kind;
}

static void begin_in_java(party *self, const char *operation, const char *first, const char *second)
{
    self->tag = BEGIN(java, self->thread, self->kind->java, self->name, operation, first, second);
}

static const char *number(char text[static 24], int64_t value)
{
    snprintf(text, 24, "%lld", (long long)value);
    return text;
}

void party_begin_lock(party *self)
{
    self->scripts = scripts_ended();
    if (self->actor)
        actor_begin_lock(self->actor, self->lock);
    else
        begin_in_java(self, "lock", NULL, NULL);
}

void party_begin_lease(party *self, int64_t lease_ms)
{
    char lease[24];
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.lease_ms = lease_ms;
    self->scripts = scripts_ended();
    if (self->actor)
        actor_begin_with(self->actor, self->lock, &options);
    else
        begin_in_java(self, "lease", number(lease, lease_ms), NULL);
}

void party_begin_try(party *self, int64_t wait_ms, int64_t lease_ms)
{
    char wait[24], lease[24];
    self->scripts = scripts_ended();
    if (self->actor)
        actor_begin_try(self->actor, self->lock, wait_ms, lease_ms);
    else
        begin_in_java(self, "try", number(wait, wait_ms), number(lease, lease_ms));
}

static void begin_unlock(party *self)
{
    self->unlocks = true;
    begin_in_java(self, "unlock", NULL, NULL);
}

void party_await_waiting(party *self)
{
    if (self->actor)
        await_asleep(self->actor, self->scripts, !self->kind->spins);
    else
        java_await_asleep(self->thread);
    cr_assert(!party_ended(self, 0), "it does not wait");
}

bool party_ended(party *self, int64_t ms)
{
    return self->actor ? actor_ended(self->actor, ms) : agent_answered(java, self->tag, ms);
}

static rlock_status status_of(const answer *got, bool unlocks)
{
    if (got->threw) {
        assert_thrown(got, "IllegalMonitorStateException");
        return unlocks ? RLOCK_NOT_OWNER : RLOCK_ALREADY_HELD;
    }
    return strcmp(got->text, "false") == 0 ? RLOCK_TIMEOUT : RLOCK_OK;
}

rlock_status party_finish(party *self, int64_t ms)
{
    if (self->actor) {
        rlock_status status = actor_finish(self->actor, ms);
        self->ended_ms = actor_ended_at(self->actor);
        self->began_ms = self->ended_ms - actor_took(self->actor);
        return status;
    }
    const answer *got = agent_await(java, self->tag, ms);
    bool unlocks = self->unlocks;
    self->unlocks = false;
    self->began_ms = got->began_ns / 1000000;
    self->ended_ms = got->ended_ns / 1000000;
    wait_no_latches(); /* a try that failed may have released members, too */
    return status_of(got, unlocks);
}

int64_t party_ended_at(const party *self)
{
    return self->ended_ms;
}

int64_t party_took(const party *self)
{
    return self->ended_ms - self->began_ms;
}

rlock_status party_lock(party *self)
{
    party_begin_lock(self);
    return party_finish(self, SHORT_CALL_MS);
}

rlock_status party_lease(party *self, int64_t lease_ms)
{
    party_begin_lease(self, lease_ms);
    return party_finish(self, SHORT_CALL_MS);
}

rlock_status party_try(party *self, int64_t wait_ms, int64_t lease_ms)
{
    party_begin_try(self, wait_ms, lease_ms);
    return party_finish(self, SHORT_CALL_MS + (wait_ms > 0 ? wait_ms : 0));
}

rlock_status party_unlock(party *self)
{
    if (self->actor)
        return actor_unlock(self->actor, self->lock);
    begin_unlock(self);
    return party_finish(self, SHORT_CALL_MS);
}

void assert_unlock_tells_of_loss(party *self)
{
    assert_status(party_unlock(self), self->actor ? RLOCK_LOST : RLOCK_NOT_OWNER);
}

static const answer *ask_java(party *self, const char *operation)
{
    const answer *got = ASK(java, self->thread, self->kind->java, self->name, operation);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

bool party_force(party *self)
{
    bool was_locked = false;
    if (!self->lock)
        was_locked = strcmp(ask_java(self, "force")->text, "true") == 0;
    else
        assert_ok(rlock_force_unlock(self->lock, &was_locked));
    return was_locked;
}

bool party_is_locked(party *self)
{
    bool locked = false;
    if (!self->lock)
        locked = strcmp(ask_java(self, "isLocked")->text, "true") == 0;
    else
        assert_ok(rlock_is_locked(self->lock, &locked));
    return locked;
}

bool party_holds(party *self)
{
    return self->actor ? actor_holds(self->actor, self->lock) : strcmp(ask_java(self, "isHeld")->text, "true") == 0;
}

int party_count(party *self)
{
    return self->actor ? actor_hold_count(self->actor, self->lock) : atoi(ask_java(self, "holdCount")->text);
}
