/* Dead waiters: those whose process is gone are passed over some two seconds after their turn came,
 * whoever lets go of the lock and whoever comes next; the living ones are not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fair_dead, .init = stage_open, .fini = stage_close);

#define UNHEARD_MS 2000 /* how long a head that nobody hears is left in its place */
#define LATE_MS 5000

/* Its turn came at `since_ms`, and it was passed over in time. */
static void assert_passed_over(const char *what, int64_t since_ms, int64_t at_ms)
{
    int64_t took_ms = at_ms - since_ms;
    cr_assert(took_ms >= UNHEARD_MS - 50 && took_ms <= LATE_MS + at_most_ms(500),
              "%s: passed over after %lld ms", what, (long long)took_ms);
}

/* A living one of Redisson's has `place`, behind what is dead. */
static redisContext *living_behind(const char *name, int number)
{
    foreign_queue(name, number, 600000);
    return foreign_listen(name, number);
}

static void kill_a_waiter(const char *name)
{
    command *run = command_start(server_url(stage.server), COMMAND("run", "--kind", "fair", name, "--", "true"));
    cr_assert(wait_queued(name, 1, 10000) && wait_all_listen(name, 10000), "%s", command_err(run));
    command_signal(run, SIGKILL);
    cr_assert(command_wait(run, 10000) == -SIGKILL);
    command_free(run);
    cr_assert(queue_length(name) == 1);
}

/* The lock was taken as another kind than that which gives it back. */
Test(fair_dead, head_is_passed_over_after_the_unlock_of_a_plain_hold)
{
    assert_ok(rlock_lock(lock_of(stage.client, "order")));
    foreign_queue("order", 1, 600000);
    redisContext *behind = living_behind("order", 2);
    assert_ok(rlock_unlock(fair_of(stage.client, "order")));
    cr_assert(foreign_told(behind, 30000));
    redisFree(behind);
}

/* Side by side, since each takes its two seconds. Somebody who reads all messages along is no waiter. */
RealTest(fair_dead, head_is_passed_over_two_seconds_after_its_turn_came)
{
    rlock_client *closing = stage_client(NULL);
    server_listen(stage.server);
    int64_t since_ms = now_ms();

    /* Released by us; no other waiter is ours. */
    rlock *ours = fair_of(stage.client, "released by us");
    assert_ok(rlock_lock(ours));
    foreign_queue("released by us", 1, 600000);
    redisContext *behind_ours = living_behind("released by us", 2);
    assert_ok(rlock_unlock(ours));

    /* Released by Redisson; the waiter is ours. */
    foreign_hold("released by Redisson", 60000);
    foreign_queue("released by Redisson", 1, 600000);
    rlock *theirs = fair_of(stage.client, "released by Redisson");
    actor *behind_theirs = actor_start();
    actor_begin_lock(behind_theirs, theirs);
    cr_assert(wait_queued("released by Redisson", 2, 5000));

    /* Run out; nobody unlocks; the living one is Redisson's, the one behind it ours. */
    foreign_hold("run out", 200);
    foreign_queue("run out", 1, 600000);
    redisContext *behind_run_out = living_behind("run out", 2);
    actor *last = actor_start();
    actor_begin_lock(last, fair_of(stage.client, "run out"));

    /* Killed with -9. */
    rlock *held = fair_of(stage.client, "killed");
    assert_ok(rlock_lock(held));
    kill_a_waiter("killed");
    actor *behind_killed = actor_start();
    actor_begin_try(behind_killed, fair_of(stage.other, "killed"), 60000, 1000);
    cr_assert(wait_queued("killed", 2, 5000));

    /* Its client was closed while it waited; released by us, with a message that it has no more. */
    rlock *left = fair_of(stage.client, "closed");
    assert_ok(rlock_lock(left));
    actor *closed = queue_up(fair_of(closing, "closed"));
    actor *behind_closed = queue_up(fair_of(stage.other, "closed"));
    stage_close_client(closing);
    assert_status(actor_finish(closed, 5000), RLOCK_CLOSED);

    /* An unlock that comes when the key is gone. */
    rlock *lost = fair_of(stage.client, "lost");
    assert_ok(rlock_lock(lost));
    foreign_queue("lost", 1, 600000);
    redisContext *behind_lost = living_behind("lost", 2);
    foreign_vanish("lost");
    assert_status(rlock_unlock(lost), RLOCK_LOST);

    /* Forced open, by a client that has done nothing else yet; no other waiter is ours. */
    foreign_hold("forced", 60000);
    foreign_queue("forced", 1, 600000);
    redisContext *behind_forced = living_behind("forced", 2);
    rlock_client *forcing = stage_client(NULL);
    bool was_locked = false;
    assert_ok(rlock_force_unlock(fair_of(forcing, "forced"), &was_locked));
    cr_assert(was_locked);

    cr_assert(wait_queued("released by Redisson", 2, 5000));
    int64_t released_ms = now_ms();
    foreign_fair_release("released by Redisson");
    assert_ok(rlock_unlock(held));
    assert_ok(rlock_unlock(left));

    cr_assert(foreign_told(behind_ours, LATE_MS + 1000));
    assert_passed_over("released by us", since_ms, now_ms());
    cr_assert(foreign_told(behind_run_out, 10000));
    assert_passed_over("run out", since_ms, now_ms());
    cr_assert(foreign_told(behind_lost, 10000));
    assert_passed_over("an unlock of what was lost", since_ms, now_ms());
    cr_assert(foreign_told(behind_forced, 10000));
    assert_passed_over("forced", since_ms, now_ms());
    assert_ok(actor_finish(behind_theirs, 5000));
    assert_passed_over("released by Redisson", released_ms, actor_ended_at(behind_theirs));
    assert_ok(actor_finish(behind_killed, 5000));
    assert_passed_over("killed", released_ms, actor_ended_at(behind_killed));
    assert_ok(actor_finish(behind_closed, 5000));
    assert_passed_over("closed", released_ms, actor_ended_at(behind_closed));
    cr_assert(queue_length("released by us") == 1 && queue_length("lost") == 1 && queue_length("run out") == 2);

    redisFree(behind_ours);
    redisFree(behind_run_out);
    redisFree(behind_lost);
    redisFree(behind_forced);
    actor *all[] = {behind_theirs, last, behind_killed, closed, behind_closed};
    stage_close_client(stage.client);
    stage.client = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        actor_end(all[i]);
}

