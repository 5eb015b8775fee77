/* The permit-expirable semaphore, asked for what it can't do: it says why, and nothing changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

TestSuite(permit_input, .init = stage_open, .fini = stage_close);

#define NAME "pe"
#define UNKNOWN "0123456789abcdef0123456789abcdef"

static rlock_permit_semaphore *semaphore_with(int permits)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, permits, NULL));
    return semaphore;
}

#define assert_invalid(call, words)                                                                \
    do {                                                                                           \
        assert_status(call, RLOCK_INVALID);                                                        \
        assert_error(words);                                                                       \
    } while (0)

Test(permit_input, refuses_malformed_ids_before_it_asks)
{
    static const char *const ids[] = {"", "1234", "0123456789abcdef0123456789abcdeg",
                                      "0123456789abcdef0123456789abcdef0", "0123456789abcdef 123456789abcdef"};
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    rlock_permit permits[2] = {{UNKNOWN}, {"xyz"}}, endless;
    int64_t before = scripts_run(), ms = 77;
    bool flag = true;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_invalid(rlock_permit_semaphore_release(semaphore, ids[i]), "32 hex digits");
        assert_invalid(rlock_permit_semaphore_try_release(semaphore, ids[i], &flag), ids[i]);
        assert_invalid(rlock_permit_semaphore_update_lease_time(semaphore, ids[i], 1000, &flag), "32 hex digits");
        assert_invalid(rlock_permit_semaphore_get_lease_time(semaphore, ids[i], &ms), "32 hex digits");
    }
    assert_invalid(rlock_permit_semaphore_release(semaphore, NULL), "NULL");
    assert_invalid(rlock_permit_semaphore_release_many(semaphore, 2, permits), "xyz");
    memset(endless.id, 'a', sizeof endless.id);
    assert_invalid(rlock_permit_semaphore_release_many(semaphore, 1, &endless), "permit 1 of 1");
    cr_assert(flag && ms == 77 && scripts_run() == before);
}

Test(permit_input, refuses_bad_arguments)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_permit permit = {UNKNOWN};
    int64_t before = scripts_run();
    bool flag = true;
    assert_invalid(rlock_permit_semaphore_acquire_many(semaphore, 0, 1000, &permit), "permits is 0");
    assert_invalid(rlock_permit_semaphore_acquire_many(semaphore, -1, 1000, &permit), "permits is -1");
    assert_invalid(rlock_permit_semaphore_acquire_many(semaphore, INT_MAX, 1000, &permit), "permits is 2147483647");
    assert_invalid(rlock_permit_semaphore_release_many(semaphore, 0, &permit), "permits is 0");
    assert_invalid(rlock_permit_semaphore_try_release_many(semaphore, 0, &permit, NULL), "permits is 0");
    assert_invalid(rlock_permit_semaphore_release_many(semaphore, 1, NULL), "NULL");
    assert_invalid(rlock_permit_semaphore_acquire(semaphore, 1000, NULL), "NULL");
    assert_invalid(rlock_permit_semaphore_acquire(semaphore, 0, &permit), "the lease is 0 ms");
    assert_invalid(rlock_permit_semaphore_acquire(semaphore, -3, &permit), "RLOCK_PERMIT_WATCHDOG");
    assert_invalid(rlock_permit_semaphore_acquire(semaphore, RLOCK_LEASE_MAX_MS + 1, &permit), "100 years");
    assert_invalid(rlock_permit_semaphore_update_lease_time(semaphore, UNKNOWN, 0, &flag), "the lease is 0 ms");
    assert_invalid(rlock_permit_semaphore_update_lease_time(semaphore, UNKNOWN, RLOCK_PERMIT_WATCHDOG, &flag), "the lease is -2 ms");
    assert_invalid(rlock_permit_semaphore_get_lease_time(semaphore, UNKNOWN, NULL), "NULL");
    assert_invalid(rlock_permit_semaphore_available_permits(semaphore, NULL), "NULL");
    assert_invalid(rlock_permit_semaphore_try_set_permits(semaphore, -1, &flag), "permits is -1");
    assert_invalid(rlock_permit_semaphore_set_permits(semaphore, -1), "permits is -1");
    assert_invalid(rlock_permit_semaphore_acquire_with(semaphore, 1, NULL, &permit), "RLOCK_PERMIT_OPTIONS_INIT");
    options.size++;
    assert_invalid(rlock_permit_semaphore_acquire_with(semaphore, 1, &options, &permit), "RLOCK_PERMIT_OPTIONS_INIT");
    assert_invalid(rlock_permit_semaphore_acquire(NULL, 1000, &permit), "semaphore is NULL");
    assert_invalid(rlock_permit_semaphore_release(NULL, UNKNOWN), "semaphore is NULL");
    assert_invalid(rlock_permit_semaphore_add_permits(NULL, 1), "semaphore is NULL");
    assert_invalid(rlock_permit_semaphore_delete(NULL, NULL), "semaphore is NULL");
    cr_assert(flag && strcmp(permit.id, UNKNOWN) == 0 && scripts_run() == before);
    cr_assert(rlock_get_permit_expirable_semaphore(stage.client, "") == NULL);
    cr_assert(rlock_get_permit_expirable_semaphore(NULL, NAME) == NULL);
    cr_assert(rlock_permit_semaphore_name(NULL) == NULL);
    rlock_permit_semaphore_free(NULL);
    assert_no_keys();
}

static void refuse_all(rlock_permit_semaphore *semaphore)
{
    rlock_permit permit = {UNKNOWN};
    bool flag = true;
    int permits = 77;
    int64_t ms = 77;
    char *before = server_keyspace(stage.server);
    assert_status(rlock_permit_semaphore_acquire(semaphore, 1000, &permit), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_release(semaphore, UNKNOWN), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_try_release(semaphore, UNKNOWN, &flag), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_release_many(semaphore, 1, &permit), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_update_lease_time(semaphore, UNKNOWN, 1000, &flag), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_get_lease_time(semaphore, UNKNOWN, &ms), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_try_set_permits(semaphore, 1, &flag), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_set_permits(semaphore, 1), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_add_permits(semaphore, 1), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_available_permits(semaphore, &permits), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_acquired_permits(semaphore, &permits), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_get_permits(semaphore, &permits), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_delete(semaphore, &flag), RLOCK_SERVER);
    assert_error("WRONGTYPE", NAME);
    cr_assert(flag && permits == 77 && ms == 77 && strcmp(permit.id, UNKNOWN) == 0);
    assert_keys(before);
    free(before);
}

/* Either key; an expired permit that would be taken back stays as well. */
Test(permit_input, leaves_a_key_of_another_type_alone)
{
    static const char *const commands[][2] = {
        {"HSET pe a 1", NULL},
        {"SET pe five", NULL},
        {"SET pe 1.5", "ZADD {pe}:timeout 5 0123456789abcdef"},
        {"HSET pe a 1", "ZADD {pe}:timeout 5 0123456789abcdef"},
        {"SET pe 5", "SET {pe}:timeout 5"},
    };
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        for (int j = 0; j < 2 && commands[i][j]; j++)
            freeReplyObject(server_command(stage.server, commands[i][j]));
        refuse_all(semaphore);
        freeReplyObject(server_command(stage.server, "FLUSHALL"));
    }
}

