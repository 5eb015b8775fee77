/* The loop of async calls: functions that start, close and free; threads; a program that does not process; told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(async_loop, .init = stage_open, .fini = stage_close);
TestSuite(async_loop_renewed, .init = stage_quick, .fini = stage_close);

#define NAME "order"

/* --- functions --- */

typedef struct cycle {
    rlock *lock;
    int64_t owner;
    int left;      /* how often it is still to be taken */
    int *held;     /* how many hold it now */
    int *finished; /* how many owners have finished */
} cycle;

static void cycle_lock(cycle *self);

static void cycle_unlocked(const rlock_result *result, void *arg)
{
    cycle *self = arg;
    assert_ok(result->status);
    if (--self->left > 0)
        cycle_lock(self);
    else
        ++*self->finished;
}

static void cycle_locked(const rlock_result *result, void *arg)
{
    cycle *self = arg;
    cr_assert(result->status == RLOCK_OK, "%s", result->error);
    cr_assert(++*self->held == 1, "two owners hold it");
    --*self->held;
    assert_ok(rlock_unlock_async(self->lock, &(rlock_owner){self->owner}, cycle_unlocked, self));
}

static void cycle_lock(cycle *self)
{
    rlock_lock_options options = called_options(self->owner, RLOCK_FOREVER);
    assert_ok(rlock_lock_async(self->lock, &options, cycle_locked, self));
}

/* Each function starts the next operation; all want the same lock. */
RealTest(async_loop, lets_functions_start_operations)
{
    enum { OWNERS = 20, TIMES = 50 };
    cycle cycles[OWNERS];
    int held = 0, finished = 0;
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < OWNERS; i++) {
        cycles[i] = (cycle){lock, i, TIMES, &held, &finished};
        cycle_lock(&cycles[i]);
    }
    called_await_count(stage.client, &finished, OWNERS);
    assert_no_keys();
}

static void take_turns(const char *query)
{
    enum { OWNERS = 8, TIMES = 100 };
    rlock_client *client = stage_client(query);
    cycle cycles[OWNERS];
    int held = 0, finished = 0;
    rlock *lock = lock_of(client, NAME);
    for (int i = 0; i < OWNERS; i++) {
        cycles[i] = (cycle){lock, i, TIMES, &held, &finished};
        cycle_lock(&cycles[i]);
    }
    called_await_count(client, &finished, OWNERS);
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
}

RealTest(async_loop, takes_turns_with_local_hand_over)
{
    take_turns("localHandOver=true");
}

RealTest(async_loop, takes_turns_when_unlocks_do_not_wait)
{
    take_turns("unlockWaits=false");
}

RealTest(async_loop, takes_turns_when_unlocks_do_not_wait_and_holds_are_handed_over)
{
    take_turns("unlockWaits=false&localHandOver=true");
}

static void free_handle(const rlock_result *result, void *arg)
{
    called_note(result, arg);
    rlock_free(*(rlock **)((called *)arg + 1));
}

/* The function frees the handle that its operation was started with. */
RealTest(async_loop, lets_a_function_free_its_handle)
{
    struct {
        called called;
        rlock *lock;
    } last = {.lock = rlock_for_owner(lock_of(stage.client, NAME), 1)};
    assert_ok(rlock_lock_async(last.lock, NULL, free_handle, &last));
    assert_ok(called_await(stage.client, &last.called));
    assert_ok(called_unlock(stage.client, lock_of(stage.client, NAME), 1));
}

/* The handle is gone before the operation ends. */
RealTest(async_loop, needs_the_handle_only_for_the_call)
{
    rlock *lock = rlock_for_owner(lock_of(stage.client, NAME), 1);
    called done = {0};
    foreign_hold(NAME, 60000);
    assert_ok(rlock_lock_async(lock, NULL, called_note, &done));
    rlock_free(lock);
    cr_assert(wait_listened(NAME, 10000));
    foreign_release(NAME);
    assert_ok(called_await(stage.client, &done));
}

