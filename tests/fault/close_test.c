/* Closing while the server does not answer: calls under way end, threads are joined, at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/disk.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

/* So long that whoever waits for an answer is found out. */
#define SLOW "timeout=10000&connectTimeout=10000&retryAttempts=4&retryBaseDelay=10000&retryMaxDelay=10000"
#define PROMPTLY_MS 300
#define DEPARTURES_MS 1000 /* as of rlock_client_close */
#define NAME "order"

static void open_slow(void)
{
    scene_open_with(SLOW);
}

static void open_slow_watchdog(void)
{
    scene_open_with(SLOW "&lockWatchdogTimeout=3000");
}

TestSuite(closing, .init = open_slow, .fini = scene_close);
TestSuite(closing_watchdog, .init = open_slow_watchdog, .fini = scene_close);

static rlock_status is_locked(void *lock)
{
    bool locked;
    return rlock_is_locked(lock, &locked);
}

static rlock_status force(void *lock)
{
    return rlock_force_unlock(lock, NULL);
}

static void assert_closes_promptly(void)
{
    int64_t since_ms = now_ms();
    scene_close_client(scene.client);
    assert_between(now_ms() - since_ms, 0, at_most_ms(PROMPTLY_MS));
    /* The kernel takes a thread that was joined off its list a little later. */
    for (int64_t until_ms = limit_end_ms(1000); tasks_named("rlock-") > 0; pass_ms(1))
        cr_assert(now_ms() < until_ms, "a thread of the library is left");
}

static void assert_ended_closed(actor *caller, int64_t since_ms)
{
    assert_status(actor_finish(caller, 30000), RLOCK_CLOSED);
    assert_between(actor_ended_at(caller) - since_ms, 0, at_most_ms(PROMPTLY_MS));
    actor_end(caller);
}

/* Every call there is, each under way on a request that stalls, or behind one. */
Test(closing, ends_all_calls_under_way)
{
    rlock *lock = lock_of(scene.client, NAME), *held = owned_by(lock_of(scene.client, "held"), 7);
    rlock *foreign = lock_of(scene.client, "foreign");
    actor *acquiring = actor_start(), *behind = actor_start(), *timed = actor_start(), *asleep = actor_start();
    actor *unlocking = actor_start(), *asking = actor_start(), *forcing = actor_start();
    assert_ok(rlock_lock(held));
    foreign_hold("foreign", 60000);
    actor_begin_lock(asleep, foreign);
    cr_assert(wait_listened("foreign", 5000) && actor_asleep(asleep, 5000));

    int rule = on_text("EVALSHA", PROXY_HOLD_REQUEST, 0);
    actor_begin_lock(acquiring, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    actor_begin_lock(behind, lock);
    actor_begin_try(timed, lock, 20000, 1000);
    actor_begin_unlock(unlocking, held);
    actor_begin(asking, is_locked, lock);
    actor_begin(forcing, force, lock);
    actor *const all[] = {acquiring, behind, timed, unlocking, asking, forcing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cr_assert(actor_asleep(all[i], 5000), "call %zu does not wait", i);

    int64_t since_ms = now_ms();
    assert_closes_promptly();
    assert_ended_closed(acquiring, since_ms);
    assert_ended_closed(behind, since_ms);
    assert_ended_closed(timed, since_ms);
    assert_ended_closed(asleep, since_ms);
    assert_ended_closed(unlocking, since_ms);
    assert_ended_closed(asking, since_ms);
    /* Sent, not answered, not to be repeated: that says more than that the client is closed. */
    rlock_status forced = actor_finish(forcing, 30000);
    cr_assert(forced == RLOCK_UNKNOWN || forced == RLOCK_CLOSED, "%s", rlock_strstatus(forced));
    actor_end(forcing);
    assert_status(rlock_lock(lock), RLOCK_CLOSED);
}

/* Nothing answers, and neither do new connections. */
Test(closing, does_not_wait_for_a_connection_that_is_being_made)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *caller = actor_start(), *behind = actor_start();
    int rule = on_text("INFO", PROXY_HOLD_REQUEST, 0);
    proxy_cut(scene.proxy);
    actor_begin_lock(caller, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    actor_begin(behind, is_locked, lock);
    cr_assert(actor_asleep(behind, 5000));
    int64_t since_ms = now_ms();
    assert_closes_promptly();
    assert_ended_closed(caller, since_ms);
    assert_ended_closed(behind, since_ms);
}

Test(closing, does_not_wait_for_the_pause_between_attempts)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *caller = actor_start();
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    actor_begin_lock(caller, lock);
    cr_assert(actor_asleep(caller, 5000));
    int64_t since_ms = now_ms();
    assert_closes_promptly();
    assert_ended_closed(caller, since_ms);
}

/* The subscription was lost, and its next connection is not greeted. */
Test(closing, does_not_wait_for_the_subscriber)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *waiter = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    int rule = on_text("INFO", PROXY_HOLD_REQUEST, 0);
    proxy_cut_subscribers(scene.proxy);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    int64_t since_ms = now_ms();
    assert_closes_promptly();
    assert_ended_closed(waiter, since_ms);
}

