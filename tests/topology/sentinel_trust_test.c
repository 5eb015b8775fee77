/* Trust: which sentinels are believed, when they know less than was known before. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/fronts.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"

#include <stdarg.h>
#include <stdio.h>

#define NAME "order"
#define SOON_MS 60000

static sentinel *own;
static server *fresh;

static void open_fronted(void)
{
    fronts_begin();
    own = sentinel_start(NULL);
}

static void close_all(void)
{
    clients_close();
    fronts_end();
    sentinel_stop(own);
    server_stop(fresh);
}

TestSuite(sentinel_trust, .init = open_fronted, .fini = close_all);

static int64_t scripts_at(server *at)
{
    return server_times(at, "evalsha") + server_times(at, "eval");
}

static void cycle_at(rlock *lock, server *at)
{
    assert_ok(rlock_try_lock(lock, SOON_MS, 20000));
    cr_assert(server_integer(at, "EXISTS " NAME) == 1, "it stands elsewhere");
    assert_ok(rlock_unlock(lock));
}

__attribute__((format(printf, 2, 3))) static void tell(server *to, const char *format, ...)
{
    char command[200];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    redisReply *reply = server_command(to, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

/* It was away during a failover, and comes back with the former master, where it reaches nobody else. */
Test(sentinel_trust, is_not_for_one_that_missed_a_failover)
{
    server *left = sentinel_node(own, 2), *former = sentinel_server(own, 0);
    rlock_client *client = client_at("%s&" SPRY "&lockWatchdogTimeout=3600000", sentinel_url(own));
    rlock *lock = lock_of(client, NAME);
    cycle_at(lock, former);
    server_kill(left);
    server_kill(former);
    int next = sentinel_await_switch(own, 0, SOON_MS);
    cr_assert(next > 0, "no failover");
    cycle_at(lock, sentinel_server(own, next));

    for (int i = 0; i < 2; i++)
        server_kill(sentinel_node(own, i));
    for (int i = 1; i < 3; i++)
        server_kill(sentinel_server(own, i));
    int asked = proxy_add(front_of(left), &(proxy_rule){.act = PROXY_NOTE, .text = "GET-MASTER-ADDR-BY-NAME"});
    server_restart(former);
    server_restart(left);
    actor *asker = actor_start();
    actor_begin_try(asker, lock, 2 * SOON_MS, 20000);
    cr_assert(proxy_await(front_of(left), asked, PROXY_ANSWERED, 4, SOON_MS), "the client does not ask it");
    cr_assert(scripts_at(former) == 0, "the former master was asked for a lock");
    client_end(client);
    cr_assert(actor_finish(asker, SOON_MS) != RLOCK_OK);
    actor_end(asker);
}

/* Two of three are gone for ever; the third begins again, with another master. */
Test(sentinel_trust, is_for_one_that_was_set_up_anew_when_nobody_has_heard_of_the_others_for_long)
{
    rlock *lock = lock_of(client_at("%s&" SPRY "&lockWatchdogTimeout=2000", sentinel_url(own)), NAME);
    int master = sentinel_fail_over(own);
    proxy *first = front_of(sentinel_node(own, 0));
    cycle_at(lock, sentinel_server(own, master));
    int asked = proxy_add(first, &(proxy_rule){.act = PROXY_NOTE, .text = "GET-MASTER-ADDR-BY-NAME"});
    cr_assert(proxy_await(first, asked, PROXY_ANSWERED, 3, SOON_MS), "the client does not hear of the failover's number");
    fresh = server_start();
    for (int i = 0; i < 2; i++)
        server_kill(sentinel_node(own, i));
    tell(sentinel_node(own, 2), "SENTINEL REMOVE " SENTINEL_MASTER);
    tell(sentinel_node(own, 2), "SENTINEL MONITOR " SENTINEL_MASTER " 127.0.0.1 %d 1", server_public_port(fresh));
    for (int i = 0; i < 3; i++)
        server_kill(sentinel_server(own, i));
    cycle_at(lock, fresh);
}
