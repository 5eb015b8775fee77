/* Members: locks of one name on several servers, each behind a proxy and with a client of its own that a poll loop
 * serves; and async calls on locks made of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/members.h"

#include "tests/fault/support/scene.h"
#include "tests/integration/support/keys.h"
#include "tests/support/scripts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A lost answer costs one `timeout`; that of a loaded machine is not late by as much. */
#define MEMBER_QUERY                                                                                                   \
    "timeout=3000&connectTimeout=3000&retryAttempts=2&retryBaseDelay=50&retryMaxDelay=100&lockWatchdogTimeout="        \
    SCENE_TEXT_(WATCHDOG_MS)

struct member members[MEMBERS];

#define URL_ROOM 512

static const char *url_of(size_t member, char url[URL_ROOM])
{
    snprintf(url, URL_ROOM, "unix://%s?" MEMBER_QUERY, proxy_socket(members[member].proxy));
    return url;
}

rlock_client *member_client(size_t member)
{
    char url[URL_ROOM];
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, url_of(member, url)));
    poll_loop_add(client);
    return client;
}

void members_open(void)
{
    alarm(HANG_S);
    for (size_t i = 0; i < MEMBERS; i++) { /* before there are threads: a proxy forks */
        members[i].server = server_start();
        members[i].proxy = proxy_start(members[i].server);
        for (size_t s = 0; rli_scripts[s]; s++)
            server_load(members[i].server, rli_scripts[s], RLI_COUNTED);
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        char url[URL_ROOM];
        members[i].client = stage_client_at(url_of(i, url));
        poll_loop_add(members[i].client);
    }
}

void members_close(void)
{
    stage_close(); /* clients first: that ends calls which a failed test left waiting */
    for (size_t i = 0; i < MEMBERS; i++) {
        proxy_stop(members[i].proxy);
        server_stop(members[i].server);
    }
    memset(members, 0, sizeof members);
}

void member_close_client(rlock_client *client)
{
    poll_loop_remove(client);
    stage_close_client(client);
}

rlock *made_of_clients(lock_maker *make, rlock_client *const clients[MEMBERS])
{
    rlock *locks[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++)
        locks[i] = lock_of(clients[i], MEMBER_NAME);
    return owned_by(stage_keep(make(locks, MEMBERS)), MEMBER_OWNER);
}

rlock *made_of_members(lock_maker *make)
{
    rlock_client *clients[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++)
        clients[i] = members[i].client;
    return made_of_clients(make, clients);
}

void member_begin_lock(rlock *lock, int64_t wait_ms, int64_t lease_ms, rlock_cancel *cancel, ending *end)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = lease_ms;
    options.cancel = cancel;
    assert_ok(rlock_lock_async(lock, &options, poll_loop_end, end));
}

void member_begin_unlock(rlock *lock, ending *end)
{
    assert_ok(rlock_unlock_async(lock, NULL, poll_loop_end, end));
}

void member_unlock(rlock *lock)
{
    ending end = {0};
    member_begin_unlock(lock, &end);
    assert_ends(end, RLOCK_OK);
}

int member_rule(size_t member, const rli_script *script, proxy_act act, int times)
{
    const proxy_rule rule = {.act = act, .text = script->sha1[RLI_COUNTED], .times = times};
    return proxy_add(members[member].proxy, &rule);
}

typedef struct awaited {
    size_t member;
    int rule, count;
    proxy_count_of what;
} awaited;

static bool is_counted(void *arg)
{
    const awaited *self = arg;
    return proxy_count(members[self->member].proxy, self->rule, self->what) >= self->count;
}

void member_serve_until_counted(size_t member, int rule, proxy_count_of what, int count)
{
    awaited until = {member, rule, count, what};
    cr_assert(poll_loop_until(is_counted, &until, MEMBER_LIMIT_MS), "the request did not come to member %zu", member);
}

static bool is_held(void *arg)
{
    return member_held(*(size_t *)arg);
}

void member_serve_until_held(size_t member)
{
    cr_assert(poll_loop_until(is_held, &member, MEMBER_LIMIT_MS), "member %zu was not taken", member);
}

bool member_held(size_t member)
{
    return server_integer(members[member].server, "EXISTS %s", MEMBER_NAME) == 1;
}

void member_foreign_hold(size_t member)
{
    freeReplyObject(server_command(members[member].server, "HSET %s %s 1", MEMBER_NAME, FOREIGN_CLIENT ":1"));
}

void member_foreign_release(size_t member)
{
    freeReplyObject(server_command(members[member].server, "DEL %s", MEMBER_NAME));
    freeReplyObject(server_command(members[member].server, "PUBLISH %s 0", channel_of(MEMBER_NAME)));
}

void assert_member_free(size_t member)
{
    cr_assert(server_wait_exists(members[member].server, MEMBER_NAME, false, MEMBER_LIMIT_MS),
              "member %zu is left locked", member);
}

void assert_members_free(void)
{
    for (size_t i = 0; i < MEMBERS; i++)
        assert_member_free(i);
}