/* The lock is free, as its head finds that gives up its place; the next one does not hear it. */
TimedTest(fair_dead, head_behind_one_that_gave_up_is_passed_over)
{
    foreign_hold("given up", 60000);
    monitor *tap = monitor_open();
    actor *leaving = queue_up_for(fair_of(stage.client, "given up"), 900, 1000);
    while (monitor_ran(tap, &rli_script_fair_acquire) < 2) /* once more when it listens: not again before it gives up */
        pass_ms(1);
    monitor_close(tap);
    foreign_queue("given up", 1, 600000);
    redisContext *behind = living_behind("given up", 2);
    int64_t since_ms = now_ms();
    foreign_vanish("given up");
    assert_status(actor_finish(leaving, 5000), RLOCK_TIMEOUT);
    cr_assert(foreign_told(behind, 10000));
    assert_passed_over("given up", since_ms, now_ms());
    redisFree(behind);
    actor_end(leaving);
}

/* It does not listen. Returns how many wait then. */
static int64_t queue_deaf(const char *name, const char *owner)
{
    int64_t count = server_integer(stage.server, "RPUSH redisson_lock_queue:{%s} %s", name, owner);
    set_score(name, owner, server_time_ms() + 600000);
    return count;
}

/* A waiter of this library's, whose process is dead. */
static void queue_ghost(const char *name, int number)
{
    char owner[64];
    snprintf(owner, sizeof owner, "00000000-0000-8000-8000-000000000000:%d", number);
    cr_assert(queue_deaf(name, owner) == number);
}

/* Dead waiters of one process stand before a living one. */
static void assert_ghosts_are_passed_over(rlock *lock, int ghosts)
{
    assert_ok(rlock_lock(lock));
    for (int i = 1; i <= ghosts; i++)
        queue_ghost("order", i);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_queued("order", ghosts + 1, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 30000));
    assert_passed_over("order", since_ms, actor_ended_at(waiter));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* A process that dies may have had many waiters. */
TimedTest(fair_dead, heads_of_one_client_are_passed_over_together)
{
    assert_ghosts_are_passed_over(fair_of(stage.client, "order"), 5);
}

