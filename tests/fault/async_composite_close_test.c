/* Clients and handles that are closed while async calls on multi and red locks use them: each function is called once, and
 * nothing is held for longer than its lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/members.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>

TestSuite(async_composite_close, .init = members_open, .fini = members_close);

#define LEASE_MS 5000

/* A client that is closed renews nothing: what it could not give back ends with its lease. */
static void assert_leased(size_t member)
{
    int64_t pttl_ms = server_integer(members[member].server, "PTTL %s", MEMBER_NAME);
    cr_assert(pttl_ms == -2 || (pttl_ms >= 0 && pttl_ms <= LEASE_MS), "member %zu has the PTTL %lld", member,
              (long long)pttl_ms);
}

static void assert_all_leased(void)
{
    for (size_t i = 0; i < MEMBERS; i++)
        assert_leased(i);
    assert_members_free();
}

static void assert_ended(const ending *end, rlock_status expected)
{
    cr_assert(end->known, "the close has not ended the call");
    cr_assert(end->status == expected, "%s, expected %s: %s", rlock_strstatus(end->status), rlock_strstatus(expected),
              end->error);
}

static void assert_closed(const ending *end)
{
    assert_ended(end, RLOCK_CLOSED);
}

/* Begins an acquire, and returns when the second member has granted it; that reply is lost. */
static void begin_with_reply_lost(rlock *lock, ending *end)
{
    int rule = member_rule(1, &rli_script_lock_acquire, PROXY_HOLD_REPLY, 0);
    member_begin_lock(lock, RLOCK_FOREVER, LEASE_MS, NULL, end);
    member_serve_until_counted(1, rule, PROXY_ANSWERED, 1);
}

/* --- one client --- */

/* The client whose thread calls the functions is closed while a reply is awaited. */
RealTest(async_composite_close, multi_lock_ends_with_its_first_client)
{
    ending end = {0};
    begin_with_reply_lost(made_of_members(rlock_get_multi_lock), &end);
    member_close_client(members[0].client);
    assert_closed(&end);
    assert_all_leased();
}

/* The third member is held by another owner, so that there is no majority before. */
RealTest(async_composite_close, red_lock_ends_with_its_first_client)
{
    ending end = {0};
    member_foreign_hold(2);
    begin_with_reply_lost(made_of_members(rlock_get_red_lock), &end);
    member_close_client(members[0].client);
    assert_closed(&end);
    member_foreign_release(2);
    assert_all_leased();
}

/* The client of the member whose reply is awaited is closed: a multi lock needs that member, a red lock does not. */
RealTest(async_composite_close, multi_lock_ends_with_the_client_of_a_member)
{
    ending end = {0};
    begin_with_reply_lost(made_of_members(rlock_get_multi_lock), &end);
    member_close_client(members[1].client);
    assert_ends(end, RLOCK_CLOSED);
    assert_all_leased();
}

RealTest(async_composite_close, red_lock_stands_without_the_client_of_a_member)
{
    ending end = {0};
    rlock *red = made_of_members(rlock_get_red_lock);
    begin_with_reply_lost(red, &end);
    member_close_client(members[1].client);
    assert_ends(end, RLOCK_OK);
    member_unlock(red);
    assert_all_leased();
}

/* The client of a member that was not asked yet is closed: that member's turn refuses it, and what was taken is given
 * back. */
RealTest(async_composite_close, multi_lock_asks_no_member_of_a_closed_client)
{
    ending end = {0};
    int asked = member_rule(2, &rli_script_lock_acquire, PROXY_NOTE, 0);
    member_foreign_hold(1);
    member_begin_lock(made_of_members(rlock_get_multi_lock), RLOCK_FOREVER, LONG_LEASE_MS, NULL, &end);
    member_serve_until_held(0);
    member_close_client(members[2].client);
    cr_assert(!end.known, "the closed client was asked before its turn");
    member_foreign_release(1);
    assert_ends(end, RLOCK_CLOSED);
    assert_members_free();
    assert_between(proxy_count(members[2].proxy, asked, PROXY_SEEN), 0, 0);
}

