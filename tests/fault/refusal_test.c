/* Refusals: a server that is there, and will not or cannot do what it is asked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"

#include <string.h>

TestSuite(refusal, .init = scene_watchdog, .fini = scene_close);

#define NAME "order"

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

/* Nothing new is held; what is held can be given back. */
Test(refusal, for_want_of_memory_takes_nothing_and_keeps_nothing)
{
    rlock *lock = lock_of(scene.client, NAME), *another = lock_of(scene.client, "another");
    assert_ok(rlock_lock(lock));
    say("CONFIG SET maxmemory 1");
    assert_status(rlock_lock(another), RLOCK_SERVER);
    assert_error("OOM");
    cr_assert(rlock_valid_for(another) == 0);
    pass_ms(2 * WATCHDOG_MS); /* its renewals need no memory */
    cr_assert(rlock_valid_for(lock) > 0 && pttl_of(NAME) > 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Their renewals write numbers in place of others. */
Test(refusal, for_want_of_memory_loses_no_group_lock_and_no_permit)
{
    const int64_t values[] = {1, 2};
    rlock *group = stage_keep(rlock_get_group_lock_of_longs(scene.client, NAME, RLOCK_CODEC_KRYO5, values, 2));
    rlock_permit_semaphore *permits = permits_of(scene.client, "permits");
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_set_permits(permits, 1));
    assert_ok(rlock_permit_semaphore_try_acquire(permits, 0, RLOCK_PERMIT_WATCHDOG, &permit));
    assert_ok(rlock_lock(group));
    say("CONFIG SET maxmemory 1");
    pass_ms(2 * WATCHDOG_MS);
    cr_assert(rlock_valid_for(group) > 0 && rlock_permit_semaphore_valid_for(permits, permit.id) > 0);
    assert_ok(rlock_permit_semaphore_release(permits, permit.id));
    assert_ok(rlock_unlock(group));
}

Test(refusal, for_want_of_memory_keeps_no_permit_and_no_count)
{
    rlock_semaphore *permits = semaphore_of(scene.client, "permits");
    rlock_count_down_latch *latch = latch_of(scene.client, "latch");
    bool set;
    int available = 0;
    assert_ok(rlock_semaphore_try_set_permits(permits, 2, &set));
    assert_ok(rlock_semaphore_try_acquire(permits, 2, 0));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 2, &set));
    say("CONFIG SET maxmemory 1");
    assert_ok(rlock_semaphore_release(permits, 1));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_ok(rlock_semaphore_available_permits(permits, &available));
    cr_assert(available == 1);
}

/* A master that has become a replica: renewals are refused, so the hold ends at its deadline. */
Test(refusal, by_a_replica_loses_the_hold_at_its_deadline)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
    rlock *lock = lock_of(scene.client, NAME), *another = lock_of(scene.client, "another");
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t until_ms = now_ms() + WATCHDOG_MS;
    say("REPLICAOF 127.0.0.1 1");
    assert_status(rlock_lock(another), RLOCK_SERVER);
    assert_error("READONLY");
    cr_assert(event_wait_ms(&lost.came, 2 * WATCHDOG_MS), "the loss was not told");
    assert_between(lost.all[0].at_ms, since_ms + WATCHDOG_MS * 99 / 100 - 1, until_ms + at_most_ms(100));
    cr_assert(lost.all[0].reason == RLOCK_LOST_REFUSED);
    say("REPLICAOF NO ONE");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_error("\"" NAME "\"", "refused to renew it: it is a replica now (READONLY);");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* Two holds, each of which was refused alone, are renewed together again; then nothing is answered any more. */
Test(refusal, that_has_passed_is_not_the_reason_of_a_later_loss)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
    rlock *locks[] = {lock_of(scene.client, NAME), lock_of(scene.client, "another")};
    int renewals[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_lock(locks[i]));
        renewals[i] = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_NOTE, .text = i ? "another" : NAME});
    }
    say("REPLICAOF 127.0.0.1 1");
    for (int i = 0; i < 2; i++)
        cr_assert(proxy_await(scene.proxy, renewals[i], PROXY_ANSWERED, 4, WATCHDOG_MS));
    say("REPLICAOF NO ONE");
    for (int i = 0; i < 2; i++)
        cr_assert(wait_renewed(i ? "another" : NAME, WATCHDOG_MS));
    proxy_pass(scene.proxy, false, false);
    losses_await(&lost, 2, 2 * WATCHDOG_MS);
    for (int i = 0; i < 2; i++)
        cr_assert(lost.all[i].reason == RLOCK_LOST_EXPIRED, "%s", lost.all[i].said);
    proxy_pass(scene.proxy, true, true);
}

/* Writes are put off, longer than a caller's patience, and all run when the pause ends. */
Test(refusal, of_writes_for_a_while_leaves_nothing_behind)
{
    rlock *lock = lock_of(scene.client, NAME), *held = lock_of(scene.client, "held");
    assert_ok(rlock_lock_lease(held, 60000));
    say("CLIENT PAUSE 60000 WRITE");
    assert_status(rlock_lock_lease(lock, 60000), RLOCK_UNAVAILABLE);
    assert_status(rlock_unlock(held), RLOCK_UNAVAILABLE);
    say("CLIENT UNPAUSE");
    int64_t since_ms = now_ms();
    cr_assert(server_wait_exists(stage.server, "held", false, 5000), "held by nobody");
    assert_ok(rlock_try_lock(lock, 5000, RLOCK_WATCHDOG));
    assert_between(now_ms() - since_ms, 0, 5000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* The client connects anew after READONLY: also who is connecting just then. That is no failure of this call. */
TimedTest(refusal, by_a_replica_costs_no_attempt_of_a_call_that_is_connecting)
{
    rlock_client *client = scene_client("timeout=2000&connectTimeout=2000&retryAttempts=0");
    rlock *lock = lock_of(client, NAME), *another = lock_of(client, "another");
    actor *caller = actor_start();
    say("REPLICAOF 127.0.0.1 1");
    pass_ms(200); /* a call sees at once that a connection unused for so long was closed */
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "INFO", .times = 1});
    proxy_cut(scene.proxy);
    actor_begin_lock(caller, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    assert_status(rlock_lock(another), RLOCK_SERVER);
    assert_status(actor_finish(caller, 5000), RLOCK_SERVER);
    cr_assert(strstr(actor_error(caller), "READONLY"), "%s", actor_error(caller));
    say("REPLICAOF NO ONE");
    proxy_release(scene.proxy, rule);
    actor_end(caller);
    scene_close_client(client);
}
