/* lossTracking with many holds: readers of one lock, whose renewals and comings and goings alarm each other's clients; many
 * names, of which a server that remembers few keys forgets some all the time. Looks stay few, and losses are told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(tracking_many, .init = stage_open, .fini = stage_close);

#define NAME "book"
#define OLD_MS 1100 /* a hold is tracked after a second */
#define SOON_MS 50  /* the server's message, and the looks that follow */
#define QUERY "lossTracking=true"
#define CLIENTS 4
#define READERS 250 /* of each client */
#define ALL (CLIENTS * READERS)

/* What all clients told: how often, of what, and why. */
static event told;
static atomic_int gone, wrong;
static const char *expected;

static void note(const rlock_lost_event *lost, void *arg)
{
    (void)arg;
    atomic_fetch_add(&gone, lost->reason == RLOCK_LOST_GONE);
    atomic_fetch_add(&wrong, expected && strcmp(lost->name, expected) != 0);
    event_set(&told);
}

static rlock_client *open_client(const char *query)
{
    rlock_client *client = stage_client(query);
    rlock_on_lost(client, note, NULL);
    return client;
}

static rlock_tracking state_of(rlock_client *client)
{
    rlock_tracking state;
    assert_ok(rlock_client_tracking(client, &state));
    return state;
}

static void await_tracking(rlock_client *client)
{
    while (state_of(client) != RLOCK_TRACKING_ON)
        pass_ms(5);
}

/* --- how many holds are looked at --- */

/* MONITOR's line: "evalsha" "…" "number of keys" … */
static void add_keys(const char *line, void *arg)
{
    const char *script = strcasestr(line, "\"evalsha\" \"");
    const char *count = script ? strstr(script + strlen("\"evalsha\" \""), "\" \"") : NULL;
    *(int64_t *)arg += count ? atoll(count + 3) : 0;
}

/* Since the last call. */
static int64_t looks(monitor *seen, const rli_script *script)
{
    int64_t count = 0;
    monitor_each(seen, script->sha1[RLI_COUNTED], add_keys, &count);
    monitor_forget(seen);
    return count;
}

/* --- a thousand readers of one lock --- */

static rlock_client *clients[CLIENTS];
static rlock *readers[ALL];

static void read_by_all(void)
{
    event_init(&told);
    expected = NAME;
    for (int i = 0; i < ALL; i++) {
        if (i % READERS == 0)
            clients[i / READERS] = open_client(QUERY);
        readers[i] = owned_by(read_of(clients[i / READERS], NAME), i);
        assert_ok(rlock_lock(readers[i]));
        if (i % 25 == 0)
            pass_ms(100); /* so that their renewals are spread over four seconds */
    }
    for (int i = 0; i < CLIENTS; i++)
        await_tracking(clients[i]);
    pass_ms(OLD_MS);
}

static void assert_all_told(int64_t ms)
{
    int64_t since_ms = now_ms();
    foreign_vanish(NAME);
    cr_assert(event_wait_count(&told, ALL, 60000), "%d are told", event_count(&told));
    assert_between(now_ms() - since_ms, 0, at_most_ms(ms));
    cr_assert(gone == ALL && wrong == 0);
    for (int i = 0; i < ALL; i++)
        cr_assert(rlock_valid_for(readers[i]) == 0);
}

TimedTest(tracking_many, readers_of_a_deleted_lock_are_all_told_at_once)
{
    read_by_all();
    pass_ms(7000); /* no more renewals, and no rests */
    assert_all_told(SOON_MS);
}

/* Lets so many seconds pass, in each of which something happens. */
static void assert_few_looks(int seconds, void (*happens)(void))
{
    monitor *seen = monitor_open();
    int64_t sum = 0, most = 0;
    for (int second = 0; second < seconds; second++) {
        happens();
        int64_t count = looks(seen, &rli_script_read_look);
        most = count > most ? count : most;
        sum += count;
    }
    monitor_close(seen);
    cr_log_info("%lld looks in %d s, at most %lld a second", (long long)sum, seconds, (long long)most);
    cr_assert_leq(most, CLIENTS * (1000 + 100), "%lld", (long long)most);
    cr_assert_leq(sum, seconds * ALL, "%lld", (long long)sum);
    cr_assert(event_count(&told) == 0);
}

static void pass_a_second(void)
{
    pass_ms(1000);
}

TimedTest(tracking_many, renewals_by_other_readers_cost_few_looks)
{
    read_by_all();
    assert_few_looks(30, pass_a_second); /* each hold is renewed three times */
    for (int i = 0; i < CLIENTS; i++)
        cr_assert(state_of(clients[i]) == RLOCK_TRACKING_ON, "%s", rlock_last_error());
    assert_all_told(6500); /* the rest after a look doubles up to 6.4 s while others change the key */
}

static void come_and_go_for_a_second(void)
{
    rlock *guest = read_of(stage.other, NAME);
    for (int i = 0; i < 50; i++) {
        assert_ok(rlock_lock(guest));
        pass_ms(10);
        assert_ok(rlock_unlock(guest));
        pass_ms(10);
    }
}

TimedTest(tracking_many, readers_that_come_and_go_cost_few_looks)
{
    read_by_all();
    assert_few_looks(8, come_and_go_for_a_second);
    assert_all_told(6500);
}