/* The server itself stands still, in the middle of it all. */
Test(closing, does_not_wait_for_a_server_that_was_stopped)
{
    enum { ACTORS = 12 };
    actor *actors[ACTORS];
    rlock *locks[] = {lock_of(scene.client, "a"), lock_of(scene.client, "b"), lock_of(scene.client, "c")};
    for (int i = 0; i < ACTORS; i++)
        actors[i] = actor_start();
    server_freeze(stage.server);
    for (int i = 0; i < ACTORS; i++)
        actor_begin_lock(actors[i], locks[i % 3]);
    for (int i = 0; i < ACTORS; i++)
        cr_assert(actor_asleep(actors[i], 5000));
    int64_t since_ms = now_ms();
    assert_closes_promptly();
    for (int i = 0; i < ACTORS; i++)
        assert_ended_closed(actors[i], since_ms);
}

/* A renewal has left, and is not answered. */
Test(closing_watchdog, does_not_wait_for_a_renewal)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_renew, PROXY_HOLD_REQUEST, 0);
    assert_ok(rlock_lock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    assert_closes_promptly();
}

/* What a doubtful acquire may have taken is being given back, and that is not answered. */
Test(closing_watchdog, waits_a_second_for_what_is_in_doubt)
{
    rlock *lock = lock_of(scene.client, NAME);
    on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1);
    int rule = on_script(&rli_script_lock_release, PROXY_HOLD_REQUEST, 0);
    assert_status(rlock_try_lock(lock, 1, 60000), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    int64_t since_ms = now_ms();
    scene_close_client(scene.client);
    assert_between(now_ms() - since_ms, 0, at_most_ms(DEPARTURES_MS + PROMPTLY_MS));
}

/* The answers of the first requests come too late for their callers. */
static void delay_give_back(const rli_script *script)
{
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = script->sha1[RLI_COUNTED], .amount = 100});
}

TimedTest(closing_watchdog, gives_back_what_is_in_doubt)
{
    rlock *lock = lock_of(scene.client, NAME);
    on_script(&rli_script_lock_acquire, PROXY_HOLD_REPLY, 1);
    delay_give_back(&rli_script_lock_release);
    assert_status(rlock_try_lock(lock, 1, 60000), RLOCK_UNAVAILABLE);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 1);
    scene_close_client(scene.client);
    assert_no_keys();
}

TimedTest(closing_watchdog, gives_back_permits_in_doubt)
{
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(scene.client, NAME);
    rlock_permit permit;
    int available = 0;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, NULL));
    on_script(&rli_script_permit_semaphore_acquire, PROXY_HOLD_REPLY, 1);
    delay_give_back(&rli_script_permit_semaphore_undo);
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 1, 60000, &permit), RLOCK_UNAVAILABLE);
    scene_close_client(scene.client);
    rlock_permit_semaphore *others = rlock_get_permit_expirable_semaphore(stage.other, NAME);
    assert_ok(rlock_permit_semaphore_available_permits(others, &available));
    cr_assert(available == 1, "%d", available);
    rlock_permit_semaphore_free(others);
    rlock_permit_semaphore_free(semaphore);
}

