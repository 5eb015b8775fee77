/* Processes on a cluster: forked children, and the command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/command_process.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <string.h>

TestSuite(cluster_processes, .init = shards_open, .fini = shards_close);

#define SOON_MS 10000

static rlock *held;

static const char *tries_in_vain(child *self)
{
    (void)self;
    child_check(rlock_unlock(held) == RLOCK_FORKED);
    child_check(rlock_lock(held) == RLOCK_FORKED);
    rlock_client_close(shards.client);
    return NULL;
}

Test(cluster_processes, forked_child_gets_an_answer_and_does_not_disturb_its_parent)
{
    const char *name = cluster_key(shards.cluster, 1, "forked:");
    held = lock_of(shards.client, name);
    rlock *theirs = lock_of(shards.other, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, theirs);
    cr_assert(shards_wait_channels_at(1, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    child_await_rest();
    in_child(tries_in_vain);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(500));
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
}

Test(cluster_processes, run_holds_its_lock_while_its_command_runs)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "run:");
        rlock *lock = lock_of(shards.client, name);
        command *runs = command_start(cluster_url(shards.cluster), COMMAND("run", name, "--", "cat"));
        cr_assert(server_wait_exists(cluster_node(shards.cluster, node), name, true, SOON_MS));
        assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
        command_close_input(runs);
        cr_assert(command_wait(runs, SOON_MS) == 0, "%s", command_err(runs));
        assert_ok(rlock_try_lock(lock, 0, 1000));
        assert_ok(rlock_unlock(lock));
        command_free(runs);
    }
    shards_assert_nothing_left();
}

Test(cluster_processes, inspect_shows_a_lock_wherever_it_is)
{
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "seen:");
        rlock *lock = lock_of(shards.client, name);
        assert_ok(rlock_lock(lock));
        outcome seen = command_outcome(cluster_url(shards.cluster), COMMAND("inspect", name));
        cr_assert(seen.status == 0 && strstr(seen.out, rlock_client_id(shards.client)), "%d: %s%s", seen.status,
                  seen.out, seen.err);
        outcome_free(&seen);
        assert_ok(rlock_unlock(lock));
    }
    outcome refused = command_outcome(cluster_url(shards.cluster), COMMAND("inspect", "a{b"));
    cr_assert(refused.status != 0 && strstr(refused.err, "slot"), "%d: %s", refused.status, refused.err);
    outcome_free(&refused);
}

/* A name that a signal-list lock cannot have here is a mistake of the command line, and not of the system. */
Test(cluster_processes, signal_list_lock_wants_braces)
{
    const char *const *words[] = {COMMAND("force-unlock", "--kind", "signal", "job"),
                                  COMMAND("run", "--kind", "signal", "job", "--", "true")};
    for (int i = 0; i < 2; i++) {
        outcome refused = command_outcome(cluster_url(shards.cluster), words[i]);
        cr_assert(refused.status == 64 && strstr(refused.err, "between { and }"), "%d: %s", refused.status, refused.err);
        outcome_free(&refused);
    }
}

/* On each master, and of none but masters. */
Test(cluster_processes, ls_and_doctor_ask_all_masters)
{
    rlock *locks[MASTERS];
    for (int node = 0; node < MASTERS; node++) {
        locks[node] = lock_of(shards.client, cluster_key(shards.cluster, node, "listed:"));
        assert_ok(rlock_lock(locks[node]));
    }
    outcome listed = command_outcome(cluster_url(shards.cluster), COMMAND("ls", "listed:*"));
    outcome checked = command_outcome(cluster_url(shards.cluster), COMMAND("doctor"));
    cr_assert(listed.status == 0 && checked.status == 0, "%s%s%s", listed.err, checked.err, checked.out);
    int versions = 0, lines = 0;
    for (const char *at = checked.out; (at = strstr(at, ": version: ")); at++)
        versions++;
    for (const char *at = listed.out; (at = strchr(at, '\n')); at++)
        lines++;
    cr_assert(versions == MASTERS && lines == MASTERS, "%s%s", listed.out, checked.out);
    for (int node = 0; node < MASTERS; node++) {
        cr_assert(strstr(listed.out, rlock_name(locks[node])), "%s", listed.out);
        assert_ok(rlock_unlock(locks[node]));
    }
    outcome_free(&listed);
    outcome_free(&checked);
}
