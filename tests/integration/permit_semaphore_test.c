/* The permit-expirable semaphore: permits with ids, taken, given back and counted as Redisson's are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(permit_semaphore, .init = stage_open, .fini = stage_close);

#define NAME "pe"
#define NO_EXPIRY INT64_C(922337203685477)
#define UNKNOWN "0123456789abcdef0123456789abcdef"

static rlock_permit_semaphore *semaphore_with(int permits)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    bool set = false;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, permits, &set));
    cr_assert(set);
    return semaphore;
}

static rlock_permit permit_of(rlock_permit_semaphore *semaphore, int64_t lease_ms)
{
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, lease_ms, &permit));
    return permit;
}

/* The whole keyspace is the semaphore, with so many available and taken. */
static void assert_stands(int available, int taken)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d", available);
    char *value = server_text(stage.server, "GET " NAME);
    cr_assert(value && strcmp(value, expected) == 0, "the counter is %s, expected %s", value, expected);
    free(value);
    cr_assert(server_integer(stage.server, "ZCARD {" NAME "}:timeout") == taken);
    cr_assert(server_integer(stage.server, "DBSIZE") == (taken > 0 ? 2 : 1));
}

static void await_expiry(const rlock_permit *permit)
{
    int64_t expiry = expiry_of(NAME, permit);
    while (server_now_ms() <= expiry)
        pass_ms(5);
}

/* --- what it leaves on the server --- */

/* Redisson's steps "permit expirable". */
TimedTest(permit_semaphore, leaves_redissons_keys_and_messages)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    monitor *tap = monitor_open();
    bool answer = false;
    rlock_permit many[2];
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 3, &answer));
    cr_assert(answer);
    rlock_permit first = permit_of(semaphore, RLOCK_PERMIT_FOREVER);
    assert_stands(2, 1);
    cr_assert(expiry_of(NAME, &first) == NO_EXPIRY);
    int64_t before_ms = server_now_ms();
    rlock_permit leased = permit_of(semaphore, 1900);
    assert_stands(1, 2);
    assert_between(expiry_of(NAME, &leased), before_ms + 1900, server_now_ms() + 1900);
    assert_ok(rlock_permit_semaphore_release(semaphore, first.id));
    assert_stands(2, 1);
    await_expiry(&leased);
    cr_assert(permits_available(semaphore) == 3 && permits_taken(semaphore) == 0 && permits_total(semaphore) == 3);
    assert_stands(3, 0);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, many));
    assert_stands(1, 2);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 10));
    assert_stands(8, 2);
    before_ms = server_now_ms();
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, many[0].id, 20000, &answer));
    cr_assert(answer);
    assert_stands(8, 2);
    assert_between(expiry_of(NAME, &many[0]), before_ms + 20000, server_now_ms() + 20000);
    cr_assert(expiry_of(NAME, &many[1]) == NO_EXPIRY);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 2, many));
    assert_stands(10, 0);
    assert_ok(rlock_permit_semaphore_try_release(semaphore, many[0].id, &answer));
    cr_assert(!answer);
    cr_assert(server_integer(stage.server, "PTTL " NAME) == -1);
    assert_said(tap, "PUBLISH redisson_sc:{pe} 3\n"
                     "PUBLISH redisson_sc:{pe} 2\n"
                     "PUBLISH redisson_sc:{pe} 3\n"
                     "PUBLISH redisson_sc:{pe} 10\n"
                     "PUBLISH redisson_sc:{pe} 1\n" /* ours: a lease got shorter */
                     "PUBLISH redisson_sc:{pe} 2\n");
    monitor_close(tap);
}