/* An answered release alone does not show that the place in the queue was left: that takes a request of its own. */
TimedTest(closing_watchdog, leaves_the_queue_of_a_fair_lock_though_a_request_for_that_was_lost)
{
    rlock *lock = fair_of(scene.client, NAME), *held = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(held));
    on_script(&rli_script_fair_acquire, PROXY_HOLD_REPLY, 1);
    int rule = on_script(&rli_script_fair_give_up, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_try_lock(lock, 1, 60000), RLOCK_UNAVAILABLE);
    cr_assert(queue_length(NAME) == 1);
    scene_close_client(scene.client);
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1);
    cr_assert(queue_length(NAME) == 0, "its place is kept for a client that was closed");
    assert_ok(rlock_unlock(held));
}

/* Their leases have ended before anybody answered. */
TimedTest(closing_watchdog, does_not_wait_for_permits_that_are_over)
{
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(scene.client, NAME);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, NULL));
    on_script(&rli_script_permit_semaphore_acquire, PROXY_HOLD_REPLY, 1);
    on_text("EVAL", PROXY_CUT_BEFORE, 0); /* whatever is asked from here on */
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 1, 700, &permit), RLOCK_UNAVAILABLE);
    pass_ms(3000);
    assert_closes_promptly();
    rlock_permit_semaphore_free(semaphore);
}

/* However little time the watchdog has for an answer otherwise. */
TimedTest(closing_watchdog, ends_when_the_answer_of_a_slow_server_comes)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0&lockWatchdogTimeout=300");
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = NAME, .amount = 100});
    assert_status(rlock_try_lock(lock_of(client, NAME), 0, 60000), RLOCK_UNAVAILABLE);
    int64_t since_ms = now_ms();
    scene_close_client(client);
    assert_between(now_ms() - since_ms, 0, 800); /* the first answer was not awaited, and half a second later the next one is */
    assert_no_keys();
}

static rlock_status close_it(void *client)
{
    scene_close_client(client);
    return RLOCK_OK;
}

/* Cancelled while its request, which `rule` keeps, is under way. */
static void cancel_acquire(rlock *lock, int rule)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    actor *asker = actor_start();
    actor_begin_with(asker, lock, &options);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(asker, 5000), RLOCK_CANCELLED);
    actor_end(asker);
    rlock_cancel_free(options.cancel);
}

/* It is answered first that there is nothing to give back; another thread waits on the connection on which the request is
 * stuck, and reads there. */
TimedTest(closing, gives_back_what_comes_while_another_thread_reads)
{
    rlock_client *client = scene_client(SLOW "&connectionPoolSize=1");
    rlock *lock = lock_of(client, NAME);
    int rule = on_text(NAME, PROXY_HOLD_REQUEST, 1);
    cancel_acquire(lock, rule);
    actor *reader = actor_start(), *closer = actor_start();
    actor_begin_lock(reader, lock_of(client, "another"));
    cr_assert(actor_asleep(reader, 5000));
    pass_ms(700);
    actor_begin(closer, close_it, client);
    pass_ms(100);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(closer, 5000));
    (void)actor_finish(reader, 5000);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0, "it is held by nobody");
    actor_end(reader);
    actor_end(closer);
}

/* The first round of giving it back has found nothing. Its answer comes when the request has run. */
TimedTest(closing, gives_back_what_comes_during_a_round)
{
    rlock_client *client = scene_client(SLOW "&connectionPoolSize=1");
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1);
    int answer = on_script(&rli_script_lock_release, PROXY_HOLD_REPLY, 1);
    cancel_acquire(lock_of(client, NAME), rule);
    cr_assert(proxy_await(scene.proxy, answer, PROXY_ACTED, 1, 5000));
    actor *closer = actor_start();
    actor_begin(closer, close_it, client);
    pass_ms(50);
    let_through(rule);
    pass_ms(20);
    proxy_release(scene.proxy, answer);
    assert_ok(actor_finish(closer, 5000));
    assert_no_keys();
    actor_end(closer);
}