/* The handles keep the client's memory: its functions refuse it, and so does every call on a lock made of its locks. */
RealTest(async_composite_close, closed_client_is_processed_no_more)
{
    ending end = {0};
    rlock *multi = made_of_members(rlock_get_multi_lock);
    rlock_client *closed = members[1].client;
    member_close_client(closed);
    assert_status(rlock_client_process(closed), RLOCK_CLOSED);
    cr_assert(rlock_client_fd(closed) == -1);
    assert_error("closed");
    assert_status(rlock_lock_async(multi, NULL, poll_loop_end, &end), RLOCK_CLOSED);
    assert_status(rlock_unlock_async(multi, NULL, poll_loop_end, &end), RLOCK_CLOSED);
    assert_status(rlock_is_held_async(multi, NULL, poll_loop_end, &end), RLOCK_CLOSED);
    cr_assert(!end.known);
    assert_members_free();
}

static void *close_client(void *client)
{
    rlock_client_close(client);
    return NULL;
}

static bool is_closed(void *client)
{
    return rlock_client_process(client) == RLOCK_CLOSED;
}

/* Opens clients of the first two members, which the poll loop serves, and makes a lock of them and the third member's. */
static rlock *open_two(lock_maker *make, rlock_client *two[2])
{
    rlock_client *clients[MEMBERS];
    for (size_t i = 0; i < 2; i++)
        clients[i] = two[i] = member_client(i);
    clients[2] = members[2].client;
    return made_of_clients(make, clients);
}

/* The first client is closed when its member is released already, and the others can still be: the call has done what it
 * should. */
RealTest(async_composite_close, multi_unlock_succeeds_when_all_members_are_released_meanwhile)
{
    pthread_t closing;
    ending locked = {0}, unlocked = {0};
    rlock_client *two[2];
    rlock *multi = open_two(rlock_get_multi_lock, two);
    member_begin_lock(multi, RLOCK_FOREVER, LONG_LEASE_MS, NULL, &locked);
    assert_ends(locked, RLOCK_OK);
    int rule = member_rule(1, &rli_script_lock_release, PROXY_HOLD_REPLY, 1);
    member_begin_unlock(multi, &unlocked);
    member_serve_until_counted(1, rule, PROXY_ANSWERED, 1);
    poll_loop_remove(two[0]);
    cr_assert(pthread_create(&closing, NULL, close_client, two[0]) == 0);
    cr_assert(poll_loop_until(is_closed, two[0], MEMBER_LIMIT_MS));
    proxy_release(members[1].proxy, rule);
    pthread_join(closing, NULL);
    assert_ended(&unlocked, RLOCK_OK);
    poll_loop_remove(two[1]);
    rlock_client_close(two[1]);
    assert_members_free();
}

/* --- two clients at once --- */