Test(permit_semaphore, says_nothing_where_nothing_changed)
{
    rlock_permit_semaphore *semaphore = semaphore_with(2);
    rlock_permit permit, permits[3];
    monitor *tap = monitor_open();
    bool answer;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 3, &answer));
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 2));
    assert_ok(rlock_permit_semaphore_add_permits(semaphore, 0));
    assert_ok(rlock_permit_semaphore_add_permits(semaphore, -1));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 30000, &permit));
    assert_status(rlock_permit_semaphore_try_acquire_many(semaphore, 3, 0, 1000, permits), RLOCK_TIMEOUT);
    assert_ok(rlock_permit_semaphore_try_release(semaphore, UNKNOWN, &answer));
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, 60000, &answer));
    permits_available(semaphore);
    assert_ok(rlock_permit_semaphore_delete(semaphore, &answer));
    assert_said(tap, "");
    monitor_close(tap);
}

Test(permit_semaphore, has_redissons_keys_for_names_with_braces_and_prefixes)
{
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    rlock_permit_semaphore *braces = permits_of(stage.client, "a{x}b"), *shop = permits_of(prefixed, NAME);
    monitor *tap = monitor_open();
    assert_ok(rlock_permit_semaphore_try_set_permits(braces, 1, NULL));
    assert_ok(rlock_permit_semaphore_try_set_permits(shop, 1, NULL));
    permit_of(braces, RLOCK_PERMIT_FOREVER);
    permit_of(shop, RLOCK_PERMIT_FOREVER);
    assert_said(tap, "PUBLISH redisson_sc:a{x}b 1\nPUBLISH redisson_sc:{shop:pe} 1\n");
    cr_assert(server_integer(stage.server, "ZCARD a{x}b:timeout") == 1);
    cr_assert(server_integer(stage.server, "ZCARD {shop:pe}:timeout") == 1);
    cr_assert(server_integer(stage.server, "EXISTS a{x}b shop:pe") == 2);
    cr_assert(strcmp(rlock_permit_semaphore_name(shop), NAME) == 0);
    monitor_close(tap);
}

static void refuse_epochs(const char *line, void *arg)
{
    (void)arg;
    int digits = 0;
    for (const char *c = strstr(line, "] \""); c && *c; c++) {
        digits = isdigit((unsigned char)*c) ? digits + 1 : 0;
        cr_assert(!(digits == 13 && !isdigit((unsigned char)c[1]) && c[1] == '"' && c[-13] == '"'),
                  "sends an instant of its own: %s", line);
    }
}

/* The server's clock alone says when a permit expires. */
Test(permit_semaphore, sends_no_clock_of_its_own)
{
    rlock_permit_semaphore *semaphore = semaphore_with(2);
    monitor *tap = monitor_open();
    rlock_permit permit = permit_of(semaphore, 60000);
    int64_t ms;
    assert_ok(rlock_permit_semaphore_get_lease_time(semaphore, permit.id, &ms));
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, 70000, NULL));
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
    cr_assert(monitor_saw(tap, "evalsha") + monitor_saw(tap, "\"eval\"") >= 4);
    monitor_each(tap, "eval", refuse_epochs, NULL);
    monitor_close(tap);
}

Test(permit_semaphore, without_a_key_has_no_permits)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_permit permit;
    cr_assert(permits_available(semaphore) == 0 && permits_taken(semaphore) == 0 && permits_total(semaphore) == 0);
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 0, 1000, &permit), RLOCK_TIMEOUT);
    assert_no_keys();
}

/* The zset goes with its counter, and an expiring permit brings neither back. */
TimedTest(permit_semaphore, with_a_ttl_leaves_no_key)
{
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    freeReplyObject(server_command(stage.server, "PEXPIRE " NAME " 3000"));
    permit_of(semaphore, 1900);
    assert_between(pttl_of("{" NAME "}:timeout"), 3000 - at_most_ms(300), 3000);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000));
    cr_assert(server_wait_exists(stage.server, "{" NAME "}:timeout", false, 5000));
    assert_no_keys();
    cr_assert(permits_available(semaphore) == 0);
    assert_no_keys();
}

/* --- counting --- */

Test(permit_semaphore, is_set_only_where_there_is_none)
{
    rlock_permit_semaphore *semaphore = semaphore_with(0);
    bool set = true;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 15, &set)); /* 0 is a number, too */
    cr_assert(!set && permits_total(semaphore) == 0);
}