typedef struct permit_ask {
    rlock_permit_semaphore *semaphore;
    rlock_permit_options options;
    rlock_permit permit;
} permit_ask;

static rlock_status ask_for_permit(void *arg)
{
    permit_ask *self = arg;
    return rlock_permit_semaphore_acquire_with(self->semaphore, 1, &self->options, &self->permit);
}

/* The same for a permit. */
static void cancel_permit(rlock_permit_semaphore *semaphore, int rule)
{
    permit_ask ask = {.semaphore = semaphore, .options = RLOCK_PERMIT_OPTIONS_INIT};
    ask.options.cancel = rlock_cancel_new();
    actor *asker = actor_start();
    actor_begin(asker, ask_for_permit, &ask);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    rlock_cancel_fire(ask.options.cancel);
    assert_status(actor_finish(asker, 5000), RLOCK_CANCELLED);
    actor_end(asker);
    rlock_cancel_free(ask.options.cancel);
}

/* The second round of giving them back is under way, and the first was answered. */
TimedTest(closing, gives_back_permits_that_come_during_a_round)
{
    rlock_client *client = scene_client(SLOW "&connectionPoolSize=1");
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(client, NAME);
    actor *closer = actor_start();
    int left = 0;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 5, NULL));
    int rule = on_script(&rli_script_permit_semaphore_acquire, PROXY_HOLD_REQUEST, 1);
    int undone = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .skip = 1, .amount = 50,
                                                      .text = rli_script_permit_semaphore_undo.sha1[RLI_COUNTED]});
    cancel_permit(semaphore, rule);
    cr_assert(proxy_await(scene.proxy, undone, PROXY_ACTED, 1, 5000));
    actor_begin(closer, close_it, client);
    pass_ms(100);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(closer, 5000));
    rlock_permit_semaphore *others = rlock_get_permit_expirable_semaphore(stage.other, NAME);
    assert_ok(rlock_permit_semaphore_available_permits(others, &left));
    cr_assert(left == 5, "%d of 5 permits are left", left);
    rlock_permit_semaphore_free(others);
    rlock_permit_semaphore_free(semaphore);
    actor_end(closer);
}

/* The same while the answer to the first round is under way. No pause follows it. */
TimedTest(closing, gives_back_permits_that_come_before_the_answer_to_a_round)
{
    rlock_client *client = scene_client(SLOW "&connectionPoolSize=1");
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(client, NAME);
    actor *closer = actor_start();
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 5, NULL));
    int rule = on_script(&rli_script_permit_semaphore_acquire, PROXY_HOLD_REQUEST, 1);
    int answer = on_script(&rli_script_permit_semaphore_undo, PROXY_HOLD_REPLY, 1);
    cancel_permit(semaphore, rule);
    cr_assert(proxy_await(scene.proxy, answer, PROXY_ACTED, 1, 5000));
    actor_begin(closer, close_it, client);
    pass_ms(50);
    let_through(rule);
    pass_ms(20);
    int64_t since_ms = now_ms();
    proxy_release(scene.proxy, answer);
    assert_ok(actor_finish(closer, 5000));
    assert_between(actor_ended_at(closer) - since_ms, 0, 50);
    cr_assert(server_integer(stage.server, "GET " NAME) == 5, "a permit is gone");
    rlock_permit_semaphore_free(semaphore);
    actor_end(closer);
}