static void process_again(const rlock_result *result, void *arg)
{
    called_note(result, arg);
    assert_status(rlock_client_process(stage.client), RLOCK_INVALID);
    assert_error("rlock_client_process");
}

RealTest(async_loop, refuses_to_be_processed_by_a_function)
{
    rlock *lock = owned_by(lock_of(stage.client, NAME), 1);
    called done = {0};
    assert_ok(rlock_lock_async(lock, NULL, process_again, &done));
    assert_ok(called_await(stage.client, &done));
}

/* --- closing --- */

typedef struct closing {
    rlock_client *client;
    int closed, ended;
} closing;

static void note_closed(const rlock_result *result, void *arg)
{
    closing *self = arg;
    self->ended++;
    self->closed += result->status == RLOCK_CLOSED;
}

static void close_it(const rlock_result *result, void *arg)
{
    note_closed(result, arg);
    rlock_client_close(((closing *)arg)->client);
}

static rlock_client *open_client(void)
{
    rlock_client *client;
    assert_ok(rlock_client_open(&client, server_url(stage.server)));
    return client;
}

static void wait_for_it(rlock_client *client, int first, int count, closing *told)
{
    rlock *lock = rlock_get_lock(client, NAME);
    for (int i = 0; i < count; i++) {
        rlock_lock_options options = called_options(first + i, RLOCK_FOREVER);
        assert_ok(rlock_lock_async(lock, &options, note_closed, told));
    }
    rlock_free(lock);
}

/* Waits are under way, and one request whose answer nobody has read. */
RealTest(async_loop, calls_each_function_once_when_the_client_is_closed)
{
    enum { WAITS = 100 };
    closing told = {.client = open_client()};
    foreign_hold(NAME, 60000);
    wait_for_it(told.client, 0, WAITS, &told);
    cr_assert(wait_listened(NAME, 10000));
    rlock_client_close(told.client);
    assert_between(told.ended, WAITS, WAITS);
    assert_between(told.closed, WAITS, WAITS);
    cr_assert(wait_no_channels(5000));
}

/* The client is closed by a function, while others have ended and others still wait. */
RealTest(async_loop, may_be_closed_by_a_function)
{
    enum { WAITS = 20 };
    closing told = {.client = open_client()};
    foreign_hold(NAME, 60000);
    wait_for_it(told.client, 0, WAITS, &told);
    rlock *free_lock = rlock_get_lock(told.client, "free");
    rlock_lock_options options = called_options(1, RLOCK_FOREVER);
    assert_ok(rlock_lock_async(free_lock, &options, close_it, &told));
    rlock_free(free_lock);
    rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK)
        status = rlock_client_process(told.client);
    assert_status(status, RLOCK_CLOSED);
    assert_between(told.ended, WAITS + 1, WAITS + 1);
    assert_between(told.closed, WAITS, WAITS);
}

/* --- starting while another thread closes --- */

typedef struct race {
    rlock *lock;
    atomic_int begun, ended;
    event ready;
} race;

static void note_race(const rlock_result *result, void *arg)
{
    (void)result;
    atomic_fetch_add(&((race *)arg)->ended, 1);
}

static void *start_until_closed(void *arg)
{
    race *self = arg;
    rlock_status status = RLOCK_OK;
    for (int64_t owner = 1; status == RLOCK_OK; owner++) {
        rlock_lock_options options = called_options(owner, RLOCK_FOREVER);
        status = rlock_lock_async(self->lock, &options, note_race, self);
        atomic_fetch_add(&self->begun, status == RLOCK_OK);
        event_set(&self->ready);
    }
    assert_status(status, RLOCK_CLOSED);
    return NULL;
}

/* What another thread starts while the client is closed is refused, or its function is called before the close ends or
 * the start returns. */
