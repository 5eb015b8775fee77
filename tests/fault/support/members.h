/* Members: locks of one name on several servers, each behind a proxy and with a client of its own that a poll loop
 * serves; and async calls on locks made of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_MEMBERS_H
#define FAULT_MEMBERS_H

#include "redis/script.h"
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/poll_loop.h"

#define MEMBERS      3
#define MEMBER_NAME  "order"
#define MEMBER_OWNER 7
/* So long that no test sees it end. */
#define LONG_LEASE_MS 3600000
/* For an event that is to come. */
#define MEMBER_LIMIT_MS 60000

struct member {
    server *server;
    proxy *proxy;
    rlock_client *client; /* through the proxy; the poll loop serves it */
};
extern struct member members[MEMBERS];

/* For .init and .fini of a test. */
void members_open(void);
void members_close(void);

/* One more client of a member through its proxy, which the poll loop serves until poll_loop_remove. The test closes it. */
rlock_client *member_client(size_t member);
/* Ends the service of one of `members`' clients, and closes it. */
void member_close_client(rlock_client *client);

/* A lock made of those of all members, for MEMBER_OWNER; of these clients. Kept until members_close. */
rlock *made_of_members(lock_maker *make);
rlock *made_of_clients(lock_maker *make, rlock_client *const clients[MEMBERS]);

/* Begins an acquire, an unlock. */
void member_begin_lock(rlock *lock, int64_t wait_ms, int64_t lease_ms, rlock_cancel *cancel, ending *end);
void member_begin_unlock(rlock *lock, ending *end);
/* Whole unlocks, which must succeed. */
void member_unlock(rlock *lock);

/* A rule for the first request (`times` 1) or all (0) of the script at a member. */
int member_rule(size_t member, const rli_script *script, proxy_act act, int times);
/* Serves the clients until the rule has that count; until the lock stands on the member's server. Fail the test when that
 * does not come. */
void member_serve_until_counted(size_t member, int rule, proxy_count_of what, int count);
void member_serve_until_held(size_t member);

/* The lock at a member: held by somebody; taken by a program that is not there; freed, with its message. */
bool member_held(size_t member);
void member_foreign_hold(size_t member);
void member_foreign_release(size_t member);
/* Fails the test unless the lock becomes free at the member, at all members. */
void assert_member_free(size_t member);
void assert_members_free(void);

#endif
