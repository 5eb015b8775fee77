/* Guarded writes: what a holder writes after its hold was over changes nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/child.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/stand_still.h"

#include <stdlib.h>
#include <string.h>

TestSuite(guarded_write, .init = stage_open, .fini = stage_close);

#define KEY "report"

static rlock_status set(const char *value, uint64_t token)
{
    return rlock_fenced_set(stage.client, KEY, value, strlen(value), token);
}

static void assert_value(const char *expected)
{
    char *value = server_text(stage.server, "GET " KEY);
    cr_assert(value && strcmp(value, expected) == 0, "%s", value);
    free(value);
}

Test(guarded_write, with_an_older_token_is_refused)
{
    assert_ok(set("first", 5));
    assert_value("first");
    assert_ok(set("again", 5));
    assert_value("again");
    assert_ok(set("next", 6));
    assert_status(set("late", 5), RLOCK_LOST);
    assert_error("newer token", KEY);
    assert_value("next");
    cr_assert(pttl_of(KEY) == -1);
}

/* Neither as doubles nor as text alone. */
Test(guarded_write, compares_tokens_exactly)
{
    assert_ok(set("a", UINT64_C(9007199254740993)));
    assert_status(set("b", UINT64_C(9007199254740992)), RLOCK_LOST);
    assert_status(set("c", 99), RLOCK_LOST);
    assert_ok(set("d", UINT64_MAX));
    assert_status(set("e", UINT64_MAX - 1), RLOCK_LOST);
    assert_value("d");
}

/* A request of an earlier write that comes again behind a later one of the same hold. */
Test(guarded_write, that_comes_again_late_undoes_nothing)
{
    assert_ok(set("one", 7));
    char *number = server_text(stage.server, "HGET rlock_fence:{" KEY "} number");
    assert_ok(set("two", 7));
    size_t length;
    char *script = rli_script_text(&rli_script_fenced_set, RLI_COUNTED, &length);
    cr_assert(server_integer(stage.server, "EVAL %s 2 " KEY " rlock_fence:{" KEY "} one 7 %s %s", script,
                             rlock_client_id(stage.client), number) == 1);
    assert_value("two");
    free(script);
    free(number);
}

Test(guarded_write, takes_any_bytes)
{
    assert_ok(rlock_fenced_set(stage.client, KEY, "a\0b\r\n", 5, 1));
    cr_assert(server_integer(stage.server, "STRLEN " KEY) == 5);
    assert_ok(rlock_fenced_set(stage.client, KEY, NULL, 0, 1));
    cr_assert(server_integer(stage.server, "STRLEN " KEY) == 0);
}

Test(guarded_write, of_wrong_arguments_is_refused)
{
    assert_status(set("x", 0), RLOCK_INVALID);
    assert_error("0, which is not a fencing token");
    assert_status(rlock_fenced_set(stage.client, KEY, NULL, 1, 1), RLOCK_INVALID);
    assert_status(rlock_fenced_set(stage.client, KEY, "x", (size_t)512 * 1024 * 1024 + 1, 1), RLOCK_INVALID);
    assert_error("the value has 536870913 bytes", "512 MiB");
    assert_status(rlock_fenced_set(stage.client, KEY, "x", SIZE_MAX, 1), RLOCK_INVALID);
    assert_status(rlock_fenced_set(stage.client, NULL, "x", 1, 1), RLOCK_INVALID);
    assert_status(rlock_fenced_set(stage.client, "", "x", 1, 1), RLOCK_INVALID);
    assert_status(rlock_fenced_set(NULL, KEY, "x", 1, 1), RLOCK_INVALID);
    freeReplyObject(server_command(stage.server, "RPUSH " KEY " x"));
    assert_status(set("x", 1), RLOCK_SERVER);
    assert_error("WRONGTYPE", KEY);
    cr_assert(server_integer(stage.server, "LLEN " KEY) == 1);
}

/* --- a process that stands still --- */

/* Holds the lock with a short lease, stands still, and writes when it goes on. */
static const char *hold_stand_and_write(child *self)
{
    rlock_client *client;
    uint64_t token;
    (void)self;
    child_check(rlock_client_open(&client, server_url(stage.server)) == RLOCK_OK);
    rlock *lock = rlock_get_fenced_lock(client, "writer");
    child_check(lock && rlock_try_lock_and_get_token(lock, 0, 500, &token) == RLOCK_OK);
    child_check(rlock_fenced_set(client, KEY, "first", 5, token) == RLOCK_OK);
    stand_still_here();
    child_check(rlock_fenced_set(client, KEY, "late", 4, token) == RLOCK_LOST);
    rlock_free(lock);
    rlock_client_close(client);
    return NULL;
}

RealTest(guarded_write, of_a_process_that_stood_still_beyond_its_lease_is_refused)
{
    if (!CHILD_MAY_ALLOCATE || !CHILD_MAY_START_THREADS)
        cr_skip_test("the child cannot use a client under this sanitizer");
    uint64_t token = 0;
    child late = child_start(hold_stand_and_write);
    cr_assert(stand_still_await(late.pid), "it did not stop");
    rlock *lock = kind_of(&kind_fenced, stage.client, "writer");
    assert_ok(rlock_try_lock_and_get_token(lock, 60000, RLOCK_WATCHDOG, &token));
    assert_value("first");
    assert_ok(set("next", token));
    stand_still_no_more(late.pid);
    child_end(&late);
    assert_value("next");
    assert_ok(rlock_unlock(lock));
}