/* After an unanswered round there is a pause, for which close has no time. */
TimedTest(closing, gives_back_what_is_in_doubt_at_once_after_an_unanswered_round)
{
    rlock_client *client = scene_client("timeout=300&retryAttempts=0");
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    int rule = on_script(&rli_script_lock_release, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_try_lock(lock_of(client, NAME), 0, 60000), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    pass_ms(20);
    scene_close_client(client);
    assert_no_keys();
}

/* A node of a cluster that knows no more than who the masters are: their ports are its notes. */
static bool name_masters(impostor_peer *peer, const char *request)
{
    char map[320];
    if (!strstr(request, "\r\nSLOTS"))
        return impostor_answer(peer, request);
    snprintf(map, sizeof map,
             "*3\r\n*3\r\n:0\r\n:5460\r\n*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$1\r\na\r\n"
             "*3\r\n:5461\r\n:10922\r\n*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$1\r\nb\r\n"
             "*3\r\n:10923\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$1\r\nc\r\n",
             (int)impostor_noted(peer->of, 0), (int)impostor_noted(peer->of, 1), (int)impostor_noted(peer->of, 2));
    return impostor_say(peer, map);
}

/* The masters of a cluster, all in front of the same server. */
#define MASTERS 3
typedef struct masters {
    proxy *at[MASTERS];
    impostor *node;
    rlock_client *client;
} masters;

static const char *const names[] = {"order-2", "order-1", "order-0"}; /* one at each: slots 4769, 8898 and 13027 */

static masters open_masters(const char *query)
{
    char url[160];
    masters own = {.node = NULL};
    for (int i = 0; i < MASTERS; i++)
        own.at[i] = proxy_start_port(stage.server);
    own.node = impostor_start(name_masters, NULL);
    for (int i = 0; i < MASTERS; i++)
        impostor_note(own.node, i, proxy_port(own.at[i]));
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d/?timeout=2000&retryAttempts=0%s", impostor_port(own.node),
             query);
    assert_ok(rlock_client_open(&own.client, url));
    return own;
}

static void close_masters(masters *own, actor *closer)
{
    assert_ok(actor_finish(closer, 5000));
    actor_end(closer);
    for (int i = 0; i < MASTERS; i++)
        proxy_stop(own->at[i]);
    impostor_stop(own->node);
}

/* The answer to the next request to that master is lost, and the request that gives back what it took. Returns the rule
 * of the latter. */
static int lose_two(const masters *own, int which)
{
    proxy_add(own->at[which], &(proxy_rule){.act = PROXY_CUT_AFTER, .text = names[which], .times = 1});
    return proxy_add(own->at[which], &(proxy_rule){.act = PROXY_CUT_BEFORE, .text = names[which], .times = 1});
}

static actor *begin_closing(const masters *own)
{
    actor *closer = actor_start();
    actor_begin(closer, close_it, own->client);
    return closer;
}

/* Its acquire at that master is in doubt, and the first release was lost. */
static void leave_in_doubt(const masters *own, int which)
{
    rlock *lock = lock_of(own->client, names[which]);
    assert_ok(rlock_lock(lock)); /* the server knows the scripts from here on */
    assert_ok(rlock_unlock(lock));
    int rule = lose_two(own, which);
    assert_status(rlock_try_lock(lock, 0, 60000), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(own->at[which], rule, PROXY_ACTED, 1, 5000));
}

/* One master has stopped answering. Its lock has been in doubt for longer, and has the first turn. */
TimedTest(closing, gives_back_at_one_master_while_another_is_silent)
{
    masters own = open_masters("");
    leave_in_doubt(&own, 0);
    leave_in_doubt(&own, 1);
    proxy_pass(own.at[0], false, false);
    actor *closer = begin_closing(&own);
    pass_ms(800);
    cr_assert(server_integer(stage.server, "EXISTS %s", names[1]) == 0, "it had no turn");
    close_masters(&own, closer);
}

/* Five permits at that master, which knows their scripts. */
static rlock_permit_semaphore *permits_at(const masters *own, int which)
{
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(own->client, names[which]);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 5, NULL));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit));
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
    return semaphore;
}

