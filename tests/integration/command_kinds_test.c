/* rlock run and force-unlock with --kind: a command under every kind of lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_json.h"
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_kinds, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define TOKEN_KEY "redisson_lock_token:{" NAME "}"
#define SOON_MS 10000

/* --- locks --- */

/* While one runs, another of the kind does not; its key goes with it. The words of its inspection say
 * that it was of that kind, where that is to be seen. */
static void assert_excludes(const char *kind, const char *seen)
{
    command *c = start_under(COMMAND("run", "--kind", kind, NAME, "--", UNTIL_LINE));
    cr_assert(server_integer(stage.server, "EXISTS %s", NAME) == 1, "%s", kind);
    outcome found = run(COMMAND("inspect", NAME));
    cr_assert(strstr(found.out, seen), "%s: %s", kind, found.out);
    outcome_free(&found);
    cr_assert(status_of(COMMAND("run", "--kind", kind, "--wait", "0", NAME, "--", "true")) == 75, "%s", kind);
    cr_assert(status_of(COMMAND("run", "--kind", kind, "--wait", "200ms", NAME, "--", "true")) == 75, "%s", kind);
    end_under(c);
    cr_assert(status_of(COMMAND("run", "--kind", kind, "--wait", "0", NAME, "--", "sh", "-c", "exit 9")) == 9, "%s", kind);
    cr_assert(server_integer(stage.server, "EXISTS %s", NAME) == 0, "%s", kind);
}

Test(command_kinds, exclusive_locks_exclude_their_like)
{
    assert_excludes("lock", "(lock)");
    assert_excludes("spin", "(lock)");
    assert_excludes("non-reentrant", "(lock)");
    assert_excludes("fair", "(lock)");
    assert_excludes("write", "locked for writing");
    assert_no_keys();
    assert_excludes("fenced", "(fenced)");
}

Test(command_kinds, a_spinning_run_says_nothing_and_hears_nothing)
{
    server_listen(stage.server);
    cr_assert(status_of(COMMAND("run", "--kind", "spin", NAME, "--", "true")) == 0);
    foreign_hold(NAME, 60000);
    command *c = start(COMMAND("run", "--kind", "spin", NAME, "--", "echo", "ran"));
    int64_t before = server_info(stage.server, "total_commands_processed");
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_info(stage.server, "total_commands_processed") < before + 50;)
        cr_assert(now_ms() < end_ms, "it does not ask again and again");
    redisReply *channels = server_command(stage.server, "PUBSUB CHANNELS");
    cr_assert(channels->elements == 0);
    freeReplyObject(channels);
    foreign_vanish(NAME);
    cr_assert(command_wait(c, SOON_MS) == 0);
    cr_assert_str_eq(command_out(c), "ran\n");
    command_free(c);
    char *heard = server_heard_all(stage.server);
    cr_assert_str_eq(heard, "");
    free(heard);
}

/* How many wait in the queue of the fair lock. */
static bool wait_queued(int64_t count)
{
    for (int64_t end_ms = limit_end_ms(SOON_MS); now_ms() < end_ms; pass_ms(1)) {
        if (server_integer(stage.server, "LLEN redisson_lock_queue:{" NAME "}") == count)
            return true;
    }
    return false;
}

/* It may be free then: see `inspect`, which shows who waits. */
Test(command_kinds, who_does_not_wait_for_a_fair_lock_is_told_that_others_may_wait)
{
    foreign_hold(NAME, 60000);
    outcome found = run(COMMAND("-n", "--kind", "fair", NAME, "true"));
    cr_assert(found.status == 75);
    cr_assert_str_eq(found.err, "rlock: the lock \"" NAME "\" is held by another, or others wait for it; rlock inspect " NAME
                                " shows who\n");
    outcome_free(&found);
}

