/* The library's async calls as a contestant: one thread that keeps several locks of its own under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/claims.h"
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/trouble.h"

#include <poll.h>
#include <rlock/rlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1000

typedef struct job {
    struct fleet *of;
    rlock *lock;
    bench_claim *claim;
    uint64_t id;
} job;

/* What the one thread has under way. */
typedef struct fleet {
    int count;
    long ended, counted; /* pairs */
    bool failed;
    job jobs[];
} fleet;

static rlock_client *client;

static bool open_client(const char *url)
{
    char named[640];
    snprintf(named, sizeof named, "%s%cclientName=rlock_async-%d", url, strchr(url, '?') ? '&' : '?', (int)getpid());
    return rlock_client_open(&client, named) == RLOCK_OK || trouble("%s", rlock_last_error());
}

static void close_client(void)
{
    rlock_client_close(client);
}

/* --- one job: it locks and unlocks again and again --- */

static void fail(const job *self, const char *why)
{
    self->of->failed = true;
    trouble("%s", why);
}

static void begin(job *self);

static void on_unlocked(const rlock_result *result, void *arg)
{
    job *self = arg;
    if (result->status == RLOCK_CLOSED)
        return;
    self->of->ended++;
    if (result->status == RLOCK_OK)
        begin(self);
    else
        fail(self, result->error);
}

static void on_locked(const rlock_result *result, void *arg)
{
    job *self = arg;
    if (result->status == RLOCK_CLOSED)
        return;
    bool alone = result->status == RLOCK_OK && claims_enter(self->claim, self->id);
    if (result->status != RLOCK_OK)
        fail(self, result->error);
    else if (!claims_leave(self->claim, self->id) || !alone)
        fail(self, "two held one lock");
    else if (rlock_unlock_async(self->lock, NULL, on_unlocked, self) != RLOCK_OK)
        fail(self, rlock_last_error());
}

static void begin(job *self)
{
    if (rlock_lock_async(self->lock, NULL, on_locked, self) != RLOCK_OK)
        fail(self, rlock_last_error());
}

/* --- the thread --- */

static bool prepare(job *self, const char *name, int index)
{
    char own[96];
    snprintf(own, sizeof own, "%s:%d", name, index);
    rlock *lock = rlock_get_lock(client, own);
    *self = (job){.lock = lock ? rlock_for_owner(lock, index) : NULL, .claim = claims_of(own), .id = claims_id(index)};
    rlock_free(lock);
    return self->lock || trouble("%s", rlock_last_error());
}

static void leave(void *own)
{
    fleet *all = own;
    for (int i = 0; i < all->count; i++)
        rlock_free(all->jobs[i].lock); /* what is under way ends with the client, so `all` stays */
}

/* `kind`: lock+N, for N locks under way. */
static void *join(const char *kind, const char *name)
{
    int count = 0;
    if (sscanf(kind, "lock+%d", &count) != 1 || count < 1 || count > MOST) {
        trouble("not a kind: %s", kind);
        return NULL;
    }
    fleet *all = calloc(1, sizeof *all + (size_t)count * sizeof *all->jobs);
    if (!all) {
        trouble("out of memory");
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (!prepare(&all->jobs[i], name, i))
            return NULL;
        all->jobs[i].of = all;
        all->count = i + 1;
    }
    for (int i = 0; i < count; i++)
        begin(&all->jobs[i]);
    return all;
}

/* Until one more pair has ended; one call of rlock_client_process may end several. */
static bool take(void *own)
{
    fleet *all = own;
    struct pollfd ready = {.fd = rlock_client_fd(client), .events = POLLIN};
    while (all->ended == all->counted && !all->failed) {
        if (poll(&ready, 1, 10000) < 1)
            return trouble("nothing ended within 10 s");
        if (rlock_client_process(client) != RLOCK_OK)
            return trouble("%s", rlock_last_error());
    }
    all->counted++;
    return !all->failed;
}

static bool give(void *own)
{
    (void)own; /* each job gives its lock back by itself */
    return true;
}

int main(void)
{
    static const bench_player player = {open_client, join, take, give, leave, close_client};
    return player_run(&player);
}
