/* Sentinels that know of different failovers: whose word counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/clients.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOON_MS 30000

/* A sentinel's notes: what it says, and that it was asked. It names the other sentinel when it is asked for others. */
enum { EPOCH, MASTER_PORT, OTHER_PORT, ASKED, IS_SILENT, LEARNS_OF, LEARNS_AT, IS_SLOW, TAKES_TIME, HAS_QUORUM };
/* A master's notes. */
enum { SCRIPTS, IS_DEMOTED };

static impostor *late, *early; /* sentinels, in the order in which they are asked */
static impostor *third; /* a sentinel, if there are three */
static impostor *master, *former;

static void close_all(void)
{
    clients_close();
    impostor_stop(late);
    impostor_stop(early);
    impostor_stop(third);
    impostor_stop(master);
    impostor_stop(former);
}

TestSuite(sentinel_epoch, .fini = close_all);

static bool be_master(impostor_peer *peer, const char *request)
{
    if (strstr(request, "\r\nROLE\r\n"))
        return impostor_say(peer, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
    if (!strstr(request, "EVALSHA"))
        return impostor_answer(peer, request);
    impostor_note(peer->of, SCRIPTS, 1);
    return impostor_noted(peer->of, IS_DEMOTED)
               ? impostor_say(peer, "-READONLY You can't write against a read only replica.\r\n")
               : impostor_answer(peer, request);
}

static bool say_address(impostor_peer *peer, int port_note)
{
    char port[16];
    snprintf(port, sizeof port, "%d", (int)impostor_noted(peer->of, port_note));
    return impostor_say_bulk(peer, "127.0.0.1") && impostor_say_bulk(peer, port);
}

static bool say_epoch(impostor_peer *peer)
{
    char epoch[16];
    snprintf(epoch, sizeof epoch, "%d", (int)impostor_noted(peer->of, EPOCH));
    return impostor_say(peer, "*2\r\n$12\r\nconfig-epoch\r\n") && impostor_say_bulk(peer, epoch);
}

static bool say_other(impostor_peer *peer)
{
    char port[16];
    snprintf(port, sizeof port, "%d", (int)impostor_noted(peer->of, OTHER_PORT));
    return impostor_say(peer, "*1\r\n*4\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$4\r\nport\r\n") && impostor_say_bulk(peer, port);
}

/* Of a failover, if it is to learn of one, and has been asked so often. */
static void learn(impostor *own)
{
    int64_t port = impostor_noted(own, LEARNS_OF);
    if (port == 0 || impostor_noted(own, ASKED) < impostor_noted(own, LEARNS_AT))
        return;
    impostor_note(own, LEARNS_OF, -port);
    impostor_note(own, EPOCH, 1);
    impostor_note(own, MASTER_PORT, port - impostor_noted(own, MASTER_PORT));
}

static bool watch(impostor_peer *peer, const char *request)
{
    if (impostor_noted(peer->of, IS_SILENT))
        return false;
    if (impostor_noted(peer->of, IS_SLOW) && strstr(request, "MASTER"))
        pass_ms(900); /* a client waits for a second */
    if (strstr(request, "GET-MASTER-ADDR")) {
        impostor_note(peer->of, ASKED, 1);
        if (impostor_noted(peer->of, TAKES_TIME) == 1)
            impostor_await(peer->of, TAKES_TIME, 2, SOON_MS);
        return impostor_say(peer, "*2\r\n") && say_address(peer, MASTER_PORT);
    }
    if (strstr(request, "SENTINELS"))
        return say_other(peer);
    if (strstr(request, "CKQUORUM"))
        return impostor_say(peer, impostor_noted(peer->of, HAS_QUORUM) ? "+OK 2 usable Sentinels.\r\n"
                                                                       : "-NOQUORUM 1 usable Sentinels.\r\n");
    if (strstr(request, "MASTER")) {
        bool said = say_epoch(peer);
        learn(peer->of); /* before it is asked for the address */
        return said;
    }
    return impostor_answer(peer, request);
}

static void set_up(impostor *sentinel, int epoch, const impostor *names, const impostor *other)
{
    impostor_note(sentinel, EPOCH, epoch);
    impostor_note(sentinel, MASTER_PORT, impostor_port(names));
    impostor_note(sentinel, OTHER_PORT, impostor_port(other));
}

static void start_all(void)
{
    master = impostor_start(be_master, NULL);
    former = impostor_start(be_master, NULL);
    late = impostor_start(watch, NULL);
    early = impostor_start(watch, NULL);
}

/* The second has missed a failover, and names the former master. */
static rlock *lock_of_disagreeing(void)
{
    start_all();
    set_up(late, 5, master, early);
    set_up(early, 4, former, late);
    rlock_client *client = client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY "&scanInterval=50",
                                     impostor_port(late), impostor_port(early));
    rlock *lock = lock_of(client, "order");
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
    cr_assert(impostor_noted(master, SCRIPTS) == 1);
    return lock;
}

