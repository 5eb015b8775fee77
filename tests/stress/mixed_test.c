/* Mixed: two C processes and a JVM, of eight threads each, take turns under one lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/process.h"
#include "tests/stress/support/turns.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME "order:42"
#define TURNS 20000
#define PROCESSES 2
#define THREADS 8
#define LEAST_PERCENT 1
#define LIMIT_MS 240000

TestSuite(mixed, .init = java_stage, .fini = java_stage_close, .timeout = 280);

struct side {
    const char *url, *path;
    const atomic_int *begin;
    int64_t turns;
};

static int take_turns(void *arg)
{
    struct side *self = arg;
    rlock_client *client = NULL;
    if (rlock_client_open(&client, self->url) != RLOCK_OK)
        return 1;
    while (!atomic_load(self->begin))
        pass_ms(1);
    rlock_status status = turns_take_many(client, NAME, THREADS, self->path, TURNS, &self->turns);
    rlock_client_close(client);
    return status == RLOCK_OK ? 0 : 1;
}

/* All of Java's threads wait or take turns. */
static void begin_java(const char *path, int tags[THREADS])
{
    char thread[16], total[16];
    snprintf(total, sizeof total, "%d", TURNS);
    for (int i = 0; i < THREADS; i++) {
        snprintf(thread, sizeof thread, "t%d", i);
        tags[i] = BEGIN(java, thread, "lock", NAME, "turns", path, total);
    }
}

static int64_t finish_java(const int tags[THREADS])
{
    int64_t turns = 0;
    for (int i = 0; i < THREADS; i++) {
        const answer *done = agent_await(java, tags[i], LIMIT_MS);
        cr_assert(!done->threw, "Java threw %s: %s", done->text, done->message);
        turns += atoll(done->text);
    }
    return turns;
}

static int64_t show(const char *side, int64_t turns)
{
    fprintf(stderr, "%s took %lld turns, %.1f %%\n", side, (long long)turns, (double)turns * 100 / TURNS);
    return turns;
}

/* No turn is lost, each side has its share, and nothing is left on the server. */
Test(mixed, turns_of_c_and_java_are_counted_exactly)
{
    struct side *sides = shared_memory(PROCESSES * sizeof *sides);
    atomic_int *begin = shared_memory(sizeof *begin);
    pid_t children[PROCESSES];
    int tags[THREADS];
    char *path = turns_file();
    for (int i = 0; i < PROCESSES; i++) {
        sides[i] = (struct side){server_url(stage.server), path, begin, 0};
        children[i] = process_start(take_turns, &sides[i]);
    }
    begin_java(path, tags);
    for (int64_t end_ms = now_ms() + 20000; turns_count(path) == 0 && now_ms() < end_ms;)
        pass_ms(1); /* until Java is on its way, so that it is not C's race alone */
    int64_t began_ms = now_ms();
    atomic_store(begin, 1);

    int64_t all = show("Java", finish_java(tags)), least = all;
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert(process_wait(children[i], LIMIT_MS) == 0, "C process %d failed", i + 1);
        int64_t turns = show(i ? "C process 2" : "C process 1", sides[i].turns);
        least = turns < least ? turns : least;
        all += turns;
    }
    int64_t took_ms = now_ms() - began_ms;
    fprintf(stderr, "%d turns in %lld ms\n", TURNS, (long long)took_ms);
    cr_assert(turns_count(path) == TURNS && all == TURNS, "%lld turns were taken, %lld are counted, of %d",
              (long long)all, (long long)turns_count(path), TURNS);
    cr_assert(least * 100 >= (int64_t)TURNS * LEAST_PERCENT, "one side had only %lld turns", (long long)least);
    cr_assert(wait_no_channels(5000));
    wait_no_latches();
    assert_no_keys();
    free(path);
}