Test(permit_input, says_when_there_are_more_permits_than_an_int_holds)
{
    rlock_permit_semaphore *semaphore = semaphore_with(INT_MAX);
    int permits = 77;
    assert_ok(rlock_permit_semaphore_add_permits(semaphore, 1));
    assert_status(rlock_permit_semaphore_available_permits(semaphore, &permits), RLOCK_SERVER);
    cr_assert(permits == 77 && strstr(rlock_last_error(), "2147483648"), "%s", rlock_last_error());
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 60000, &permit));
    cr_assert(permits_available(semaphore) == INT_MAX);
    assert_status(rlock_permit_semaphore_get_permits(semaphore, &permits), RLOCK_SERVER);
}

Test(permit_input, of_a_closed_client_says_so)
{
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit));
    actor *waiter = actor_start();
    actor_begin(waiter, lease, &(leasing){semaphore, 1, RLOCK_FOREVER, 1000, NULL, &permit});
    cr_assert(wait_semaphore_heard(NAME, 1) && actor_asleep(waiter, 5000));
    stage_close_client(stage.client);
    assert_status(actor_finish(waiter, 5000), RLOCK_CLOSED);
    assert_status(rlock_permit_semaphore_acquire(semaphore, 1000, &permit), RLOCK_CLOSED);
    assert_status(rlock_permit_semaphore_release(semaphore, permit.id), RLOCK_CLOSED);
    cr_assert(server_integer(stage.server, "ZCARD {pe}:timeout") == 1);
    actor_end(waiter);
}
