/* How long a call goes on when no other server takes over, until it says that none answers: C beside Java's Redisson, with
 * the defaults of both. Printed, not judged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/failover/figures.h"
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/actor.h"
#include "tests/interop/support/java.h"
#include "tests/support/event.h"

#include <stdio.h>

#define CALLERS 8 /* of each side, on a name each */
#define LONGEST_MS 300000

static server *alone;
static proxy *front;

/* Java first, so that it is known to be there before anything else is started. */
static void open_all(void)
{
    java_begin();
    alone = server_start();
    front = proxy_start_port(alone);
}

static void close_all(void)
{
    agent_end(java);
    proxy_stop(front);
    stage_close();
    server_stop(alone);
}

TestSuite(outage, .init = open_all, .fini = close_all, .timeout = 3600);

/* --- kinds of outages --- */

/* The machine is there, and no server on it. */
static void refuse(void)
{
    proxy_accept(front, false);
    proxy_cut(front);
}

/* Its kernel takes connections, and nothing that is sent there is answered. */
static void be_silent(void)
{
    proxy_pass(front, false, false);
}

/* The machine is gone: not even the first packet of a connection is answered. */
static void be_gone(void)
{
    proxy_pass(front, false, false);
    proxy_deafen(front, true);
}

/* --- a run --- */

typedef struct callers {
    actor *ours[CALLERS];
    rlock *locks[CALLERS];
    int theirs[CALLERS];
} callers;

static void begin_all(callers *all, rlock_client *client)
{
    for (int i = 0; i < CALLERS; i++) {
        char name[32], thread[16];
        snprintf(name, sizeof name, "c-%d", i);
        all->ours[i] = actor_start();
        all->locks[i] = lock_of(client, name);
        actor_begin_lock(all->ours[i], all->locks[i]);
        snprintf(name, sizeof name, "java-%d", i);
        snprintf(thread, sizeof thread, "t%d", i);
        all->theirs[i] = java_begin_lock(thread, name);
    }
}

static void measure(const char *what, void (*begin)(void))
{
    callers all;
    int64_t ours_ms[CALLERS], theirs_ms[CALLERS];
    char url[64];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy_port(front));
    assert_ok(rlock_client_open(&client, url));
    agent_open(java, url, 0);
    rlock *warm = lock_of(client, "warm");
    assert_ok(rlock_lock(warm)); /* whatever is done once only has been done */
    assert_ok(rlock_unlock(warm));
    java_lock("warm", "java-warm");
    begin();
    begin_all(&all, client);
    for (int i = 0; i < CALLERS; i++) {
        assert_status(actor_finish(all.ours[i], LONGEST_MS), RLOCK_UNAVAILABLE);
        ours_ms[i] = actor_took(all.ours[i]);
        actor_end(all.ours[i]);
        const answer *got = agent_await(java, all.theirs[i], LONGEST_MS);
        cr_assert(got->threw, "Java has a lock that nobody gave it");
        theirs_ms[i] = (got->ended_ns - got->began_ns) / 1000000;
    }
    printf("%s; ms: median (least - most)\n", what);
    figures_show("until a call says that no server answers, C", ours_ms, CALLERS);
    figures_show("until a call throws, Java", theirs_ms, CALLERS);
    rlock_client_close(client);
}

Test(outage, of_a_server_that_refuses)
{
    measure("A server whose port refuses connections", refuse);
}

Test(outage, of_a_server_that_is_silent)
{
    measure("A server that takes connections and does not answer", be_silent);
}

Test(outage, of_a_server_that_is_gone)
{
    measure("A server whose machine answers no packet", be_gone);
}