/* Something is wrong with the master until the second sentinel has been asked a few times. */
static void ask_in_trouble(rlock *lock)
{
    int64_t asked = impostor_noted(early, ASKED);
    impostor_note(master, IS_DEMOTED, 1);
    actor *asker = actor_start();
    actor_begin_try(asker, lock, SOON_MS, SOON_MS);
    cr_assert(impostor_await(early, ASKED, asked + 5, SOON_MS), "the client does not ask it");
    impostor_note(master, IS_DEMOTED, -1);
    impostor_note(late, IS_SILENT, -impostor_noted(late, IS_SILENT));
    assert_ok(actor_finish(asker, SOON_MS));
    actor_end(asker);
    cr_assert(impostor_noted(former, SCRIPTS) == 0, "the former master was asked for a lock");
}

/* It goes on with the master. */
static void assert_goes_on(rlock_client *client)
{
    assert_ok(rlock_try_lock(lock_of(client, "other"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 0, "the former master was asked for a lock");
}

/* In trouble all are asked; the one that is asked last knows least. */
Test(sentinel_epoch, of_the_latest_failover_counts_whoever_is_asked_last)
{
    ask_in_trouble(lock_of_disagreeing());
}

/* Of two that named the same master. Nobody says anything of a failover, so that only the trouble makes the client ask. */
static rlock *lock_of_unsuspecting(const char *query)
{
    start_all();
    set_up(late, 4, former, early);
    set_up(early, 4, former, late);
    rlock_client *client = client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY "&%s",
                                     impostor_port(late), impostor_port(early), query);
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 1);
    /* it asks once more when it listens to them */
    cr_assert(impostor_await(late, ASKED, 2, SOON_MS), "the client does not ask it");
    return lock_of(client, "other");
}

static void fail_over(impostor *sentinel)
{
    impostor_note(sentinel, MASTER_PORT, impostor_port(master) - impostor_port(former));
    impostor_note(sentinel, EPOCH, 1);
}

/* The first one that is asked has missed the failover. */
Test(sentinel_epoch, of_the_latest_failover_counts_whoever_is_asked_first)
{
    rlock *lock = lock_of_unsuspecting("scanInterval=50");
    fail_over(early);
    impostor_note(former, IS_DEMOTED, 1);
    assert_ok(rlock_try_lock(lock, SOON_MS, SOON_MS));
    cr_assert(impostor_noted(master, SCRIPTS) > 0);
}

/* Their messages do not come, and the next look is far away. */
Test(sentinel_epoch, of_a_failover_is_asked_for_by_a_call_that_was_refused)
{
    rlock *lock = lock_of_unsuspecting("scanInterval=3600000");
    fail_over(late);
    fail_over(early);
    impostor_note(former, IS_DEMOTED, 1);
    assert_ok(rlock_try_lock(lock, SOON_MS, SOON_MS));
    cr_assert(impostor_noted(master, SCRIPTS) > 0);
}

/* The first sentinel may have answered before the trouble began, so it is asked once more. */
Test(sentinel_epoch, of_a_failover_is_asked_for_again_if_a_call_was_refused_meanwhile)
{
    rlock *lock = lock_of_unsuspecting("scanInterval=3600000&timeout=60000&retryAttempts=0");
    impostor_note(former, IS_DEMOTED, 1);
    impostor_note(late, TAKES_TIME, 1);
    int64_t asked = impostor_noted(late, ASKED);
    assert_status(rlock_try_lock(lock, 0, SOON_MS), RLOCK_SERVER);
    cr_assert(impostor_await(late, ASKED, asked + 1, SOON_MS), "the client does not ask it");
    assert_status(rlock_try_lock(lock, 0, SOON_MS), RLOCK_SERVER);
    impostor_note(late, TAKES_TIME, 1);
    cr_assert(impostor_await(late, ASKED, asked + 2, SOON_MS), "the client does not ask it again");
}

