/* Guarded writes whose answers are lost, or that come late. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/stage.h"

#include <stdlib.h>
#include <string.h>

TestSuite(guarded_fault, .init = scene_open, .fini = scene_close);

#define KEY "report"

static rlock_status set(rlock_client *client, const char *value, uint64_t token)
{
    return rlock_fenced_set(client, KEY, value, strlen(value), token);
}

static void assert_value(const char *expected)
{
    char *value = server_text(stage.server, "GET " KEY);
    cr_assert(value && strcmp(value, expected) == 0, "%s", value);
    free(value);
}

Test(guarded_fault, lost_answer_is_asked_for_again)
{
    int rule = on_script(&rli_script_fenced_set, PROXY_CUT_AFTER, 1);
    assert_ok(set(scene.client, "one", 7));
    cr_assert(seen_by(rule) == 2);
    assert_value("one");
}

Test(guarded_fault, without_any_answer_may_have_been_done_and_says_so)
{
    int rule = on_script(&rli_script_fenced_set, PROXY_CUT_AFTER, 0);
    assert_status(set(scene.client, "one", 7), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    assert_value("one");
    on_script(&rli_script_fenced_set, PROXY_CUT_BEFORE, 0);
    assert_status(set(scene.client, "two", 7), RLOCK_UNAVAILABLE);
    assert_value("one");
}

/* The request stands in a connection that the client has given up, and runs when two later ones are done. */
Test(guarded_fault, that_comes_late_undoes_neither_a_later_one_of_its_hold_nor_of_the_next)
{
    for (uint64_t next = 7; next <= 8; next++) {
        int rule = on_script(&rli_script_fenced_set, PROXY_HOLD_REQUEST, 1);
        assert_ok(set(scene.client, "early", 7));
        assert_ok(set(scene.client, "later", next));
        let_through(rule);
        assert_value("later");
        freeReplyObject(server_command(stage.server, "FLUSHALL"));
    }
}

/* The answer to a write is lost, and a newer holder writes before it is repeated. */
Test(guarded_fault, whose_repetition_comes_behind_a_newer_holder_is_refused)
{
    assert_ok(set(stage.other, "newer", 8));
    int rule = on_script(&rli_script_fenced_set, PROXY_CUT_AFTER, 1);
    assert_status(set(scene.client, "late", 7), RLOCK_LOST);
    cr_assert(seen_by(rule) == 2);
    assert_value("newer");
}

/* Nobody knows which of the two is the later one: docs/fenced-lock.md says so. */
Test(guarded_fault, that_comes_late_may_undo_that_of_another_client_with_the_same_token)
{
    int rule = on_script(&rli_script_fenced_set, PROXY_HOLD_REQUEST, 0);
    assert_status(set(scene.client, "early", 7), RLOCK_UNAVAILABLE);
    assert_ok(set(stage.other, "later", 7));
    let_through(rule);
    assert_value("early");
}

/* docs/fenced-lock.md: what a server forgets, the fence forgets, too. */
Test(guarded_fault, of_a_server_that_was_restarted_empty_is_done_with_any_token)
{
    assert_ok(set(scene.client, "newer", 8));
    server_restart(stage.server);
    assert_ok(set(scene.client, "older", 7));
    assert_value("older");
}
