/* The red lock over token locks beside npm's redlock, on the same five servers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/interop/support/agent.h"
#include "tests/support/event.h"

#define NAME    "report"
#define SERVERS 5
#define SOON_MS 20000

/* How many attempts redlock makes after the first. */
#define FOR_EVER    "-1"
#define ONE_ATTEMPT "0"

static agent *node;
static server *servers[SERVERS];
static rlock_client *clients[SERVERS];
static rlock *red;

static void open_theirs(const char *version, const char *retries)
{
    const char *words[SERVERS + 5] = {"t1", "open", version, retries};
    for (size_t i = 0; i < SERVERS; i++)
        words[4 + i] = server_tcp_url(servers[i]);
    assert_result(agent_await(node, agent_begin(node, words), AGENT_MS), "");
}

static void open_five(const char *version)
{
    rlock *members[SERVERS];
    node = agent_start_of("redlock"); /* first, so that a test without it is skipped before it starts servers */
    for (size_t i = 0; i < SERVERS; i++) {
        servers[i] = server_start();
        assert_ok(rlock_client_open(&clients[i], server_url_with(servers[i], "retryAttempts=1&retryBaseDelay=10&retryMaxDelay=20")));
        members[i] = rlock_get_token_lock(clients[i], NAME);
    }
    red = rlock_get_red_lock(members, SERVERS);
    cr_assert(red != NULL, "%s", rlock_last_error());
    for (size_t i = 0; i < SERVERS; i++)
        rlock_free(members[i]);
    open_theirs(version, FOR_EVER);
}

static void open_five_4(void)
{
    open_five("4");
}

static void open_five_5(void)
{
    open_five("5");
}

static void close_five(void)
{
    agent_end(node);
    for (size_t i = 0; i < SERVERS; i++)
        rlock_client_close(clients[i]);
    rlock_free(red);
    for (size_t i = 0; i < SERVERS; i++)
        server_stop(servers[i]);
}

TestSuite(redlock_4, .init = open_five_4, .fini = close_five);
TestSuite(redlock_5, .init = open_five_5, .fini = close_five);

#define BOTH(claim)                                                                                                    \
    static void claim(void);                                                                                           \
    Test(redlock_4, claim)                                                                                             \
    {                                                                                                                  \
        claim();                                                                                                       \
    }                                                                                                                  \
    Test(redlock_5, claim)                                                                                             \
    {                                                                                                                  \
        claim();                                                                                                       \
    }                                                                                                                  \
    static void claim(void)

static void assert_done(const answer *got)
{
    cr_assert(!got->threw, "%s: %s", got->text, got->message);
}

static int standing(void)
{
    int count = 0;
    for (size_t i = 0; i < SERVERS; i++)
        count += server_is_up(servers[i]) && server_integer(servers[i], "EXISTS %s", NAME) == 1;
    return count;
}

/* A server that was slow to answer has it in the background: a release soon, a member that is taken anew at a renewal. */
static void await_standing(int count)
{
    while (standing() != count)
        pass_ms(1);
}

BOTH(waits_for_ours_and_ours_for_it)
{
    actor *waiter = actor_start();
    assert_ok(rlock_lock(red));
    await_standing(SERVERS);
    int tag = BEGIN(node, "t1", "acquire", NAME, "60000");
    cr_assert(!agent_answered(node, tag, 250), "beside ours");
    assert_ok(rlock_unlock(red));
    assert_done(agent_await(node, tag, SOON_MS));
    assert_status(rlock_try_lock(red, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, red);
    cr_assert(!actor_ended(waiter, 250), "beside redlock");
    assert_done(ASK(node, "t1", "release", NAME));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, red));
    await_standing(0);
    actor_end(waiter);
}

/* Two of five servers are gone: three are a majority, for both. Each acquire of redlock is one attempt: it keeps one or two
 * of the three when it meets an unlock midway, and its next attempts would find these taken. */
static void be_kept_out_with_two_servers_gone(const char *version)
{
    open_theirs(version, ONE_ATTEMPT);
    server_kill(servers[1]);
    server_kill(servers[3]);
    assert_ok(rlock_lock(red));
    cr_assert(standing() == 3);
    cr_assert(ASK(node, "t1", "acquire", NAME, "60000")->threw);
    assert_ok(rlock_unlock(red));
    await_standing(0);
    assert_done(ASK(node, "t1", "acquire", NAME, "60000"));
    assert_status(rlock_try_lock(red, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_done(ASK(node, "t1", "release", NAME));
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
}

Test(redlock_4, is_kept_out_with_two_servers_gone)
{
    be_kept_out_with_two_servers_gone("4");
}

Test(redlock_5, is_kept_out_with_two_servers_gone)
{
    be_kept_out_with_two_servers_gone("5");
}

/* It is extended over and over, on the servers that it is held on; then it ends by itself. */
BOTH(that_is_extended_keeps_ours_out_until_it_expires)
{
    assert_done(ASK(node, "t1", "acquire", NAME, "60000"));
    assert_done(ASK(node, "t1", "extend", NAME, "60000"));
    assert_status(rlock_try_lock(red, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_done(ASK(node, "t1", "extend", NAME, "300"));
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
}

/* What is ours by now it neither extends nor frees. */
BOTH(that_expired_leaves_ours_alone)
{
    assert_done(ASK(node, "t1", "acquire", NAME, "50"));
    assert_ok(rlock_lock(red));
    cr_assert(ASK(node, "t1", "extend", NAME, "60000")->threw);
    cr_assert(standing() >= 3 && rlock_valid_for(red) > 0); /* as many as had expired when it was taken */
    assert_ok(rlock_unlock(red));
}

/* Ours is extended by the watchdog while redlock tries to get it. */
BOTH(takes_ours_when_its_lease_has_ended)
{
    assert_ok(rlock_lock_lease(red, 300));
    assert_done(ASK(node, "t1", "acquire", NAME, "60000"));
    assert_status(rlock_unlock(red), RLOCK_LOST);
    cr_assert(standing() >= 3);
    assert_done(ASK(node, "t1", "release", NAME));
}

/* --- turns, each of which adds one to a number that nothing else guards --- */

#define TURNS 25

static void add_one(void)
{
    int64_t seen = server_integer(servers[0], "GET counter");
    freeReplyObject(server_command(servers[0], "SET counter %lld", (long long)seen + 1));
}

static rlock_status take_turns(void *arg)
{
    (void)arg;
    rlock_status status = RLOCK_OK;
    for (int i = 0; i < TURNS && status == RLOCK_OK; i++) {
        status = rlock_lock(red);
        if (status == RLOCK_OK)
            add_one();
        status = status == RLOCK_OK ? rlock_unlock(red) : status;
    }
    return status;
}

/* Not beside version 5: what an attempt of it took without a majority stays until it expires, and keeps everybody out,
 * itself too. */
Test(redlock_4, takes_turns_with_ours)
{
    actor *ours = actor_start();
    freeReplyObject(server_command(servers[0], "SET counter 0"));
    actor_begin(ours, take_turns, NULL);
    for (int i = 0; i < TURNS; i++) {
        assert_done(ASK(node, "t1", "acquire", NAME, "60000"));
        add_one();
        assert_done(ASK(node, "t1", "release", NAME));
    }
    assert_ok(actor_finish(ours, SOON_MS));
    cr_assert(server_integer(servers[0], "GET counter") == 2 * TURNS);
    actor_end(ours);
}