/* One of two is half of them, and no majority. */
Test(sentinel_epoch, of_an_earlier_failover_is_not_believed_from_half_of_the_sentinels)
{
    rlock *lock = lock_of_disagreeing();
    impostor_note(late, IS_SILENT, 1);
    ask_in_trouble(lock);
}

/* The first sentinel learns of the failover between two questions, and is silent from then on. */
Test(sentinel_epoch, of_the_failover_goes_with_the_address)
{
    start_all();
    set_up(late, 4, former, early);
    set_up(early, 4, former, late);
    impostor_note(late, LEARNS_OF, impostor_port(master));
    rlock_client *client = client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY,
                                     impostor_port(late), impostor_port(early));
    rlock *lock = lock_of(client, "order");
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
    cr_assert(impostor_noted(master, SCRIPTS) == 1);
    impostor_note(late, IS_SILENT, 1);
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 2, SOON_MS), "the client does not ask it");
    assert_goes_on(client);
}

/* Two of them have missed the failover. */
static rlock_client *client_of_three(void)
{
    start_all();
    third = impostor_start(watch, NULL);
    set_up(late, 5, master, early);
    set_up(early, 4, former, third);
    set_up(third, 4, former, late);
    rlock_client *client =
        client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY "&scanInterval=50",
                  impostor_port(late), impostor_port(early), impostor_port(third));
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    return client;
}

/* For six seconds one of three is heard, which has missed the failover; then another one is, for the first time. */
Test(sentinel_epoch, of_an_earlier_failover_is_not_believed_from_most_at_once)
{
    rlock_client *client = client_of_three();
    impostor_note(late, IS_SILENT, 1);
    impostor_note(third, IS_SILENT, 1);
    for (int64_t until_ms = now_ms() + 6000; now_ms() < until_ms;)
        cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 1, SOON_MS), "the client does not ask it");
    impostor_note(third, IS_SILENT, -1);
    cr_assert(impostor_await(third, ASKED, impostor_noted(third, ASKED) + 3, SOON_MS), "the client does not ask it");
    assert_goes_on(client);
}

/* Those that have missed the failover learn of it as soon as they have answered for the second time; that takes them so long
 * that their first words are old by then. */
Test(sentinel_epoch, of_an_earlier_failover_does_not_last_because_answers_take_long)
{
    rlock_client *client = client_of_three();
    impostor *const slow[] = {early, third};
    for (int i = 0; i < 2; i++) {
        impostor_note(slow[i], LEARNS_AT, impostor_noted(slow[i], ASKED) + 2);
        impostor_note(slow[i], LEARNS_OF, impostor_port(master));
        impostor_note(slow[i], IS_SLOW, 1);
    }
    impostor_note(late, IS_SILENT, 1);
    for (int i = 0; i < 2; i++)
        cr_assert(impostor_await(slow[i], ASKED, impostor_noted(slow[i], LEARNS_AT), SOON_MS), "it is not asked");
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, LEARNS_AT) + 1, SOON_MS), "it is not asked again");
    assert_goes_on(client);
}

/* Most of them have missed the failover when they are heard for a moment, and again when they are six seconds later: the one
 * that knows of it was heard in between. */
Test(sentinel_epoch, of_an_earlier_failover_does_not_last_while_the_latest_one_is_heard_of)
{
    rlock_client *client = client_of_three();
    impostor_note(late, IS_SILENT, 1);
    cr_assert(impostor_await(third, ASKED, impostor_noted(third, ASKED) + 2, SOON_MS), "the client does not ask it");
    impostor_note(late, IS_SILENT, -1);
    for (int64_t until_ms = now_ms() + 6000; now_ms() < until_ms;)
        cr_assert(impostor_await(late, ASKED, impostor_noted(late, ASKED) + 1, SOON_MS), "the client does not ask it");
    impostor_note(late, IS_SILENT, 1);
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 3, SOON_MS), "the client does not ask it");
    assert_goes_on(client);
}

/* They were set up for two masters, and no failover says which is the later one. */
static rlock_client *client_of_two_masters(void)
{
    start_all();
    set_up(late, 4, master, early);
    set_up(early, 4, former, late);
    rlock_client *client = client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY "&scanInterval=50",
                                     impostor_port(late), impostor_port(early));
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    cr_assert(impostor_noted(master, SCRIPTS) == 1);
    return client;
}