/* Two threads close these clients at once; nobody processes any. */
static void close_both(rlock_client *const clients[2])
{
    pthread_t closing[2];
    for (int i = 0; i < 2; i++)
        poll_loop_remove(clients[i]);
    for (int i = 0; i < 2; i++)
        cr_assert(pthread_create(&closing[i], NULL, close_client, clients[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(closing[i], NULL);
}

#define ROUNDS 12

static void close_two_in_acquire(lock_maker *make)
{
    for (int i = 0; i < ROUNDS; i++) {
        rlock_client *two[2];
        ending end = {0};
        rlock *lock = open_two(make, two);
        member_foreign_hold(2);
        if (make == rlock_get_red_lock)
            member_foreign_hold(1);
        member_begin_lock(lock, RLOCK_FOREVER, LEASE_MS, NULL, &end);
        member_serve_until_held(0);
        close_both(two);
        assert_closed(&end);
        member_foreign_release(2);
        if (make == rlock_get_red_lock)
            member_foreign_release(1);
        for (size_t m = 0; m < MEMBERS; m++) {
            assert_leased(m);
            freeReplyObject(server_command(members[m].server, "DEL %s", MEMBER_NAME));
        }
    }
}

/* The first member's client and another one are closed at once while the call holds members of both. */
RealTest(async_composite_close, multi_lock_ends_when_two_clients_close_at_once)
{
    close_two_in_acquire(rlock_get_multi_lock);
}

RealTest(async_composite_close, red_lock_ends_when_two_clients_close_at_once)
{
    close_two_in_acquire(rlock_get_red_lock);
}

static void close_two_in_unlock(lock_maker *make, rlock_status expected)
{
    for (int i = 0; i < ROUNDS; i++) {
        rlock_client *two[2];
        ending locked = {0}, unlocked = {0};
        rlock *lock = open_two(make, two);
        member_begin_lock(lock, RLOCK_FOREVER, LEASE_MS, NULL, &locked);
        assert_ends(locked, RLOCK_OK);
        int rule = member_rule(1, &rli_script_lock_release, PROXY_HOLD_REPLY, 1);
        member_begin_unlock(lock, &unlocked);
        member_serve_until_counted(1, rule, PROXY_ANSWERED, 1);
        close_both(two);
        assert_ended(&unlocked, expected);
        proxy_release(members[1].proxy, rule);
        assert_member_free(2); /* its client is open: it is released, although the others are closed */
        assert_all_leased();
    }
}

/* The same while the reply to the release of the second member is awaited. */
RealTest(async_composite_close, multi_unlock_ends_when_two_clients_close_at_once)
{
    close_two_in_unlock(rlock_get_multi_lock, RLOCK_CLOSED);
}

/* The first and the third member, a majority, are released. */
RealTest(async_composite_close, red_unlock_ends_when_two_clients_close_at_once)
{
    close_two_in_unlock(rlock_get_red_lock, RLOCK_OK);
}

/* --- handles that are freed in a function --- */

typedef struct freeing {
    ending end; /* first: poll_loop_end has it */
    rlock *members[MEMBERS], *composite;
    rlock_client *closes;
    ending unlocked;
} freeing;

static void free_all(const rlock_result *result, void *arg)
{
    freeing *self = arg;
    if (result->status == RLOCK_OK)
        assert_ok(rlock_unlock_async(self->composite, NULL, poll_loop_end, &self->unlocked));
    rlock_free(self->composite);
    for (size_t i = 0; i < MEMBERS; i++)
        rlock_free(self->members[i]);
    poll_loop_end(result, &self->end);
    if (self->closes)
        member_close_client(self->closes);
}

static void free_in_function(lock_maker *make, rlock_client *closes)
{
    rlock *views[MEMBERS];
    freeing self = {.closes = closes};
    for (size_t i = 0; i < MEMBERS; i++) {
        self.members[i] = rlock_get_lock(members[i].client, MEMBER_NAME);
        views[i] = rlock_for_owner(self.members[i], MEMBER_OWNER);
    }
    self.composite = make(views, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++)
        rlock_free(views[i]);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.lease_ms = LEASE_MS;
    assert_ok(rlock_lock_async(self.composite, &options, free_all, &self));
    assert_ends(self.end, RLOCK_OK);
    cr_assert(poll_loop_wait(&self.unlocked, MEMBER_LIMIT_MS));
    assert_all_leased();
}

/* The function of the acquire starts the unlock, and frees the composite and its members. */
RealTest(async_composite_close, function_may_free_all_handles_of_a_multi_lock)
{
    free_in_function(rlock_get_multi_lock, NULL);
}

RealTest(async_composite_close, function_may_free_all_handles_of_a_red_lock)
{
    free_in_function(rlock_get_red_lock, NULL);
}

/* It also closes the first member's client, so that nothing but the two calls keeps that client's memory; or another
 * member's. */
RealTest(async_composite_close, function_may_free_all_handles_and_close_the_first_client)
{
    free_in_function(rlock_get_multi_lock, members[0].client);
}

RealTest(async_composite_close, function_may_free_all_handles_and_close_a_member_s_client)
{
    free_in_function(rlock_get_multi_lock, members[1].client);
}