/* Four that asked one after the other; a fifth gives up and leaves no trace. */
Test(command_kinds, fair_runs_come_in_the_order_of_asking)
{
    enum { RUNS = 4 };
    command *runs[RUNS], *first = start_under(COMMAND("run", "--kind", "fair", NAME, "--", UNTIL_LINE));
    for (int i = 0; i < RUNS; i++) {
        runs[i] = start(COMMAND("run", "--kind", "fair", NAME, "--", UNTIL_LINE));
        cr_assert(wait_queued(i + 1), "run %d does not queue", i);
    }
    cr_assert(status_of(COMMAND("run", "--kind", "fair", "--wait", "200ms", NAME, "--", "true")) == 75);
    cr_assert(wait_queued(RUNS));
    outcome found = run(COMMAND("inspect", "--json", NAME));
    char *kind = json_member(found.out, "kind"), *waiters = json_member(found.out, "waiters");
    char *last = json_element(waiters, RUNS - 1), *none = json_element(waiters, RUNS);
    cr_assert(strcmp(kind, "fair") == 0 && last && !none, "%s", found.out);
    free(kind);
    free(waiters);
    free(last);
    outcome_free(&found);
    end_under(first);
    for (int i = 0; i < RUNS; i++) {
        cr_assert(command_says(runs[i], "under", SOON_MS), "run %d is not the next", i);
        for (int other = i + 1; other < RUNS; other++)
            cr_assert_str_eq(command_out(runs[other]), "");
        end_under(runs[i]);
    }
    assert_no_keys();
}

/* Larger each time; it is not passed to a command under another lock that runs within. */
Test(command_kinds, a_fenced_run_gives_its_command_the_token)
{
    outcome found = run(COMMAND("run", "--kind", "fenced", NAME, "--", "sh", "-c", "echo $RLOCK_NAME $RLOCK_TOKEN"));
    cr_assert(found.status == 0 && strcmp(found.out, NAME " 1\n") == 0, "%s%s", found.out, found.err);
    outcome_free(&found);
    freeReplyObject(server_command(stage.server, "SET " TOKEN_KEY " 16"));
    found = run(COMMAND("run", "--kind=fenced", NAME, "--", "sh", "-c",
        "echo $RLOCK_TOKEN; exec \"$RLOCK_COMMAND\" run inner -- sh -c 'echo $RLOCK_NAME ${RLOCK_TOKEN-none}'"));
    cr_assert_str_eq(found.out, "17\ninner none\n");
    outcome_free(&found);
    found = run(COMMAND("run", "--kind=sharded", "--shards=1", NAME, "--", "sh", "-c",
        "echo $RLOCK_SHARD; exec \"$RLOCK_COMMAND\" run inner -- sh -c 'echo $RLOCK_NAME ${RLOCK_SHARD-none}'"));
    cr_assert_str_eq(found.out, "0\ninner none\n");
    outcome_free(&found);
}

/* As many run at once as there are parts, each under another. */

/* Runs whose values have one in common exclude each other; the group shows who holds how many. */
Test(command_kinds, runs_of_a_group_exclude_those_with_a_value_in_common)
{
    command *c = start_under(COMMAND("run", "--kind", "group", "--value", "a", "--value", "b", NAME, "--", UNTIL_LINE));
    outcome found = run(COMMAND("inspect", NAME));
    assert_words(found.out, "locked, for", "(group)", "count 1, 2 values of the group, for");
    outcome_free(&found);
    found = run(COMMAND("inspect", "--json", NAME));
    assert_words(found.out, "\"kind\":\"group\"", "\"values\":2", "\"hold_count\":1");
    outcome_free(&found);
    cr_assert(status_of(COMMAND("run", "--kind", "group", "--value", "b", "--value", "c", "--wait", "0", NAME, "--", "true")) == 75);
    cr_assert(status_of(COMMAND("run", "--kind", "group", "--value", "c", "--wait", "0", NAME, "--", "true")) == 0);
    cr_assert(status_of(COMMAND("run", "--kind", "group", "--codec", "string", "--value", "a", "--wait", "0", NAME, "--",
                                "true")) == 0);
    end_under(c);
    assert_no_keys();
}