TimedTest(closing, gives_back_permits_at_one_master_while_another_is_silent)
{
    masters own = open_masters("");
    rlock_permit permit;
    leave_in_doubt(&own, 0);
    rlock_permit_semaphore *semaphore = permits_at(&own, 1);
    int rule = lose_two(&own, 1);
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permit), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(own.at[1], rule, PROXY_ACTED, 1, 5000));
    proxy_pass(own.at[0], false, false);
    actor *closer = begin_closing(&own);
    pass_ms(800);
    cr_assert(server_integer(stage.server, "GET %s", names[1]) == 5, "they had no turn");
    close_masters(&own, closer);
    rlock_permit_semaphore_free(semaphore);
}

/* However much is in doubt at the silent one. */
TimedTest(closing, gives_back_at_one_master_while_much_is_in_doubt_at_another)
{
    enum { MANY = 12 };
    masters own = open_masters("");
    actor *takers[MANY];
    leave_in_doubt(&own, 1);
    int away = proxy_add(own.at[1], &(proxy_rule){.act = PROXY_CUT_BEFORE, .text = names[1]});
    proxy_add(own.at[0], &(proxy_rule){.act = PROXY_HOLD_REQUEST, .text = "{order-2}"});
    for (int i = 0; i < MANY; i++) {
        char name[40];
        snprintf(name, sizeof name, "%d {order-2}", i);
        takers[i] = actor_start();
        actor_begin_try(takers[i], lock_of(own.client, name), 1, 60000);
    }
    for (int i = 0; i < MANY; i++) {
        assert_status(actor_finish(takers[i], 10000), RLOCK_UNAVAILABLE);
        actor_end(takers[i]);
    }
    proxy_release(own.at[1], away);
    actor *closer = begin_closing(&own);
    pass_ms(600);
    cr_assert(server_integer(stage.server, "EXISTS %s", names[1]) == 0, "it had no turn");
    close_masters(&own, closer);
}

/* Permits are in doubt at two masters. The second one has cut its connections, and the first one is silent. */
TimedTest(closing, gives_back_permits_over_a_new_connection_while_another_master_is_silent)
{
    masters own = open_masters("");
    rlock_permit_semaphore *semaphores[2];
    rlock_permit permit;
    int away[2];
    for (int i = 0; i < 2; i++)
        semaphores[i] = permits_at(&own, i);
    for (int i = 1; i >= 0; i--) {
        proxy_add(own.at[i], &(proxy_rule){.act = PROXY_CUT_AFTER, .text = names[i], .times = 1});
        away[i] = proxy_add(own.at[i], &(proxy_rule){.act = PROXY_CUT_BEFORE, .text = names[i]});
        assert_status(rlock_permit_semaphore_try_acquire(semaphores[i], 0, RLOCK_PERMIT_FOREVER, &permit),
                      RLOCK_UNAVAILABLE);
    }
    pass_ms(1300);
    for (int i = 0; i < 2; i++)
        proxy_release(own.at[i], away[i]);
    proxy_pass(own.at[0], false, false);
    proxy_cut(own.at[1]);
    actor *closer = begin_closing(&own);
    pass_ms(900);
    cr_assert(server_integer(stage.server, "GET %s", names[1]) == 5, "they had no turn");
    close_masters(&own, closer);
    for (int i = 0; i < 2; i++)
        rlock_permit_semaphore_free(semaphores[i]);
}

/* Much is in doubt at each of the two, and has waited longer. */
TimedTest(closing, gives_back_at_one_master_while_two_others_are_silent)
{
    enum { MANY = 6 };
    masters own = open_masters("");
    char name[40];
    rlock *good = lock_of(own.client, names[2]);
    assert_ok(rlock_lock(good));
    assert_ok(rlock_unlock(good));
    for (int i = 0; i < 2; i++)
        proxy_add(own.at[i], &(proxy_rule){.act = PROXY_CUT_AFTER, .text = names[i]});
    for (int i = 0; i < 2 * MANY; i++) {
        snprintf(name, sizeof name, "%d {%s}", i, names[i % 2]);
        assert_status(rlock_try_lock(lock_of(own.client, name), 0, 60000), RLOCK_UNAVAILABLE);
    }
    proxy_add(own.at[2], &(proxy_rule){.act = PROXY_CUT_AFTER, .text = names[2], .times = 1});
    assert_status(rlock_try_lock(good, 0, 60000), RLOCK_UNAVAILABLE);
    cr_assert(server_integer(stage.server, "EXISTS %s", names[2]) == 1);
    for (int i = 0; i < 2; i++)
        proxy_pass(own.at[i], false, false);
    actor *closer = begin_closing(&own);
    pass_ms(900);
    cr_assert(server_integer(stage.server, "EXISTS %s", names[2]) == 0, "it had no turn");
    close_masters(&own, closer);
}

