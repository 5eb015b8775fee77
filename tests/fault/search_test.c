/* Memory runs out, or an answer is lost, in the middle of a search and of an examination: the call says so, and the next one
 * finds everything. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/keys.h"
#include "tests/support/memory.h"

#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

/* A search makes no second attempt, so the first has time on a busy machine, too. What is lost here is cut, and ends at
 * once. */
static void open_scene(void)
{
    scene_open_with("timeout=60000&connectTimeout=60000");
}

TestSuite(search, .init = open_scene, .fini = scene_close);

static bool note_name(const char *name, void *arg)
{
    int *count = arg;
    cr_assert(strncmp(name, "held:", 5) == 0, "%s", name);
    ++*count;
    return true;
}

static void note_server(const rlock_server *seen, void *arg)
{
    int *count = arg;
    cr_assert(seen->info && strstr(seen->settings, "maxmemory-policy:") && seen->clock_ahead_ms != RLOCK_NO_CLOCK);
    ++*count;
}

static rlock_status find_all(int *count)
{
    *count = 0;
    return rlock_find(scene.client, "held:*", RLOCK_FIND_LOCKS, note_name, count);
}

static rlock_status examine_all(int *count)
{
    *count = 0;
    return rlock_examine(scene.client, note_server, count);
}

static void assert_survives(rlock_status (*call)(int *count), int all)
{
    int failed = 1, count = 0;
    for (int first = 1; failed > 0; first++) {
        cr_assert(first < 1000);
        memory_end(first);
        rlock_status status = call(&count);
        failed = memory_return();
        if (status == RLOCK_OK)
            cr_assert(count == all, "%d of %d", count, all);
        else
            cr_assert(status == RLOCK_NO_MEMORY || status == RLOCK_UNAVAILABLE, "%s: %s", rlock_strstatus(status),
                      rlock_last_error());
    }
    assert_ok(call(&count));
    cr_assert(count == all, "%d of %d", count, all);
}

Test(search, without_memory_fails_and_leaves_nothing_behind)
{
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "held:%d", i);
        assert_ok(rlock_lock(lock_of(scene.client, name)));
    }
    assert_survives(find_all, 3);
    assert_survives(examine_all, 1);
}

/* An answer that is lost, at each request of the call in turn, and the whole of what was found before stays right. */
Test(search, whose_answer_is_lost_says_so)
{
    static const char *const requests[] = {"SCAN", "HSCAN", "INFO", "CONFIG", "TIME"};
    assert_ok(rlock_lock(lock_of(scene.client, "held:1")));
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        int count = 0;
        char text[32];
        snprintf(text, sizeof text, "\r\n%s\r\n", requests[i]);
        on_text(text, PROXY_CUT_AFTER, 1);
        rlock_status status = (i < 2 ? find_all : examine_all)(&count);
        assert_status(status, RLOCK_UNAVAILABLE);
        cr_assert(strstr(rlock_last_error(), "did not answer"), "%s", rlock_last_error());
        cr_assert(strstr(rlock_last_error(), requests[i]), "%s", rlock_last_error());
        cr_assert(count == 0, "%s: %d", requests[i], count);
        assert_ok((i < 2 ? find_all : examine_all)(&count));
        cr_assert(count == 1, "%s: %d", requests[i], count);
    }
}

/* Says that there are more keys at 7, and after that at 9, and after that at 7. */
static bool lead_in_a_circle(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "\r\nSCAN\r\n"))
        return impostor_answer(peer, request);
    return impostor_say(peer, strstr(request, "\r\n7\r\n") ? "*2\r\n$1\r\n9\r\n*0\r\n" : "*2\r\n$1\r\n7\r\n*0\r\n");
}

RealTest(search, that_a_server_leads_in_a_circle_ends)
{
    int count = 0;
    impostor *circle = impostor_start(lead_in_a_circle, NULL);
    rlock_client *client;
    assert_ok(rlock_client_open(&client, impostor_url(circle, "timeout=2000")));
    assert_status(rlock_find(client, "held:*", RLOCK_FIND_LOCKS, note_name, &count), RLOCK_SERVER);
    cr_assert(strstr(rlock_last_error(), "in a circle"), "%s", rlock_last_error());
    rlock_client_close(client);
    impostor_stop(circle);
}