/* However many are taken, the total is what was set. */
Test(permit_semaphore, set_sets_the_total)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    static const int totals[] = {10, 15, 15, 5};
    rlock_permit permits[3];
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        assert_ok(rlock_permit_semaphore_set_permits(semaphore, totals[i]));
        cr_assert(permits_total(semaphore) == totals[i] && permits_available(semaphore) == totals[i]);
    }
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, 60000, permits));
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 3));
    cr_assert(permits_available(semaphore) == 0 && permits_total(semaphore) == 3);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 2));
    cr_assert(permits_available(semaphore) == -1 && permits_taken(semaphore) == 3 && permits_total(semaphore) == 2);
    bool set = true;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 9, &set));
    cr_assert(!set && permits_total(semaphore) == 2);
}

Test(permit_semaphore, adds_and_takes_away)
{
    rlock_permit_semaphore *semaphore = semaphore_with(10);
    static const int changes[] = {5, -10, -10}, left[] = {15, 5, -5};
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_permit_semaphore_add_permits(semaphore, changes[i]));
        cr_assert(permits_available(semaphore) == left[i]);
    }
}

Test(permit_semaphore, add_ends_the_ttl_of_the_counter)
{
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    freeReplyObject(server_command(stage.server, "PEXPIRE " NAME " 60000"));
    assert_ok(rlock_permit_semaphore_add_permits(semaphore, 1));
    cr_assert(pttl_of(NAME) == -1);
}

Test(permit_semaphore, delete_removes_permits_too)
{
    rlock_permit_semaphore *semaphore = semaphore_with(2);
    rlock_permit permit = permit_of(semaphore, RLOCK_PERMIT_FOREVER);
    bool answer = false;
    assert_ok(rlock_permit_semaphore_delete(semaphore, &answer));
    cr_assert(answer);
    assert_no_keys();
    assert_ok(rlock_permit_semaphore_delete(semaphore, &answer));
    cr_assert(!answer);
    assert_ok(rlock_permit_semaphore_try_release(semaphore, permit.id, &answer));
    cr_assert(!answer);
    assert_no_keys();
}

/* --- ids --- */

Test(permit_semaphore, ids_are_32_hex_digits_and_never_the_same)
{
    enum { MANY = 1000 };
    rlock_permit_semaphore *semaphore = semaphore_with(MANY);
    static rlock_permit permits[MANY];
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, MANY, 60000, permits));
    for (int i = 0; i < MANY; i++) {
        cr_assert(strlen(permits[i].id) == 32 && strspn(permits[i].id, "0123456789abcdef") == 32);
        for (int j = 0; j < i; j++)
            cr_assert(strcmp(permits[i].id, permits[j].id) != 0);
    }
    assert_stands(0, MANY);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, MANY, permits));
    assert_stands(MANY, 0);
}

TimedTest(permit_semaphore, takes_as_many_at_once_as_it_says)
{
    semaphore_with(RLOCK_PERMITS_AT_ONCE);
    /* The server takes its time for as many; that is not what is asked here. */
    rlock_permit_semaphore *semaphore = permits_of(stage_client("timeout=30000"), NAME);
    rlock_permit *permits = malloc(RLOCK_PERMITS_AT_ONCE * sizeof *permits);
    cr_assert(permits != NULL);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, RLOCK_PERMITS_AT_ONCE, 60000, permits));
    assert_stands(0, RLOCK_PERMITS_AT_ONCE);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, RLOCK_PERMITS_AT_ONCE, permits));
    assert_stands(RLOCK_PERMITS_AT_ONCE, 0);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, RLOCK_PERMITS_AT_ONCE, 1, permits));
    pass_ms(2);
    cr_assert(permits_available(semaphore) == RLOCK_PERMITS_AT_ONCE); /* and as many that have expired */
    free(permits);
}