Test(sentinel_epoch, of_two_masters_keeps_the_present_one)
{
    rlock_client *client = client_of_two_masters();
    impostor_note(late, IS_SILENT, 1);
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 5, SOON_MS), "the client does not ask it");
    assert_ok(rlock_try_lock(lock_of(client, "other"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 0, "it went to the other master without a failover");
}

/* A third one has missed the failover, and names the other master, too: it has no vote. */
Test(sentinel_epoch, of_two_masters_keeps_the_present_one_though_one_of_an_earlier_failover_names_the_other)
{
    start_all();
    third = impostor_start(watch, NULL);
    set_up(late, 5, master, early);
    set_up(early, 5, former, third);
    set_up(third, 5, master, late);
    rlock_client *client =
        client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY "&scanInterval=50",
                  impostor_port(late), impostor_port(early), impostor_port(third));
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    impostor_note(late, EPOCH, -1);
    impostor_note(late, MASTER_PORT, impostor_port(former) - impostor_port(master));
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 5, SOON_MS), "the client does not ask it");
    assert_ok(rlock_try_lock(lock_of(client, "other"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 0, "it went to the other master without a failover");
}

/* Somebody has told the sentinels, one after the other, which server to watch. */
Test(sentinel_epoch, of_two_masters_follows_most_of_the_sentinels)
{
    rlock_client *client = client_of_two_masters();
    impostor_note(late, MASTER_PORT, impostor_port(former) - impostor_port(master));
    for (int i = 0; impostor_noted(former, SCRIPTS) == 0; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        int64_t asked = impostor_noted(late, ASKED);
        cr_assert(impostor_await(late, ASKED, asked + 1, SOON_MS), "the client does not ask it");
        assert_ok(rlock_try_lock(lock_of(client, name), 0, SOON_MS));
        cr_assert(i < 1000, "it stays with the former master");
    }
}

/* One that has missed the failover is heard for a moment; then nobody is for longer than the watchdog timeout; then it is
 * heard again, before those that know better. */
Test(sentinel_epoch, of_an_earlier_failover_is_not_believed_at_once_after_a_silence_of_all)
{
    start_all();
    third = impostor_start(watch, NULL);
    set_up(late, 5, master, early);
    set_up(early, 4, former, third);
    set_up(third, 5, master, late);
    impostor_note(early, HAS_QUORUM, 1);
    rlock_client *client = client_at("redis-sentinel://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d?masterName=m&" SPRY
                                     "&scanInterval=50&lockWatchdogTimeout=8000",
                                     impostor_port(late), impostor_port(early), impostor_port(third));
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    cr_assert(impostor_noted(master, SCRIPTS) == 1);
    impostor_note(late, IS_SILENT, 1);
    impostor_note(third, IS_SILENT, 1);
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 3, SOON_MS), "the client does not ask it");
    impostor_note(early, IS_SILENT, 1);
    assert_goes_on(client);
    pass_ms(9000);
    impostor_note(early, IS_SILENT, -1);
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 3, SOON_MS), "the client does not ask it");
    pass_ms(300);
    assert_ok(rlock_try_lock(lock_of(client, "third"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 0, "the former master was asked for a lock");
}

/* The client and all servers stand still, as on a machine that is suspended: the sentinels have not told each other of the
 * failover meanwhile. */
static void stand_still_ms(int64_t ms)
{
    pid_t us = getpid(), waker = fork();
    if (waker == 0) {
        kill(us, SIGSTOP);
        usleep((useconds_t)ms * 1000);
        kill(us, SIGCONT);
        _exit(0);
    }
    cr_assert(waker > 0 && waitpid(waker, NULL, 0) == waker);
}

/* Most of them have missed the failover; two rounds are no five seconds because the machine stood still between them. */
RealTest(sentinel_epoch, of_an_earlier_failover_does_not_last_because_all_stood_still)
{
    rlock_client *client = client_of_three();
    impostor_note(late, IS_SILENT, 1);
    cr_assert(impostor_await(third, ASKED, impostor_noted(third, ASKED) + 2, SOON_MS), "the client does not ask it");
    stand_still_ms(6000);
    cr_assert(impostor_await(early, ASKED, impostor_noted(early, ASKED) + 3, SOON_MS), "the client does not ask it");
    assert_goes_on(client);
}
