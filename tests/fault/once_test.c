/* Requests that must not be carried out twice: once their bytes have left they are never sent again,
 * and the caller is told that what became of them is not known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/objects.h"

#include <string.h>

TestSuite(once, .init = scene_open, .fini = scene_close);

#define SEMAPHORE "se"
#define LATCH "la"

static rlock_status acquire(void)
{
    return rlock_semaphore_acquire(semaphore_of(scene.client, SEMAPHORE), 1);
}

static rlock_status release(void)
{
    return rlock_semaphore_release(semaphore_of(scene.client, SEMAPHORE), 1);
}

static rlock_status add(void)
{
    return rlock_semaphore_add_permits(semaphore_of(scene.client, SEMAPHORE), 1);
}

static rlock_status drain(void)
{
    return rlock_semaphore_drain_permits(semaphore_of(scene.client, SEMAPHORE), NULL);
}

static rlock_status set(void)
{
    return rlock_semaphore_try_set_permits(semaphore_of(scene.client, SEMAPHORE), 1, NULL);
}

static rlock_status delete(void)
{
    return rlock_semaphore_delete(semaphore_of(scene.client, SEMAPHORE), NULL);
}

static rlock_status set_count(void)
{
    return rlock_count_down_latch_try_set_count(latch_of(scene.client, LATCH), 1, NULL);
}

static rlock_status count_down(void)
{
    return rlock_count_down_latch_count_down(latch_of(scene.client, LATCH));
}

static rlock_status delete_latch(void)
{
    return rlock_count_down_latch_delete(latch_of(scene.client, LATCH), NULL);
}

static rlock_status expire(void)
{
    return rlock_object_expire(rlock_semaphore_object(semaphore_of(scene.client, SEMAPHORE)), 60000,
                               RLOCK_EXPIRE_IF_NOT_SET, NULL);
}

static rlock_status clear_expire(void)
{
    return rlock_object_clear_expire(rlock_semaphore_object(semaphore_of(scene.client, SEMAPHORE)), NULL);
}

static rlock_status rename_latch(void)
{
    return rlock_object_rename(rlock_count_down_latch_object(latch_of(scene.client, LATCH)), "lb");
}

static const struct {
    rlock_status (*call)(void);
    const rli_script *script;
    const char *after; /* the keys, when it was carried out once */
} calls[] = {
    {acquire, &rli_script_semaphore_acquire, "la string 3 \nse string 4 \n"},
    {release, &rli_script_semaphore_release, "la string 3 \nse string 6 \n"},
    {add, &rli_script_semaphore_add, "la string 3 \nse string 6 \n"},
    {drain, &rli_script_semaphore_drain, "la string 3 \nse string 0 \n"},
    {set, &rli_script_semaphore_set, "la string 3 \nse string 5 \n"},
    {delete, &rli_script_semaphore_delete, "la string 3 \n"},
    {set_count, &rli_script_count_down_latch_set, "la string 3 \nse string 5 \n"},
    {count_down, &rli_script_count_down_latch_count_down, "la string 2 \nse string 5 \n"},
    {delete_latch, &rli_script_count_down_latch_delete, "se string 5 \n"},
    {expire, &rli_script_object_expire, "la string 3 \nse string 5 \n"},
    {clear_expire, &rli_script_object_clear_expire, "la string 3 \nse string 5 \n"},
    {rename_latch, &rli_script_object_rename, "lb string 3 \nse string 5 \n"},
};

static void reset(void)
{
    freeReplyObject(server_command(stage.server, "SET " SEMAPHORE " 5"));
    freeReplyObject(server_command(stage.server, "SET " LATCH " 3"));
    freeReplyObject(server_command(stage.server, "DEL lb"));
}

Test(once, nothing_is_carried_out_twice_when_its_answer_is_lost)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        reset();
        int rule = on_script(calls[i].script, PROXY_CUT_AFTER, 1);
        assert_status(calls[i].call(), RLOCK_UNKNOWN);
        assert_error("before you repeat");
        cr_assert(seen_by(rule) == 1);
        assert_keys(calls[i].after);
    }
}

Test(once, nothing_is_sent_again_when_it_was_lost_on_its_way)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        reset();
        int rule = on_script(calls[i].script, PROXY_CUT_BEFORE, 1);
        assert_status(calls[i].call(), RLOCK_UNKNOWN);
        cr_assert(seen_by(rule) == 1);
        assert_keys("la string 3 \nse string 5 \n");
    }
}

/* A server that closed the connection while nothing was under way loses no request. */
Test(once, nothing_is_unknown_after_an_idle_connection_was_closed)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_ok(rlock_semaphore_release(semaphore_of(scene.client, SEMAPHORE), 1));
        reset();
        proxy_cut(scene.proxy);
        assert_ok(calls[i].call());
        assert_keys(calls[i].after);
    }
}

/* Questions are repeated. */
Test(once, questions_are_asked_again)
{
    reset();
    int first = on_script(&rli_script_semaphore_available, PROXY_CUT_AFTER, 1);
    cr_assert(available(semaphore_of(scene.client, SEMAPHORE)) == 5);
    int second = on_script(&rli_script_count_down_latch_state, PROXY_CUT_AFTER, 1);
    cr_assert(count_of(latch_of(scene.client, LATCH)) == 3);
    cr_assert(seen_by(first) == 2 && seen_by(second) == 2);
}