RealTest(async_loop, loses_no_operation_that_begins_while_it_is_closed)
{
    enum { ROUNDS = 100, THREADS = 3 };
    for (int i = 0; i < ROUNDS; i++) {
        rlock_client *client = open_client();
        race here = {.lock = rlock_get_lock(client, NAME)};
        pthread_t threads[THREADS];
        event_init(&here.ready);
        for (int t = 0; t < THREADS; t++)
            cr_assert(pthread_create(&threads[t], NULL, start_until_closed, &here) == 0);
        cr_assert(event_wait_count(&here.ready, THREADS, 10000));
        rlock_client_close(client);
        for (int t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
        cr_assert(atomic_load(&here.ended) == atomic_load(&here.begun), "%d of %d functions were called",
                  atomic_load(&here.ended), atomic_load(&here.begun));
        rlock_free(here.lock);
        event_destroy(&here.ready);
    }
}

/* --- threads --- */

typedef struct crossing {
    rlock_client *client;
    atomic_bool ends;
    atomic_int refused;
} crossing;

static void *process_until(void *arg)
{
    crossing *self = arg;
    while (!atomic_load(&self->ends)) {
        rlock_status status = rlock_client_process(self->client);
        if (status != RLOCK_OK)
            assert_status(status, RLOCK_INVALID);
        atomic_fetch_add(&self->refused, status != RLOCK_OK);
    }
    return NULL;
}

typedef struct tally {
    rlock *lock;
    atomic_int *left, *held;
    event *ended; /* set when it takes no more turns */
    int64_t owner;
} tally;

static void tally_lock(tally *self);

static void tally_unlocked(const rlock_result *result, void *arg)
{
    tally *self = arg;
    assert_ok(result->status);
    if (atomic_fetch_sub(self->left, 1) > 0)
        tally_lock(self);
    else
        event_set(self->ended);
}

static void tally_locked(const rlock_result *result, void *arg)
{
    tally *self = arg;
    cr_assert(result->status == RLOCK_OK, "%s", result->error);
    cr_assert(atomic_fetch_add(self->held, 1) == 0, "two owners hold it");
    atomic_fetch_sub(self->held, 1);
    assert_ok(rlock_unlock_async(self->lock, &(rlock_owner){self->owner}, tally_unlocked, self));
}

static void tally_lock(tally *self)
{
    rlock_lock_options options = called_options(self->owner, RLOCK_FOREVER);
    assert_ok(rlock_lock_async(self->lock, &options, tally_locked, self));
}

static void *lock_often(void *arg)
{
    tally *self = arg;
    while (atomic_fetch_sub(self->left, 1) > 0) {
        assert_ok(rlock_lock(self->lock));
        cr_assert(atomic_fetch_add(self->held, 1) == 0, "two owners hold it");
        atomic_fetch_sub(self->held, 1);
        assert_ok(rlock_unlock(self->lock));
    }
    return NULL;
}

/* Two threads process at once, while others lock the same name by blocking calls. */
RealTest(async_loop, excludes_among_threads_that_process_and_threads_that_block)
{
    enum { OWNERS = 10, THREADS = 3 };
    atomic_int left = 2000, held = 0;
    event ended;
    rlock *lock = lock_of(stage.client, NAME);
    tally tallies[OWNERS + THREADS];
    crossing both = {.client = stage.client};
    pthread_t processing[2], blocking[THREADS];
    event_init(&ended);
    for (int i = 0; i < OWNERS + THREADS; i++)
        tallies[i] = (tally){lock, &left, &held, &ended, i};
    for (int i = 0; i < OWNERS; i++)
        tally_lock(&tallies[i]);
    for (int i = 0; i < 2; i++)
        cr_assert(pthread_create(&processing[i], NULL, process_until, &both) == 0);
    for (int i = 0; i < THREADS; i++)
        cr_assert(pthread_create(&blocking[i], NULL, lock_often, &tallies[OWNERS + i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(blocking[i], NULL);
    cr_assert(event_wait_count(&ended, OWNERS, 60000));
    atomic_store(&both.ends, true);
    for (int i = 0; i < 2; i++)
        pthread_join(processing[i], NULL);
    assert_no_keys();
    event_destroy(&ended);
}

/* --- a program that does not process --- */

/* The program starts an acquire and never processes: the lock is taken and renewed beyond its first lease. */
RealTest(async_loop_renewed, keeps_holds_of_a_program_that_does_not_process)
{
    rlock *lock = owned_by(lock_of(stage.client, NAME), 1);
    called done = {0};
    foreign_hold(NAME, 60000);
    assert_ok(rlock_lock_async(lock, NULL, called_note, &done));
    cr_assert(wait_listened(NAME, 10000));
    foreign_release(NAME);
    cr_assert(server_wait_exists(stage.server, NAME, true, 10000));
    cr_assert(wait_renewed(NAME, 60000));
    cr_assert(wait_renewed(NAME, 60000));
    cr_assert(done.times == 0);
    assert_ok(called_await(stage.client, &done));
    cr_assert(rlock_valid_for(lock) > 0);
    assert_ok(called_unlock(stage.client, lock, 1));
}

/* An owner takes the lock from another without any process: each goes on with the other's release. */
RealTest(async_loop, goes_on_without_being_processed)
{
    rlock *lock = lock_of(stage.client, NAME);
    called first = {0}, second = {0}, third = {0};
    rlock_lock_options one = called_options(1, RLOCK_FOREVER), two = called_options(2, RLOCK_FOREVER);
    assert_ok(rlock_lock_async(lock, &one, called_note, &first));
    assert_ok(rlock_lock_async(lock, &two, called_note, &second));
    cr_assert(server_wait_exists(stage.server, NAME, true, 10000));
    assert_ok(rlock_unlock_async(lock, &(rlock_owner){1}, called_note, &third));
    rlock *owned = owned_by(lock, 2);
    for (int64_t until_ms = limit_end_ms(10000); rlock_valid_for(owned) == 0 && now_ms() < until_ms;)
        pass_ms(1);
    cr_assert(rlock_valid_for(owned) > 0);
    cr_assert(first.times + second.times + third.times == 0);
    assert_ok(called_await(stage.client, &second));
    assert_ok(called_await(stage.client, &first));
    assert_ok(called_await(stage.client, &third));
}

/* --- many --- */

static void count(const rlock_result *result, void *arg)
{
    int *counts = arg;
    counts[result->status == RLOCK_OK ? 0 : 1]++;
}

/* Ten thousand operations wait for one name, and the client is closed. */
RealTest(async_loop, holds_ten_thousand_waits_of_one_name)
{
    enum { WAITS = 10000 };
    rlock_client *client = open_client();
    rlock *lock = rlock_get_lock(client, NAME);
    int counts[2] = {0, 0};
    foreign_hold(NAME, 60000);
    for (int i = 0; i < WAITS; i++) {
        rlock_lock_options options = called_options(i, RLOCK_FOREVER);
        assert_ok(rlock_lock_async(lock, &options, count, counts));
    }
    called_process_for(client, 100);
    cr_assert(counts[0] + counts[1] == 0);
    rlock_client_close(client);
    rlock_free(lock);
    assert_between(counts[1], WAITS, WAITS);
}

/* Ten thousand operations on names of their own, all at once. */
RealTest(async_loop, carries_out_ten_thousand_operations_at_once)
{
    enum { NAMES = 10000 };
    rlock **locks = malloc(NAMES * sizeof *locks);
    int counts[2] = {0, 0};
    cr_assert(locks);
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, NAME ":%d", i);
        locks[i] = rlock_get_lock(stage.client, name);
        rlock_lock_options options = called_options(1, RLOCK_FOREVER);
        assert_ok(rlock_lock_async(locks[i], &options, count, counts));
    }
    called_await_count(stage.client, &counts[0], NAMES);
    assert_between(server_integer(stage.server, "DBSIZE"), NAMES, NAMES);
    for (int i = 0; i < NAMES; i++) {
        assert_ok(rlock_unlock_async(locks[i], &(rlock_owner){1}, count, counts));
        rlock_free(locks[i]);
    }
    called_await_count(stage.client, &counts[0], 2 * NAMES);
    free(locks);
    assert_no_keys();
}
