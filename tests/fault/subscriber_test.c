/* The subscriber's connection: the bytes that are sent on it, and answers that are no confirmation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/fault/support/sending.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

TestSuite(subscriber);

#define NAME "order"

/* A part of the command has left when the kernel runs out of memory. Sending it from its beginning again would be a
 * protocol error. */
static void survives(const char *start, size_t length, int error)
{
    rlock *lock = lock_of(stage.client, NAME), *others = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(others));
    sending_fails(start, length, error);
    actor_begin_try(waiter, lock, 60000, RLOCK_WATCHDOG);
    cr_assert(sending_has_failed(10000));
    cr_assert(wait_listened(NAME, 10000), "it does not subscribe again");
    assert_ok(rlock_unlock(others));
    rlock_status status = actor_finish(waiter, 60000);
    cr_assert(status == RLOCK_OK, "%s: %s", rlock_strstatus(status), actor_error(waiter));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

Test(subscriber, sends_no_byte_twice_when_the_kernel_has_no_buffers, .init = stage_open, .fini = stage_close)
{
    survives("*2\r\n$9\r\nSUBSCRIBE", 10, ENOBUFS);
}

Test(subscriber, sends_no_byte_twice_when_the_kernel_has_no_memory, .init = stage_open, .fini = stage_close)
{
    survives("*2\r\n$9\r\nSUBSCRIBE", 30, ENOMEM);
}

static bool refuse_subscriptions(impostor_peer *peer, const char *request)
{
    if (strstr(request, "EVAL"))
        return impostor_say(peer, ":600000\r\n"); /* held by another */
    if (!strstr(request, "SUBSCRIBE"))
        return impostor_answer(peer, request);
    return impostor_say(peer, peer->context);
}

static void refused_with(const char *answer, const char *words, bool rights)
{
    impostor *refusing = impostor_start(refuse_subscriptions, answer);
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, impostor_url(refusing, "timeout=20000")));
    rlock *lock = rlock_get_lock(client, NAME);
    assert_status(rlock_try_lock(lock, 60000, RLOCK_WATCHDOG), RLOCK_SERVER);
    assert_error(words);
    cr_assert((strstr(rlock_last_error(), "ACL user") != NULL) == rights, "%s", rlock_last_error());
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(refusing);
}

/* The advice is about rights only where a right is missing. */
Test(subscriber, says_why_the_server_refuses_a_channel)
{
    refused_with("-NOPERM this user has no permissions to access one of the channels\r\n", "NOPERM", true);
    refused_with("-ERR Protocol error: expected '$', got 'S'\r\n", "Protocol error", false);
}

/* --- a waiter of an impostor's lock --- */

typedef struct waiting {
    rlock_client *client;
    rlock *lock;
    rlock_cancel *token;
    actor *waiter;
    int64_t since_ms;
} waiting;

static waiting wait_at(impostor *of, const char *query)
{
    waiting own = {.token = rlock_cancel_new(), .waiter = actor_start()};
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = own.token;
    assert_ok(rlock_client_open(&own.client, impostor_url(of, query)));
    own.lock = rlock_get_lock(own.client, NAME);
    own.since_ms = now_ms();
    actor_begin_with(own.waiter, own.lock, &options);
    return own;
}

static void wait_no_more(waiting *own)
{
    rlock_cancel_fire(own->token);
    assert_status(actor_finish(own->waiter, 60000), RLOCK_CANCELLED);
    actor_end(own->waiter);
    rlock_cancel_free(own->token);
    rlock_free(own->lock);
    rlock_client_close(own->client);
}

/* --- garbage --- */

enum { ASKED, SUBSCRIBED, MAY_TALK };

static bool talk_nonsense(impostor_peer *peer, const char *request)
{
    char confirmation[200];
    if (strstr(request, "EVAL")) {
        impostor_note(peer->of, ASKED, 1);
        return impostor_say(peer, ":600000\r\n"); /* held by another */
    }
    const char *name = strstr(request, "redisson_lock__channel");
    if (!strstr(request, "SUBSCRIBE") || !name)
        return impostor_answer(peer, request);
    int length = (int)strcspn(name, "\r");
    snprintf(confirmation, sizeof confirmation, "*3\r\n$9\r\nsubscribe\r\n$%d\r\n%.*s\r\n:1\r\n", length, length, name);
    bool goes_on = impostor_say(peer, confirmation);
    impostor_note(peer->of, SUBSCRIBED, 1);
    return goes_on && impostor_await(peer->of, MAY_TALK, 1, 60000) && impostor_say(peer, "nonsense\r\n") &&
           impostor_await(peer->of, MAY_TALK, 2, 60000);
}

/* A waiter reads it, and nothing else comes. Without pings nobody would notice that later. */
Test(subscriber, connects_again_after_garbage)
{
    impostor *talker = impostor_start(talk_nonsense, NULL);
    waiting own = wait_at(talker, "timeout=200000&pingConnectionInterval=0");
    cr_assert(impostor_await(talker, SUBSCRIBED, 1, 5000));
    cr_assert(!actor_ended(own.waiter, 100));
    int64_t asked = impostor_noted(talker, ASKED);
    impostor_note(talker, MAY_TALK, 1);
    cr_assert(impostor_await(talker, SUBSCRIBED, 2, 60000));
    cr_assert(impostor_await(talker, ASKED, asked + 1, 60000));
    impostor_note(talker, MAY_TALK, 1);
    wait_no_more(&own);
    impostor_stop(talker);
}

/* --- a server that says first that it has unsubscribed the client --- */

