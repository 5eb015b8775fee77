/* Idle connections: the server closes those that were not used for a while, and no call fails for that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(idle, .init = stage_open, .fini = stage_close);

#define LATEST_MS 30000
#define NAMED "clientName=idler&"
#define ONCE NAMED "retryAttempts=0" /* no call has a second attempt */

static bool is_connected(void)
{
    char *clients = server_text(stage.server, "CLIENT LIST");
    bool is = strstr(clients, "name=idler") != NULL;
    free(clients);
    return is;
}

/* Until the server has closed all connections that were idle for a second. */
static void await_closed(void)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET timeout 1"));
    for (int64_t end_ms = limit_end_ms(LATEST_MS); is_connected(); pass_ms(20))
        cr_assert(now_ms() < end_ms, "the server does not close idle connections");
    freeReplyObject(server_command(stage.server, "CONFIG SET timeout 0"));
}

static rlock_client *by_tcp(const char *query)
{
    char url[256];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "%s?%s", server_tcp_url(stage.server), query);
    assert_ok(rlock_client_open(&client, url));
    return client;
}

static void assert_locks_and_unlocks(rlock_client *client)
{
    rlock *lock = rlock_get_lock(client, "order");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    await_closed();
    assert_ok(rlock_lock(lock));
    await_closed();
    assert_ok(rlock_unlock(lock));
    await_closed();
    assert_ok(rlock_try_lock(lock, 0, 60000));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
}

Test(idle, that_the_server_has_closed_fails_no_call_over_tcp)
{
    rlock_client *client = by_tcp(ONCE);
    assert_locks_and_unlocks(client);
    rlock_client_close(client);
}

Test(idle, that_the_server_has_closed_fails_no_call_over_a_unix_socket)
{
    assert_locks_and_unlocks(stage_client(ONCE));
}

/* A request that may be sent only once is sent once. */
Test(idle, that_the_server_has_closed_fails_no_call_that_is_sent_once)
{
    rlock_client *client = by_tcp(ONCE);
    rlock_semaphore *semaphore = rlock_get_semaphore(client, "permits");
    bool set;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 5, &set));
    await_closed();
    assert_ok(rlock_semaphore_acquire(semaphore, 2));
    await_closed();
    assert_ok(rlock_semaphore_release(semaphore, 1));
    await_closed();
    int permits = 0;
    assert_ok(rlock_semaphore_available_permits(semaphore, &permits));
    cr_assert(permits == 4, "%d permits", permits);
    rlock_semaphore_free(semaphore);
    rlock_client_close(client);
}

/* A release that nobody waits for reaches the server at once, not after a pause of the background. */
Test(idle, that_the_server_has_closed_loses_no_release_that_nobody_waits_for)
{
    rlock_client *client = stage_client(ONCE "&unlockWaits=false");
    rlock *lock = lock_of(client, "order");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock)); /* the first release is waited for */
    assert_ok(rlock_lock_lease(lock, 60000));
    await_closed();
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "EXISTS order") == 0, "the release was lost");
}