/* Three locks are in doubt at one master, which is silent until it cuts its connections. One at another, which is away for a
 * shorter time, is last in line when it is preferred to them. Each of the three has its turn again. */
TimedTest(closing, gives_back_at_a_master_that_is_back_what_another_was_preferred_to)
{
    enum { MANY = 3 };
    masters own = open_masters("");
    char of_first[MANY][40];
    leave_in_doubt(&own, 1);
    int away = proxy_add(own.at[1], &(proxy_rule){.act = PROXY_CUT_BEFORE, .text = names[1]});
    assert_ok(rlock_lock(lock_of(own.client, names[0])));
    assert_ok(rlock_unlock(lock_of(own.client, names[0])));
    for (int i = 0; i < MANY; i++) {
        snprintf(of_first[i], sizeof of_first[i], "%d {order-2}", i);
        proxy_add(own.at[0], &(proxy_rule){.act = PROXY_CUT_AFTER, .text = of_first[i], .times = 1});
    }
    int silent = proxy_add(own.at[0], &(proxy_rule){.act = PROXY_HOLD_REQUEST, .text = "{order-2}"});
    for (int i = 0; i < MANY; i++)
        assert_status(rlock_try_lock(lock_of(own.client, of_first[i]), 0, 60000), RLOCK_UNAVAILABLE);
    cr_assert(server_integer(stage.server, "DBSIZE") == MANY + 1);
    actor *closer = begin_closing(&own);
    pass_ms(600);
    proxy_release(own.at[1], away);
    pass_ms(220);
    cr_assert(server_integer(stage.server, "EXISTS %s", names[1]) == 0, "it had no turn");
    proxy_cut(own.at[0]);
    proxy_release(own.at[0], silent);
    close_masters(&own, closer);
    assert_no_keys();
}

/* One is silent, and a held lock there is to be tracked anew. Nothing is in doubt there. */
TimedTest(closing, does_not_wait_until_a_silent_master_tracks_keys)
{
    masters own = open_masters("&lossTracking=true");
    assert_ok(rlock_lock(lock_of(own.client, names[0])));
    pass_ms(1500);
    leave_in_doubt(&own, 1);
    proxy_add(own.at[0], &(proxy_rule){.act = PROXY_HOLD_REQUEST, .text = "TRACKING"});
    proxy_add(own.at[1], &(proxy_rule){.act = PROXY_DELAY, .text = names[1], .amount = 100});
    pass_ms(20);
    int64_t since_ms = now_ms();
    actor *closer = begin_closing(&own);
    pass_ms(20);
    proxy_cut_subscribers(own.at[0]);
    cr_assert(actor_ended(closer, 800), "it waits");
    assert_between(actor_ended_at(closer) - since_ms, 100, 800);
    close_masters(&own, closer);
}

/* The server cuts off whoever asks it to give something back, for 200 ms: it is being started anew. */
static void close_while_away(rlock_client *client)
{
    actor *closer = actor_start();
    int rule = on_text(NAME, PROXY_CUT_BEFORE, 0);
    pass_ms(20);
    actor_begin(closer, close_it, client);
    pass_ms(200);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(closer, 5000));
    actor_end(closer);
}

static void leave_hold_in_doubt(rlock_client *client)
{
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    on_script(&rli_script_lock_release, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_try_lock(lock_of(client, NAME), 0, 60000), RLOCK_UNAVAILABLE);
}