Test(command_kinds, a_group_is_forced_open_as_a_whole)
{
    command *c = start_under(COMMAND("run", "--kind", "group", "--value", "a", NAME, "--", UNTIL_LINE));
    cr_assert(status_of(COMMAND("force-unlock", NAME)) == 0);
    assert_no_keys();
    command_free(c);
}

Test(command_kinds, a_group_needs_its_values)
{
    cr_assert(status_of(COMMAND("run", "--kind", "group", NAME, "--", "true")) == 64);
    cr_assert(status_of(COMMAND("run", "--value", "a", NAME, "--", "true")) == 64);
    cr_assert(status_of(COMMAND("run", "--codec", "string", NAME, "--", "true")) == 64);
    cr_assert(status_of(COMMAND("run", "--kind", "group", "--value", "a", "--codec", "x", NAME, "--", "true")) == 64);
}

Test(command_kinds, a_sharded_run_gives_its_command_the_part)
{
    command *runs[2];
    int seen = 0;
    for (int i = 0; i < 2; i++) {
        runs[i] = start(COMMAND("run", "--kind", "sharded", "--shards", "2", NAME, "--", "sh", "-c",
                                "echo part $RLOCK_SHARD; read line"));
        cr_assert(command_says(runs[i], "part ", SOON_MS));
        seen |= 1 << atoi(strstr(command_out(runs[i]), "part ") + 5);
    }
    cr_assert(seen == 3, "both run under one part");
    outcome found = run(COMMAND("run", "--kind", "sharded", "--shards", "2", "--wait", "0", NAME, "--", "true"));
    cr_assert(found.status == 75);
    cr_assert_str_eq(found.err, "rlock: all 2 parts of the sharded lock \"" NAME "\" are held by others; rlock ls '" NAME
                                ":*' shows by whom\n");
    outcome_free(&found);
    found = run(COMMAND("run", "--kind", "sharded", "--shards", "2", "--wait", "0.1", NAME, "--", "true"));
    cr_assert(found.status == 75);
    cr_assert_str_eq(found.err, "rlock: no part of the sharded lock \"" NAME "\" became free within 100 ms; rlock ls '" NAME
                                ":*' shows the holders\n");
    outcome_free(&found);
    for (int i = 0; i < 2; i++)
        end_under(runs[i]);
    assert_no_keys();
    cr_assert(status_of(COMMAND("run", "--kind", "sharded", NAME, "--", "true")) == 64);
    cr_assert(status_of(COMMAND("run", "--shards", "2", NAME, "--", "true")) == 64);
}

/* Readers together, the writer alone. */
Test(command_kinds, runs_that_read_share_and_the_one_that_writes_does_not)
{
    command *first = start_under(COMMAND("run", "--kind", "read", NAME, "--", UNTIL_LINE));
    command *second = start_under(COMMAND("run", "--kind", "read", NAME, "--", UNTIL_LINE));
    cr_assert(status_of(COMMAND("run", "--kind", "write", "--wait", "0", NAME, "--", "true")) == 75);
    command *writer = start(COMMAND("run", "--kind", "write", NAME, "--", UNTIL_LINE));
    cr_assert(server_wait_subscribers(stage.server, "redisson_rwlock:{" NAME "}", 1, SOON_MS));
    end_under(first);
    cr_assert_str_eq(command_out(writer), "");
    end_under(second);
    cr_assert(command_says(writer, "under", SOON_MS));
    cr_assert(status_of(COMMAND("run", "--kind", "read", "--wait", "0", NAME, "--", "true")) == 75);
    end_under(writer);
    assert_no_keys();
}