/* Taken by one client, given back by another, who knows the id alone; in either case of letters. */
Test(permit_semaphore, is_released_by_anybody_who_knows_the_id)
{
    rlock_permit_semaphore *semaphore = semaphore_with(2), *other = permits_of(stage.other, NAME);
    rlock_permit first = permit_of(semaphore, 60000), second = permit_of(semaphore, 60000);
    assert_ok(rlock_permit_semaphore_release(other, first.id));
    for (char *c = second.id; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    assert_ok(rlock_permit_semaphore_release(other, second.id));
    assert_stands(2, 0);
}

/* --- giving back --- */

Test(permit_semaphore, gives_many_back_once)
{
    rlock_permit_semaphore *semaphore = semaphore_with(10);
    rlock_permit permits[6];
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 6, 60000, permits));
    cr_assert(permits_available(semaphore) == 4);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 4, permits));
    cr_assert(permits_available(semaphore) == 8);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 2, permits + 4));
    cr_assert(permits_available(semaphore) == 10);
    assert_status(rlock_permit_semaphore_release_many(semaphore, 6, permits), RLOCK_INVALID);
    cr_assert(permits_available(semaphore) == 10);
    assert_ok(rlock_permit_semaphore_try_acquire_many(semaphore, 4, 0, 60000, permits));
    assert_ok(rlock_permit_semaphore_try_acquire_many(semaphore, 5, 0, 60000, permits));
    cr_assert(permits_available(semaphore) == 1);
}

Test(permit_semaphore, release_names_the_permit_that_is_not_there)
{
    rlock_permit_semaphore *semaphore = semaphore_with(2);
    bool released = true;
    assert_status(rlock_permit_semaphore_release(semaphore, UNKNOWN), RLOCK_INVALID);
    assert_error(UNKNOWN, NAME);
    assert_ok(rlock_permit_semaphore_try_release(semaphore, UNKNOWN, &released));
    cr_assert(!released);
    rlock_permit permit = permit_of(semaphore, 60000);
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
    assert_status(rlock_permit_semaphore_release(semaphore, permit.id), RLOCK_INVALID);
    assert_stands(2, 0);
}

/* An expired permit is available again, but was not released by who comes too late. */
TimedTest(permit_semaphore, release_of_an_expired_permit_says_so)
{
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    bool released = true;
    rlock_permit permit = permit_of(semaphore, 50);
    await_expiry(&permit);
    assert_status(rlock_permit_semaphore_release(semaphore, permit.id), RLOCK_INVALID);
    cr_assert(strstr(rlock_last_error(), permit.id) && strstr(rlock_last_error(), "expired"), "%s", rlock_last_error());
    assert_stands(1, 0);
    permit = permit_of(semaphore, 50);
    await_expiry(&permit);
    assert_ok(rlock_permit_semaphore_try_release(semaphore, permit.id, &released));
    cr_assert(!released);
    assert_stands(1, 0);
}

/* Unknown, released already, expired, or twice in the list: all or none. */
TimedTest(permit_semaphore, releases_all_of_a_list_or_none)
{
    rlock_permit_semaphore *semaphore = semaphore_with(10);
    rlock_permit permits[4], unknown = {UNKNOWN}, expired, released;
    released = permit_of(semaphore, 60000);
    assert_ok(rlock_permit_semaphore_release(semaphore, released.id));
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, 60000, permits));
    expired = permit_of(semaphore, 50);
    await_expiry(&expired);
    const rlock_permit *const bad[] = {&unknown, &released, &expired, &permits[0]};
    for (int i = 0; i < 4; i++) {
        int count = 77;
        permits[3] = *bad[i];
        assert_status(rlock_permit_semaphore_release_many(semaphore, 4, permits), RLOCK_INVALID);
        cr_assert(strstr(rlock_last_error(), bad[i]->id), "%s", rlock_last_error());
        assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 4, permits, &count));
        cr_assert(count == 0);
        assert_stands(6, 4); /* not even the expired one was taken back */
    }
    int count = 0;
    assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 3, permits, &count));
    cr_assert(count == 3);
    assert_stands(10, 0);
}