/* One of five. */
static void leave_permit_in_doubt(rlock_client *client)
{
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(client, NAME);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 5, NULL));
    on_script(&rli_script_permit_semaphore_acquire, PROXY_CUT_AFTER, 1);
    on_script(&rli_script_permit_semaphore_undo, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permit), RLOCK_UNAVAILABLE);
    rlock_permit_semaphore_free(semaphore);
}

TimedTest(closing, gives_back_when_the_server_is_back)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0");
    leave_hold_in_doubt(client);
    close_while_away(client);
    assert_no_keys();
}

TimedTest(closing, gives_back_permits_when_the_server_is_back)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0");
    leave_permit_in_doubt(client);
    close_while_away(client);
    cr_assert(server_integer(stage.server, "GET " NAME) == 5, "a permit is gone");
}

/* The server takes no writes for that long. */
static void close_while(rlock_client *client, void (*begins)(server *of), void (*ends)(server *of), int64_t ms)
{
    actor *closer = actor_start();
    begins(stage.server);
    actor_begin(closer, close_it, client);
    pass_ms(ms);
    ends(stage.server);
    assert_ok(actor_finish(closer, 5000));
    actor_end(closer);
}

static void become_replica(server *of)
{
    freeReplyObject(server_command(of, "REPLICAOF 127.0.0.1 1"));
}

static void become_master(server *of)
{
    freeReplyObject(server_command(of, "REPLICAOF NO ONE"));
}

/* As in a failover behind an address that stays. */
static void close_while_replica(rlock_client *client, int64_t ms)
{
    close_while(client, become_replica, become_master, ms);
}

TimedTest(closing, gives_back_when_the_server_is_a_master_again)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0");
    leave_hold_in_doubt(client);
    close_while_replica(client, 200);
    assert_no_keys();
}

TimedTest(closing, gives_back_permits_when_the_server_is_a_master_again)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0");
    leave_permit_in_doubt(client);
    close_while_replica(client, 200);
    cr_assert(server_integer(stage.server, "GET " NAME) == 5, "a permit is gone");
}

TimedTest(closing, gives_back_permits_when_the_server_can_save_again)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0");
    leave_permit_in_doubt(client);
    close_while(client, disk_spoil, disk_mend, 200);
    cr_assert(server_integer(stage.server, "GET " NAME) == 5, "a permit is gone");
}

/* The program ends after an unlock that a replica has refused. */
TimedTest(closing, repeats_a_refused_release_when_the_server_is_a_master_again)
{
    rlock_client *client = scene_client("timeout=2000&retryAttempts=0");
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    become_replica(stage.server);
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    close_while_replica(client, 650);
    assert_no_keys();
}

/* The hold of a thread that has ended may stand until its lease ends; nothing is given back before. */
TimedTest(closing_watchdog, does_not_wait_for_what_it_may_not_release_yet)
{
    actor *owner = actor_start();
    actor_begin_lock(owner, lock_of(scene.client, NAME));
    assert_ok(actor_finish(owner, 5000));
    actor_end(owner);
    pass_ms(1200); /* a renewal was due: the watchdog has seen that the thread is gone */
    assert_closes_promptly();
}

TimedTest(closing_watchdog, releases_what_it_may_release_within_its_second)
{
    actor *owner = actor_start();
    int64_t since_ms = now_ms();
    actor_begin_lock(owner, lock_of(scene.client, NAME));
    assert_ok(actor_finish(owner, 5000));
    actor_end(owner);
    pass_ms(since_ms + 2250 - now_ms()); /* of three seconds */
    since_ms = now_ms();
    scene_close_client(scene.client);
    assert_between(now_ms() - since_ms, 650, 950);
    assert_no_keys();
}

/* All that is left is to pass over a dead waiter, and the next owner that asks does that, too. */
TimedTest(closing, does_not_wait_until_a_dead_waiter_is_passed_over)
{
    rlock *lock = fair_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 600000);
    assert_ok(rlock_unlock(lock));
    pass_ms(50);
    on_text(NAME, PROXY_HOLD_REQUEST, 0);
    assert_closes_promptly();
}