/* All readers in one client, and another that comes and goes: more looks than a client may send find nothing, so it rests. */
TimedTest(tracking_many, false_alarms_of_many_readers_switch_tracking_off)
{
    rlock_client *client = open_client(QUERY);
    event_init(&told);
    expected = NAME;
    for (int i = 0; i < ALL; i++)
        assert_ok(rlock_lock(owned_by(read_of(client, NAME), i)));
    await_tracking(client);
    pass_ms(OLD_MS);
    rlock *guest = read_of(stage.other, NAME);
    monitor *seen = monitor_open();
    int64_t sum = 0;
    int turns = 0;
    for (; state_of(client) == RLOCK_TRACKING_ON; turns++) {
        cr_assert(turns < 1000, "it does not rest after %lld looks", (long long)sum);
        assert_ok(rlock_lock(guest));
        pass_ms(10);
        assert_ok(rlock_unlock(guest));
        sum += looks(seen, &rli_script_read_look);
    }
    cr_assert(state_of(client) == RLOCK_TRACKING_FALSE_ALARMS);
    cr_assert(strstr(rlock_last_error(), "looks found the hold unchanged") != NULL, "%s", rlock_last_error());
    cr_assert_leq(sum, 7000, "%lld", (long long)sum);
    pass_ms(1000);
    looks(seen, &rli_script_read_look);
    pass_ms(100000);
    cr_assert_eq(looks(seen, &rli_script_read_look), 0); /* the five minutes are not over */
    monitor_close(seen);
    cr_assert(event_count(&told) == 0);
    foreign_vanish(NAME);
    cr_assert(event_wait_count(&told, ALL, 15000)); /* by renewals */
    cr_assert(wrong == 0);
}

/* --- many names --- */

static rlock_client *hold_many(const char *query, int count)
{
    rlock_client *client = open_client(query);
    char name[32];
    event_init(&told);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "hold-%d", i);
        assert_ok(rlock_lock(lock_of(client, name)));
    }
    await_tracking(client);
    return client;
}

TimedTest(tracking_many, holds_of_an_emptied_server_are_all_told_at_once)
{
    enum { HOLDS = 5000 };
    rlock_client *client = hold_many(QUERY, HOLDS);
    pass_ms(2 * OLD_MS);
    int64_t since_ms = now_ms();
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    cr_assert(event_wait_count(&told, HOLDS, 60000), "%d are told", event_count(&told));
    assert_between(now_ms() - since_ms, 0, at_most_ms(SOON_MS));
    cr_assert(state_of(client) == RLOCK_TRACKING_ON);
}

/* While they are looked at, others are taken, so that the table of names grows. */
TimedTest(tracking_many, holds_of_an_emptied_server_are_all_told_while_others_are_taken)
{
    enum { HOLDS = 4093, MORE = 20 };
    rlock_client *client = hold_many(QUERY, HOLDS);
    char name[32];
    pass_ms(2 * OLD_MS);
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    for (int i = 0; i < MORE; i++) {
        snprintf(name, sizeof name, "more-%d", i);
        assert_ok(rlock_lock(lock_of(client, name)));
    }
    cr_assert(event_wait_count(&told, HOLDS, 1000), "%d are told", event_count(&told));
    cr_assert(state_of(client) == RLOCK_TRACKING_ON);
}

/* The server then says that all keys may have changed, whatever the database. */
TimedTest(tracking_many, database_that_is_emptied_again_and_again_costs_a_thousand_looks_a_second)
{
    enum { HOLDS = 2000 };
    rlock_client *client = hold_many(QUERY, HOLDS);
    pass_ms(2 * OLD_MS);
    redisContext *elsewhere = redisConnectUnix(server_socket(stage.server));
    cr_assert(elsewhere && !elsewhere->err);
    freeReplyObject(redisCommand(elsewhere, "SELECT 1"));
    monitor *seen = monitor_open();
    int64_t sum = 0;
    for (int second = 1; state_of(client) == RLOCK_TRACKING_ON; second++) {
        cr_assert(second <= 10, "it does not rest after %lld looks", (long long)sum);
        for (int i = 0; i < 100; i++) {
            freeReplyObject(redisCommand(elsewhere, "FLUSHDB"));
            pass_ms(10);
        }
        sum += looks(seen, &rli_script_lock_look);
        cr_assert_leq(sum, (second + 1) * 1000 + 100, "%lld looks in %d s", (long long)sum, second);
    }
    monitor_close(seen);
    redisFree(elsewhere);
    cr_assert(state_of(client) == RLOCK_TRACKING_FALSE_ALARMS);
    cr_assert(event_count(&told) == 0);
}

/* The server says of each key that it forgets that it was changed, except in a request of the client itself. That reads it
 * again, so that the server forgets another. */
RealTest(tracking_many, server_that_remembers_few_keys_is_not_drowned_in_looks)
{
    enum { HOLDS = 3000, LOST = 10 };
    freeReplyObject(server_command(stage.server, "CONFIG SET tracking-table-max-keys 1000"));
    monitor *seen = monitor_open();
    int64_t since_ms = now_ms(), ms;
    rlock_client *client = hold_many(QUERY, HOLDS);
    while ((ms = now_ms() - since_ms) < 3000 && state_of(client) == RLOCK_TRACKING_ON)
        freeReplyObject(server_command(stage.server, "PING"));
    int64_t count = looks(seen, &rli_script_lock_look);
    monitor_close(seen);
    cr_log_info("%lld looks in %lld ms", (long long)count, (long long)ms);
    cr_assert_leq(count, 2 * HOLDS + (ms / 1000 + 1) * 1100, "%lld looks in %lld ms", (long long)count, (long long)ms);
    cr_assert(event_count(&told) == 0);
    for (int i = 0; i < LOST; i++)
        freeReplyObject(server_command(stage.server, "DEL hold-%d", i * HOLDS / LOST));
    cr_assert(event_wait_count(&told, LOST, 60000)); /* at once, or by renewals */
    cr_assert(gone == LOST, "%d of %d were told as gone", gone, event_count(&told));
}