static bool unsubscribe_first(impostor_peer *peer, const char *request)
{
    char answer[200];
    if (strstr(request, "EVAL"))
        return impostor_say(peer, ":600000\r\n"); /* held by another */
    const char *name = strstr(request, "redisson_lock__channel");
    if (!strstr(request, "SUBSCRIBE") || !name)
        return impostor_answer(peer, request);
    int length = (int)strcspn(name, "\r");
    bool own = (size_t)length > strlen("redisson_lock__channel:{" NAME "}"); /* of this client, not the common one */
    bool first = own && impostor_noted(peer->of, SUBSCRIBED) == 0;
    snprintf(answer, sizeof answer, "*3\r\n$%d\r\n%s\r\n$%d\r\n%.*s\r\n:1\r\n%s", first ? 11 : 9,
             first ? "unsubscribe" : "subscribe", length, length, name, first ? "-TRYAGAIN the slot moves\r\n" : "");
    impostor_note(peer->of, SUBSCRIBED, own);
    return impostor_say(peer, answer);
}

/* A cluster does that when a slot moves away, and then refuses the subscription that was on its way. The message that
 * ends the earlier subscription does not confirm the new one. */
Test(subscriber, asks_again_for_a_channel_that_a_server_has_unsubscribed)
{
    impostor *mover = impostor_start(unsubscribe_first, NULL);
    waiting own = wait_at(mover, "timeout=200000&pingConnectionInterval=0");
    cr_assert(impostor_await(mover, SUBSCRIBED, 2, 60000));
    wait_no_more(&own);
    impostor_stop(mover);
}

/* --- a server that loses the slot of a channel while the client leaves it --- */

enum { LISTENS, LEAVES, LISTENS_NEXT, LEAVES_NEXT };

static bool says_channel(impostor_peer *peer, const char *kind, const char *name)
{
    char answer[400];
    snprintf(answer, sizeof answer, "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n:1\r\n", strlen(kind), kind, strlen(name), name);
    return impostor_say(peer, answer);
}

/* Answers that the client has left the channel of "x" only when it is asked for that of "y", and by itself; then it refuses
 * what it was asked. */
static bool lose_slot(impostor_peer *peer, const char *request)
{
    static char left[200];
    char name[200];
    const char *found = strstr(request, "redisson_lock__channel");
    if (strstr(request, "EVAL"))
        return impostor_say(peer, ":600000\r\n"); /* held by another */
    if (!strstr(request, "SUBSCRIBE") || !found)
        return impostor_answer(peer, request);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(found, "\r"), found);
    bool ends = strstr(request, "UNSUBSCRIBE"), first = strstr(name, "{x}");
    if (first && ends) {
        strcpy(left, name);
        impostor_note(peer->of, LEAVES, 1);
        return true;
    }
    bool meets = !first && !ends && impostor_noted(peer->of, LISTENS_NEXT) == 0;
    if (meets && !(says_channel(peer, "unsubscribe", left) && impostor_say(peer, "-MOVED 16287 127.0.0.1:1\r\n")))
        return false;
    impostor_note(peer->of, first ? LISTENS : ends ? LEAVES_NEXT : LISTENS_NEXT, 1);
    return says_channel(peer, ends ? "unsubscribe" : "subscribe", name);
}

/* The owner of a fair lock waits for it, and gives up once the server has noted both. */
static void wait_and_leave(impostor *of, rlock_client *client, const char *name, int listens, int leaves)
{
    rlock *lock = rlock_get_fair_lock(client, name);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    actor *waiter = actor_start();
    actor_begin_with(waiter, lock, &options);
    cr_assert(impostor_await(of, listens, 1, 10000));
    cr_assert(!actor_ended(waiter, 100));
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiter, 60000), RLOCK_CANCELLED);
    cr_assert(impostor_await(of, leaves, 1, 10000), "the server counts a listener of \"%s\" for ever", name);
    actor_end(waiter);
    rlock_cancel_free(options.cancel);
    rlock_free(lock);
}

/* The server refuses to leave the channel whose slot it lost; that says nothing of the next channel. */
Test(subscriber, leaves_the_channel_that_was_asked_for_beside_one_of_a_lost_slot)
{
    impostor *loser = impostor_start(lose_slot, NULL);
    rlock_client *client;
    assert_ok(rlock_client_open(&client, impostor_url(loser, "timeout=200000&pingConnectionInterval=0")));
    wait_and_leave(loser, client, "x", LISTENS, LEAVES);
    wait_and_leave(loser, client, "y", LISTENS_NEXT, LEAVES_NEXT);
    rlock_client_close(client);
    impostor_stop(loser);
}

/* --- a server that ends each connection as soon as it has confirmed something --- */

static bool confirm_and_end(impostor_peer *peer, const char *request)
{
    if (strstr(request, "EVAL"))
        return impostor_say(peer, ":600000\r\n"); /* held by another */
    if (!strstr(request, "SUBSCRIBE"))
        return impostor_answer(peer, request);
    (void)impostor_answer(peer, request);
    impostor_note(peer->of, SUBSCRIBED, 1);
    return false;
}

/* Whoever made each connection at once would make thousands a second, for as long as anybody waits. */
Test(subscriber, pauses_between_connections_that_hardly_begin)
{
    impostor *ending = impostor_start(confirm_and_end, NULL);
    waiting own = wait_at(ending, "timeout=20000");
    cr_assert(impostor_await(ending, SUBSCRIBED, 11, 60000));
    cr_assert(now_ms() - own.since_ms >= 10 * 100, "11 connections in %lld ms", (long long)(now_ms() - own.since_ms));
    wait_no_more(&own);
    impostor_stop(ending);
}
