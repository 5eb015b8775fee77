/* Games: what many threads of C and of Java do with one object at once, on one board; Games.java
 * plays the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/support/games.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define THREADS_MAX 64
#define LEASE_MS 30000

/* Under the lock. A lock without tokens has none to be checked. */
static bool count_up(const player *self, rlock *lock)
{
    uint64_t token = 0;
    if (rlock_get_token(lock, &token) == RLOCK_OK) {
        if ((uint64_t)atomic_load(&self->board->token) >= token)
            board_accuse(self->board);
        atomic_store(&self->board->token, (long long)token);
    }
    return board_count_up(self->board, self->game->total, self->side);
}

rlock_status play_turns(player *self)
{
    rlock *lock = self->game->kind->get(self->client, self->game->name);
    rlock_status status = lock ? RLOCK_OK : RLOCK_INVALID;
    for (bool more = true; more && status == RLOCK_OK;) {
        if ((status = rlock_lock(lock)) != RLOCK_OK)
            break;
        more = count_up(self, lock);
        self->turns += more;
        status = rlock_unlock(lock);
    }
    rlock_free(lock);
    return status;
}

static rlock_status write_once(player *self, rlock *lock, bool *more)
{
    rlock_status status = rlock_lock(lock);
    if (status != RLOCK_OK)
        return status;
    if ((*more = board_count_up(self->board, self->game->total, self->side))) {
        sched_yield();
        atomic_store(&self->board->mirror, atomic_load(&self->board->counter));
        self->turns++;
    }
    return rlock_unlock(lock);
}

static rlock_status read_once(player *self, rlock *lock)
{
    rlock_status status = rlock_lock(lock);
    if (status != RLOCK_OK)
        return status;
    long long before = atomic_load(&self->board->counter);
    board_enter(self->board, self->game->limit);
    if (atomic_load(&self->board->mirror) != before)
        board_accuse(self->board);
    board_leave(self->board);
    return rlock_unlock(lock);
}

rlock_status play_readers(player *self)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(self->client, self->game->name);
    rlock *read = rlock_read_lock(pair), *write = rlock_write_lock(pair);
    rlock_status status = RLOCK_OK;
    bool more = true;
    for (int round = 1; more && status == RLOCK_OK; round++)
        status = round % 4 ? read_once(self, read) : write_once(self, write, &more);
    rlock_free(read);
    rlock_free(write);
    rlock_read_write_lock_free(pair);
    return status;
}

static bool be_inside(player *self)
{
    board_enter(self->board, self->game->limit);
    bool more = board_claim(self->board, self->game->total, self->side);
    self->turns += more;
    board_leave(self->board);
    return more;
}

rlock_status play_permits(player *self)
{
    rlock_semaphore *semaphore = rlock_get_semaphore(self->client, self->game->name);
    rlock_status status = RLOCK_OK;
    for (bool more = true; more && status == RLOCK_OK;) {
        if ((status = rlock_semaphore_acquire(semaphore, 1)) != RLOCK_OK)
            break;
        more = be_inside(self);
        status = rlock_semaphore_release(semaphore, 1);
    }
    rlock_semaphore_free(semaphore);
    return status;
}

rlock_status play_permit_ids(player *self)
{
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(self->client, self->game->name);
    rlock_permit permit;
    rlock_status status = RLOCK_OK;
    for (bool more = true; more && status == RLOCK_OK;) {
        if ((status = rlock_permit_semaphore_acquire(semaphore, LEASE_MS, &permit)) != RLOCK_OK)
            break;
        more = be_inside(self);
        status = rlock_permit_semaphore_release(semaphore, permit.id);
    }
    rlock_permit_semaphore_free(semaphore);
    return status;
}

/* The latch can't be open and set anew before this one has counted down. */
static rlock_status play_round(player *self, rlock_count_down_latch *latch, int64_t round)
{
    rlock_status status = rlock_count_down_latch_try_set_count(latch, self->game->limit, NULL);
    atomic_fetch_add(&self->board->counter, 1);
    if (status == RLOCK_OK)
        status = rlock_count_down_latch_count_down(latch);
    if (status == RLOCK_OK)
        status = rlock_count_down_latch_await(latch);
    if (atomic_load(&self->board->counter) < (round + 1) * self->game->limit)
        board_accuse(self->board);
    self->turns++;
    return status;
}

rlock_status play_rounds(player *self)
{
    rlock_status status = RLOCK_OK;
    for (int64_t round = 0; round < self->game->total / self->game->limit && status == RLOCK_OK; round++) {
        char name[64];
        snprintf(name, sizeof name, "%s%lld", self->game->name, (long long)round);
        rlock_count_down_latch *latch = rlock_get_count_down_latch(self->client, name);
        status = latch ? play_round(self, latch, round) : RLOCK_NO_MEMORY;
        rlock_count_down_latch_free(latch);
    }
    return status;
}

struct seat {
    player player;
    rlock_status status;
};

static void *play(void *arg)
{
    struct seat *self = arg;
    self->status = self->player.game->play(&self->player);
    if (self->status != RLOCK_OK)
        fprintf(stderr, "a player in C failed: %s: %s\n", rlock_strstatus(self->status), rlock_last_error());
    return NULL;
}

rlock_status game_play(const game *rules, rlock_client *client, int threads, const char *path, int side,
                       int64_t *turns)
{
    struct seat seats[THREADS_MAX];
    pthread_t running[THREADS_MAX];
    rlock_status status = RLOCK_OK;
    board *shared = board_open(path);
    int count = 0;
    for (; shared && count < threads && count < THREADS_MAX; count++) {
        seats[count] = (struct seat){{client, rules, shared, side, 0}, RLOCK_OK};
        if (pthread_create(&running[count], NULL, play, &seats[count]) != 0)
            break;
    }
    for (int i = 0; i < count; i++) {
        pthread_join(running[i], NULL);
        if (status == RLOCK_OK)
            status = seats[i].status;
        *turns += seats[i].player.turns;
    }
    return count == threads ? status : RLOCK_NO_MEMORY;
}
