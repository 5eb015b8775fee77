/* Players: threads that call every operation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/players.h"

#include "tests/hostile/support/calls.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 8 };

typedef struct player {
    players *of;
    pthread_t thread;
    caller caller;
    pthread_mutex_t cancelling;         /* guards caller.cancel from being freed */
    bool cancelled;
    _Atomic(const call *) under_way;    /* NULL: none */
    _Atomic int64_t since_ms;
    _Atomic(const char *) wrong;
} player;

struct players {
    player all[PLAYERS];
    handles handles;
    atomic_bool stop, stay;
    atomic_long calls, successes;
    event ended;
    char complaint[256];
};

/* A token ends all waits that carry it, so each call that may be cancelled has one that was not fired. */
static void renew_token(player *self)
{
    pthread_mutex_lock(&self->cancelling);
    if (self->cancelled || !self->caller.cancel) {
        rlock_cancel_free(self->caller.cancel);
        self->caller.cancel = rlock_cancel_new();
        self->cancelled = false;
    }
    pthread_mutex_unlock(&self->cancelling);
}

static void *play(void *argument)
{
    player *self = argument;
    players *of = self->of;
    while (!atomic_load(&of->stop)) {
        const call *chosen = calls_choose(&self->caller.dice, atomic_load(&of->stay));
        renew_token(self);
        atomic_store(&self->since_ms, now_ms());
        atomic_store(&self->under_way, chosen);
        rlock_status status = calls_run(chosen, &self->caller);
        atomic_store(&self->under_way, NULL);
        atomic_store(&self->wrong, self->caller.wrong);
        atomic_fetch_add(&of->calls, 1);
        atomic_fetch_add(&of->successes, status == RLOCK_OK);
    }
    event_set(&of->ended);
    return NULL;
}

players *players_start(rlock_client *client, uint64_t seed)
{
    players *self = calloc(1, sizeof *self);
    if (!self || !handles_make(&self->handles, client)) {
        if (self)
            handles_free(&self->handles);
        free(self);
        return NULL;
    }
    event_init(&self->ended);
    for (int i = 0; i < PLAYERS; i++) {
        player *one = &self->all[i];
        one->of = self;
        pthread_mutex_init(&one->cancelling, NULL);
        one->caller = (caller){.with = &self->handles, .dice = dice_seeded(seed + (uint64_t)i)};
        for (int p = 0; p < CALLS_PERMITS; p++)
            memset(one->caller.permits[p].id, '0', sizeof one->caller.permits[p].id - 1);
        if (pthread_create(&one->thread, NULL, play, one) != 0)
            abort();
    }
    return self;
}

static bool is_late(player *one, int64_t ms)
{
    const call *under_way = atomic_load(&one->under_way);
    /* Looked at again: it may have ended, and another begun, in between. */
    return under_way && now_ms() - atomic_load(&one->since_ms) > ms && atomic_load(&one->under_way) == under_way;
}

void players_cancel(players *self, int64_t ms)
{
    for (int i = 0; i < PLAYERS; i++) {
        player *one = &self->all[i];
        pthread_mutex_lock(&one->cancelling);
        if (one->caller.cancel && is_late(one, ms)) {
            rlock_cancel_fire(one->caller.cancel);
            one->cancelled = true;
        }
        pthread_mutex_unlock(&one->cancelling);
    }
}

void players_let_stay(players *self)
{
    atomic_store(&self->stay, true);
}

static bool complain(players *self, const char *what, const char *where)
{
    snprintf(self->complaint, sizeof self->complaint, "%s: %s", where, what);
    return true;
}

static bool is_wrong(players *self, player *one, int64_t ms)
{
    const call *under_way = atomic_load(&one->under_way);
    const char *wrong = atomic_load(&one->wrong);
    if (wrong)
        return complain(self, wrong, "a call");
    if (!under_way || (under_way->endless && !atomic_load(&self->stop)))
        return false;
    return is_late(one, ms) && complain(self, "it does not return", under_way->name);
}

const char *players_complaint(players *self, int64_t ms)
{
    for (int i = 0; i < PLAYERS; i++) {
        if (is_wrong(self, &self->all[i], ms))
            return self->complaint;
    }
    return NULL;
}

long players_calls(const players *self)
{
    return atomic_load(&self->calls);
}

long players_successes(const players *self)
{
    return atomic_load(&self->successes);
}

void players_stop(players *self)
{
    atomic_store(&self->stop, true);
}

bool players_end(players *self, int64_t ms)
{
    if (!event_wait_count(&self->ended, PLAYERS, ms))
        return false;
    for (int i = 0; i < PLAYERS; i++) {
        pthread_join(self->all[i].thread, NULL);
        rlock_cancel_free(self->all[i].caller.cancel);
        pthread_mutex_destroy(&self->all[i].cancelling);
    }
    handles_free(&self->handles);
    event_destroy(&self->ended);
    free(self);
    return true;
}
