/* Processes: many C programs, each with a client of its own, count under one lock (scenario 10). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/interop/support/process.h"
#include "tests/support/event.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAME "order:42"
#define PROCESSES_MAX 100
#define LIMIT_MS 180000

/* No thread and no client in the test's process: the children are forked from a plain one. */
static server *redis;

static void start(void)
{
    redis = server_start();
}

static void stop(void)
{
    server_stop(redis);
}

TestSuite(processes, .init = start, .fini = stop);

struct counting {
    const char *url;
    int turns;
    int64_t hold_ms;
    volatile int counter; /* that the lock alone protects */
};

static rlock_status count_up(rlock *lock, struct counting *self)
{
    rlock_status status = rlock_lock(lock);
    if (status != RLOCK_OK)
        return status;
    int seen = self->counter;
    pass_ms(self->hold_ms);
    self->counter = seen + 1;
    return rlock_unlock(lock);
}

static int count_alone(void *arg)
{
    struct counting *self = arg;
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, self->url);
    rlock *lock = status == RLOCK_OK ? rlock_get_lock(client, NAME) : NULL;
    for (int i = 0; i < self->turns && status == RLOCK_OK; i++)
        status = count_up(lock, self);
    if (status != RLOCK_OK)
        fprintf(stderr, "a process failed: %s\n", rlock_last_error());
    rlock_free(lock);
    rlock_client_close(client);
    return (int)status;
}

static void count_with(int processes, int turns, int64_t hold_ms)
{
    struct counting *counting = shared_memory(sizeof *counting);
    *counting = (struct counting){server_url(redis), turns, hold_ms, 0};
    pid_t children[PROCESSES_MAX];
    for (int i = 0; i < processes; i++)
        children[i] = process_start(count_alone, counting);
    int64_t end_ms = limit_end_ms(LIMIT_MS);
    for (int i = 0; i < processes; i++)
        assert_status((rlock_status)process_wait(children[i], end_ms - now_ms()), RLOCK_OK);
    cr_assert(counting->counter == processes * turns, "counted %d of %d", counting->counter, processes * turns);
    char *keys = server_keyspace(redis);
    cr_assert_str_eq(keys, "");
    free(keys);
}

Test(processes, a_hundred_count_to_100)
{
    count_with(100, 1, 0);
}

/* 100 turns each, holding the lock for 10 ms: 16 s at the very least. */
Test(processes, sixteen_in_a_loop_count_to_1600)
{
    count_with(16, 100, 10);
}