/* The list is released; those of others that have expired come back with it. */
TimedTest(permit_semaphore, release_takes_expired_permits_back)
{
    rlock_permit_semaphore *semaphore = semaphore_with(10);
    rlock_permit leased[3], lasting[3];
    int count = 0;
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, 100, leased));
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, RLOCK_PERMIT_FOREVER, lasting));
    await_expiry(&leased[0]);
    assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 3, lasting, &count));
    cr_assert(count == 3 && permits_available(semaphore) == 10);
    assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 3, leased, &count));
    cr_assert(count == 0 && permits_available(semaphore) == 10);
}

/* --- leases --- */

TimedTest(permit_semaphore, expired_permits_are_available_again)
{
    rlock_permit_semaphore *semaphore = semaphore_with(10);
    rlock_permit permits[6];
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 6, 100, permits));
    await_expiry(&permits[0]);
    permit_of(semaphore, 1900); /* takes one of them back, and is one more */
    cr_assert(server_integer(stage.server, "GET " NAME) == 4);
    cr_assert(permits_available(semaphore) == 9);
    int64_t since_ms = now_ms();
    while (permits_available(semaphore) != 10)
        cr_assert(now_ms() - since_ms < at_most_ms(2000));
    cr_assert(permits_taken(semaphore) == 0 && permits_total(semaphore) == 10);
}

TimedTest(permit_semaphore, lease_is_updated)
{
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    bool updated = true;
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, UNKNOWN, 1000, &updated));
    cr_assert(!updated);
    rlock_permit permit = permit_of(semaphore, 50);
    await_expiry(&permit);
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, 1000, &updated));
    cr_assert(!updated && permits_available(semaphore) == 1);
    permit = permit_of(semaphore, 1900);
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, 4000, &updated));
    cr_assert(updated);
    pass_ms(2000 - (now_ms() - since_ms));
    cr_assert(permits_available(semaphore) == 0);
    while (permits_available(semaphore) == 0)
        cr_assert(now_ms() - since_ms < at_most_ms(4050));
    permit = permit_of(semaphore, 1900);
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, RLOCK_PERMIT_FOREVER, &updated));
    cr_assert(updated && expiry_of(NAME, &permit) == NO_EXPIRY);
}

TimedTest(permit_semaphore, lease_left_is_told)
{
    rlock_permit_semaphore *semaphore = semaphore_with(2);
    int64_t ms = 77;
    assert_status(rlock_permit_semaphore_get_lease_time(semaphore, UNKNOWN, &ms), RLOCK_INVALID);
    cr_assert(ms == 77 && strstr(rlock_last_error(), UNKNOWN), "%s", rlock_last_error());
    rlock_permit lasting = permit_of(semaphore, RLOCK_PERMIT_FOREVER), leased = permit_of(semaphore, 3100);
    assert_ok(rlock_permit_semaphore_get_lease_time(semaphore, lasting.id, &ms));
    cr_assert(ms == RLOCK_PERMIT_FOREVER);
    pass_ms(100);
    assert_ok(rlock_permit_semaphore_get_lease_time(semaphore, leased.id, &ms));
    assert_between(ms, 3000 - at_most_ms(100), 3001); /* its clock is cut off to the millisecond */
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, leased.id, RLOCK_LEASE_MAX_MS, NULL));
    assert_ok(rlock_permit_semaphore_get_lease_time(semaphore, leased.id, &ms));
    assert_between(ms, RLOCK_LEASE_MAX_MS - 10000, RLOCK_LEASE_MAX_MS);
}

/* --- exclusion --- */

TimedTest(permit_semaphore, one_permit_excludes)
{
    static void *objects[64];
    rlock_permit_semaphore *semaphore = semaphore_with(1);
    for (int i = 0; i < 50; i++)
        objects[i] = semaphore;
    guard_counter(&by_permit, objects, 50, 2, 30000);
    for (int i = 0; i < 16; i++)
        objects[i] = permits_of(stage_client(NULL), NAME);
    guard_counter(&by_permit, objects, 16, 60, 60000);
    assert_stands(1, 0);
    cr_assert(wait_no_channels(5000));
}