/* Each kind is watched over and ends its command when it is lost. */
Test(command_kinds, a_lost_lock_of_any_kind_ends_the_command, .lasts = 19)
{
    static const char *const kinds[] = {"fair", "spin", "fenced", "read", "write", "non-reentrant"};
    const char *quick = server_url_with(stage.server, STAGE_QUICK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        command *c = command_start(quick, COMMAND("run", "--kind", kinds[i], NAME, "--", "sh", "-c", "echo under; exec cat"));
        cr_assert(command_says(c, "under", SOON_MS));
        foreign_vanish(NAME);
        int64_t begin_ms = now_ms();
        cr_assert(command_wait(c, SOON_MS) == 70, "%s: %s", kinds[i], command_err(c));
        assert_between(now_ms() - begin_ms, 0, at_most_ms(1500));
        cr_assert(strncmp(command_err(c), "rlock: the lock \"" NAME "\" was lost", 32) == 0, "%s", command_err(c));
        command_free(c);
    }
}

/* --- force-unlock --- */

static void assert_forced(const char *const *words, bool was_locked)
{
    outcome found = run(words);
    cr_assert(found.status == 0, "%s", found.err);
    cr_assert_str_eq(found.out, was_locked ? NAME ": was locked, is free now\n" : NAME ": was not locked\n");
    outcome_free(&found);
}

/* With and without --kind, the first in the queue runs. */
Test(command_kinds, a_forced_fair_lock_goes_to_the_first_in_its_queue)
{
    for (int given = 0; given < 2; given++) {
        foreign_hold(NAME, 60000);
        command *c = start(COMMAND("run", "--kind", "fair", NAME, "--", UNTIL_LINE));
        cr_assert(wait_queued(1));
        if (given)
            assert_forced(COMMAND("force-unlock", "--kind", "fair", NAME), true);
        else
            assert_forced(COMMAND("force-unlock", NAME), true);
        cr_assert(command_says(c, "under", SOON_MS));
        end_under(c);
    }
}

Test(command_kinds, one_side_of_a_read_write_lock_is_forced_only_when_it_is_held)
{
    server_listen(stage.server);
    rlock_read_write_lock *both = rlock_get_read_write_lock(stage.client, NAME);
    rlock *sides[] = {rlock_read_lock(both), rlock_write_lock(both)};
    static const char *const names[] = {"read", "write"}, *const messages[] = {"0", "1"};
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_lock(sides[i]));
        assert_forced(COMMAND("force-unlock", "--kind", names[1 - i], NAME), false);
        cr_assert(server_integer(stage.server, "EXISTS %s", NAME) == 1);
        assert_forced(COMMAND("force-unlock", "--kind", names[i], NAME), true);
        cr_assert(server_heard(stage.server, "redisson_rwlock:{" NAME "}", messages[i], SOON_MS));
        assert_status(rlock_unlock(sides[i]), RLOCK_LOST);
        assert_ok(rlock_lock(sides[i]));
        assert_forced(COMMAND("force-unlock", NAME), true);
        assert_status(rlock_unlock(sides[i]), RLOCK_LOST);
        cr_assert(server_integer(stage.server, "EXISTS %s", NAME) == 0);
        rlock_free(sides[i]);
    }
    rlock_read_write_lock_free(both);
}

Test(command_kinds, a_semaphore_is_not_forced_open)
{
    freeReplyObject(server_command(stage.server, "SET " NAME " 3"));
    outcome found = run(COMMAND("force-unlock", NAME));
    cr_assert(found.status == 76);
    cr_assert_str_eq(found.err, "rlock: \"" NAME "\" is a number, as that of a semaphore or a latch, and not a lock; "
                                "nothing was changed\n");
    outcome_free(&found);
    cr_assert(status_of(COMMAND("force-unlock", "--kind", "semaphore", NAME)) == 64);
    cr_assert(server_integer(stage.server, "GET " NAME) == 3);
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    cr_assert(status_of(COMMAND("run", "--kind", "permit", "--set-permits", "2", NAME, "--", "true")) == 0);
    found = run(COMMAND("force-unlock", NAME));
    cr_assert(found.status == 76);
    cr_assert(strstr(found.err, "\"" NAME "\" is ") && strstr(found.err, "and not a lock; nothing was changed"), "%s",
              found.err);
    outcome_free(&found);
}