/* A server that has gone back to an older state: the places are of this client, and it knows that it has them no more. */
TimedTest(fair_dead, places_of_the_asking_client_are_passed_over_at_once)
{
    rlock *lock = fair_of(stage.client, "order");
    for (int i = 0; i < 50; i++) {
        char owner[64];
        snprintf(owner, sizeof owner, "%s:%d", rlock_client_id(stage.client), 1000 + i);
        queue_deaf("order", owner);
    }
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    actor_begin_lock(waiter, lock);
    assert_ok(actor_finish(waiter, 30000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, 2000);
    cr_assert(queue_length("order") == 0);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Its master may have replicas. */
static rlock *fair_beside_replicas(void)
{
    char url[80];
    snprintf(url, sizeof url, "redis-replicated://127.0.0.1:%d", server_port(stage.server));
    return fair_of(stage_client_at(url), "order");
}

/* Where replicas may have listeners, too, those of this library are still connected to the master. */
TimedTest(fair_dead, heads_of_this_library_are_passed_over_beside_replicas)
{
    assert_ghosts_are_passed_over(fair_beside_replicas(), 2);
}

/* Those of Redisson may be connected to a replica. */
TimedTest(fair_dead, heads_of_another_library_are_left_alone_beside_replicas)
{
    foreign_queue("order", 1, 600000);
    assert_status(rlock_try_lock(fair_beside_replicas(), 15000, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(queue_length("order") == 1, "it has lost its place");
}

/* Waiters of Redisson's whose messages were away for two seconds: only the head has lost its place, and the next one is
 * told. They would not ask by themselves for minutes. */
TimedTest(fair_dead, waiters_of_another_library_are_passed_over_one_by_one)
{
    rlock *lock = fair_of(stage.client, "order");
    redisContext *back[5];
    assert_ok(rlock_lock(lock));
    for (int i = 1; i <= 5; i++)
        foreign_queue("order", i, 600000);
    assert_ok(rlock_unlock(lock));
    pass_ms(UNHEARD_MS + 200);
    for (int i = 0; i < 5; i++)
        back[i] = foreign_listen("order", i + 1);
    cr_assert(queue_length("order") == 4 && strcmp(queued_at("order", 0), foreign_owner(2)) == 0);
    cr_assert(foreign_told(back[1], 5000));
    for (int i = 0; i < 5; i++)
        redisFree(back[i]);
}

/* As foreign hands leave it. */
TimedTest(fair_dead, owner_without_a_name_is_passed_over_by_force)
{
    rlock *lock = fair_of(stage.client, "order");
    bool freed = false;
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(stage.server, "RPUSH redisson_lock_queue:{order} %s", "") == 1);
    set_score("order", "", server_time_ms() + 600000);
    redisContext *behind = living_behind("order", 2);
    assert_ok(rlock_force_unlock(lock, &freed));
    cr_assert(freed && foreign_told(behind, 10000));
    redisFree(behind);
}

/* Each takes two seconds. Meanwhile a living head of Redisson's, which is told again and again
 * and does not take the lock, is left where it is; and so is one that came back in time. */
TimedTest(fair_dead, heads_are_passed_over_one_after_the_other)
{
    rlock *ours = fair_of(stage.client, "two"), *theirs = fair_of(stage.client, "two of theirs");
    assert_ok(rlock_lock(ours));
    foreign_hold("two of theirs", 60000);
    actor *waiters[4] = {NULL};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "two of theirs" : "two";
        foreign_queue(name, 1, 600000);
        foreign_queue(name, 2, 600000);
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], i ? theirs : ours);
        cr_assert(wait_queued(name, 3, 5000));
    }

    foreign_queue("living", 1, 600000);
    redisContext *living = foreign_listen("living", 1);
    waiters[2] = actor_start();
    actor_begin_try(waiters[2], fair_of(stage.client, "living"), 60000, 1000);
    foreign_queue("coming back", 1, 600000);
    waiters[3] = actor_start();
    actor_begin_try(waiters[3], fair_of(stage.client, "coming back"), 60000, 1000);
    cr_assert(wait_queued("coming back", 2, 5000));

    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(ours));
    foreign_fair_release("two of theirs");
    cr_assert(!actor_ended(waiters[0], UNHEARD_MS / 2));
    redisContext *back = foreign_listen("coming back", 1);
    for (int i = 0; i < 2; i++) {
        assert_ok(actor_finish(waiters[i], 3 * UNHEARD_MS));
        int64_t took_ms = actor_ended_at(waiters[i]) - since_ms;
        assert_between(took_ms, 2 * UNHEARD_MS - 50, 2 * UNHEARD_MS + 2000 + at_most_ms(500));
    }
    cr_assert(strcmp(queued_at("living", 0), foreign_owner(1)) == 0, "a living waiter was removed");
    cr_assert(strcmp(queued_at("coming back", 0), foreign_owner(1)) == 0, "one that came back was removed");
    cr_assert(foreign_told(living, 0) && foreign_told(back, 0));
    redisFree(living);
    redisFree(back);
    stage_close_client(stage.client);
    stage.client = NULL;
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
}
