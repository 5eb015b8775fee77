/* Mixed: two C processes and a JVM, of eight threads each, use one object at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/process.h"
#include "tests/stress/support/games.h"
#include "tests/stress/support/scale.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES 2
#define THREADS 8
#define PLAYERS ((PROCESSES + 1) * THREADS)
#define LIMIT_MS 240000
#define ALL_SIDES ((1 << (1 + PROCESSES)) - 1) /* bits on the board; Java's is the first (Board.java) */

TestSuite(mixed, .init = java_stage, .fini = java_stage_close);

struct side {
    const game *rules;
    const char *url, *path;
    const atomic_int *begin;
    int bit; /* on the board */
    int64_t turns;
};

static int play_in_c(void *arg)
{
    struct side *self = arg;
    rlock_client *client = NULL;
    if (rlock_client_open(&client, self->url) != RLOCK_OK)
        return 1;
    while (!atomic_load(self->begin))
        pass_ms(1);
    rlock_status status = game_play(self->rules, client, THREADS, self->path, self->bit, &self->turns);
    rlock_client_close(client);
    return status == RLOCK_OK ? 0 : 1;
}

/* All of Java's threads wait or take turns. */
static void begin_java(const game *rules, const char *path, int tags[THREADS])
{
    char thread[16], total[24], limit[24];
    snprintf(total, sizeof total, "%lld", (long long)rules->total);
    snprintf(limit, sizeof limit, "%lld", (long long)rules->limit);
    for (int i = 0; i < THREADS; i++) {
        snprintf(thread, sizeof thread, "t%d", i);
        tags[i] = BEGIN(java, thread, rules->java, rules->name, "turns", path, total, limit);
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

static int64_t show(const game *rules, const char *side, int64_t turns)
{
    fprintf(stderr, "%s: %s took %lld turns, %.1f %%\n", rules->java, side, (long long)turns,
            (double)turns * 100 / (double)rules->total);
    return turns;
}

static void check(const game *rules, const board *shared, int64_t turns)
{
    long long counted = atomic_load(&shared->counter), wrong = atomic_load(&shared->wrong);
    bool goes_on = rules->play != play_rounds; /* until each side has had a turn */
    bool complete = goes_on ? counted >= rules->total : counted == rules->total;
    cr_assert(counted == turns && complete, "%lld turns were taken, %lld are counted, of %lld", (long long)turns, counted,
              (long long)rules->total);
    cr_assert(wrong == 0, "%lld times somebody saw what must not be", wrong);
    cr_assert(atomic_load(&shared->inside) == 0);
    if (atomic_load(&shared->most))
        fprintf(stderr, "%s: at most %lld inside at once\n", rules->java, (long long)atomic_load(&shared->most));
}

/* No turn is lost, nobody sees what must not be, each side has a turn, every player comes to its end, and nobody
 * listens any more. */
static void play_mixed(const game *rules)
{
    struct side *sides = shared_memory(PROCESSES * sizeof *sides);
    atomic_int *begin = shared_memory(sizeof *begin);
    pid_t children[PROCESSES];
    int tags[THREADS];
    char *path = board_make();
    board *shared = board_open(path);
    if (rules->play != play_rounds) /* in which each takes part */
        atomic_store(&shared->missing, ALL_SIDES);
    for (int i = 0; i < PROCESSES; i++) {
        sides[i] = (struct side){rules, server_url(stage.server), path, begin, 2 << i, 0};
        children[i] = process_start(play_in_c, &sides[i]);
    }
    begin_java(rules, path, tags);
    for (int64_t end_ms = limit_end_ms(20000); atomic_load(&shared->counter) == 0 && now_ms() < end_ms;)
        pass_ms(1); /* until Java is on its way, so that it is not C's race alone */
    int64_t began_ms = now_ms();
    atomic_store(begin, 1);

    int64_t all = show(rules, "Java", finish_java(tags));
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert(process_wait(children[i], LIMIT_MS) == 0, "C process %d failed", i + 1);
        all += show(rules, i ? "C process 2" : "C process 1", sides[i].turns);
    }
    int64_t took_ms = now_ms() - began_ms;
    fprintf(stderr, "%s: %lld turns in %lld ms\n", rules->java, (long long)all, (long long)took_ms);
    check(rules, shared, all);
    cr_assert(wait_no_channels(5000));
    wait_no_latches();
    free(path);
}

static rlock *get_multi(rlock_client *client, const char *names)
{
    (void)names;
    rlock *members[] = {rlock_get_lock(client, "m1"), rlock_get_lock(client, "m2")};
    rlock *lock = rlock_get_multi_lock(members, 2);
    rlock_free(members[0]);
    rlock_free(members[1]);
    return lock;
}

static void play_lock(const lock_kind *kind, const char *name, int total)
{
    play_mixed(&(game){.java = kind->java, .name = name, .kind = kind, .play = play_turns, .total = total});
}

Test(mixed, turns_of_c_and_java_are_counted_exactly)
{
    static const lock_kind kind = {.java = "lock", .get = rlock_get_lock};
    play_lock(&kind, "order:42", scaled(6000, 20000));
    assert_no_keys();
}

Test(mixed, turns_under_a_fair_lock_are_counted_exactly)
{
    static const lock_kind kind = {.java = "fair", .get = rlock_get_fair_lock};
    play_lock(&kind, "order:42", scaled(2000, 20000));
    assert_no_keys();
}

Test(mixed, turns_under_a_spin_lock_are_counted_exactly)
{
    static const lock_kind kind = {.java = "spin", .get = rlock_get_spin_lock};
    play_lock(&kind, "order:42", scaled(3000, 20000));
    assert_no_keys();
}

Test(mixed, turns_under_a_non_reentrant_lock_are_counted_exactly)
{
    static const lock_kind kind = {.java = "nonreentrant", .get = rlock_get_non_reentrant_lock};
    play_lock(&kind, "order:42", scaled(3000, 20000));
    assert_no_keys();
}

/* And their tokens grow in the order of the turns. */
Test(mixed, turns_under_a_fenced_lock_have_growing_tokens)
{
    static const lock_kind kind = {.java = "fenced", .get = rlock_get_fenced_lock};
    play_lock(&kind, "order:42", scaled(3000, 20000));
    cr_assert(server_integer(stage.server, "DBSIZE") == 1);
}

Test(mixed, turns_under_a_multi_lock_are_counted_exactly)
{
    static const lock_kind kind = {.java = "multi", .get = get_multi};
    play_lock(&kind, "m1,m2", scaled(2000, 20000));
    assert_no_keys();
}

/* Nobody queues here: a writer takes the lock when no reader is there, and all is over before a slow JVM is warm. */
Test(mixed, readers_of_c_and_java_never_see_a_write_half_done)
{
    play_mixed(&(game){.java = "readwrite", .name = "order:42", .play = play_readers, .total = scaled(1000, 20000),
                       .limit = PLAYERS});
    assert_no_keys();
}

#define PERMITS 3

Test(mixed, holders_of_a_semaphore_are_never_more_than_its_permits)
{
    freeReplyObject(server_command(stage.server, "SET order:42 %d", PERMITS));
    play_mixed(&(game){.java = "semaphore", .name = "order:42", .play = play_permits, .total = scaled(3000, 20000),
                       .limit = PERMITS});
    cr_assert(server_integer(stage.server, "GET order:42") == PERMITS);
}

Test(mixed, holders_of_permits_by_id_are_never_more_than_there_are)
{
    freeReplyObject(server_command(stage.server, "SET order:42 %d", PERMITS));
    play_mixed(&(game){.java = "permits", .name = "order:42", .play = play_permit_ids, .total = scaled(3000, 20000),
                       .limit = PERMITS});
    cr_assert(server_integer(stage.server, "GET order:42") == PERMITS && server_integer(stage.server, "DBSIZE") == 1);
}

Test(mixed, waiters_at_a_latch_come_through_when_all_have_come)
{
    play_mixed(&(game){.java = "latches", .name = "order:", .play = play_rounds, .total = PLAYERS * scaled(100, 1000),
                       .limit = PLAYERS});
    assert_no_keys();
}
