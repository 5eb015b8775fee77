/* Async calls on semaphores and latches: each does what the blocking call of its name does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <poll.h>
#include <stdio.h>

TestSuite(async_object, .init = stage_open, .fini = stage_close);

enum { END_MS = 20000, TURN_MS = 50 };

/* --- an event loop, as a program has it --- */

typedef struct ending {
    bool known;
    rlock_status status;
    int64_t answer;
    int permit_count;
    rlock_permit permits[3];
    char error[512];
    rlock_semaphore *frees; /* the function frees this handle; NULL: none */
    rlock_client *closes;   /* the function closes this client; NULL: none */
} ending;

static void keep_result(const rlock_result *result, void *arg)
{
    ending *end = arg;
    cr_assert(!end->known, "the function was called twice");
    end->known = true;
    end->status = result->status;
    end->answer = result->answer;
    end->permit_count = result->permit_count;
    for (int i = 0; i < result->permit_count && i < 3; i++)
        end->permits[i] = result->permits[i];
    snprintf(end->error, sizeof end->error, "%s", result->error);
    rlock_semaphore_free(end->frees);
    if (end->closes)
        stage_close_client(end->closes);
}

static void serve(rlock_client *client, const ending *end)
{
    int64_t until_ms = now_ms() + END_MS;
    while (!end->known && now_ms() < until_ms) {
        struct pollfd ready = {.fd = rlock_client_fd(client), .events = POLLIN};
        cr_assert(ready.fd >= 0, "no descriptor: %s", rlock_last_error());
        poll(&ready, 1, TURN_MS);
        rlock_status status = rlock_client_process(client);
        cr_assert(status == RLOCK_OK || (status == RLOCK_CLOSED && end->closes), "%s", rlock_last_error());
    }
    cr_assert(end->known, "the operation has not ended");
}

#define assert_ends(end, expected)                                                                                     \
    do {                                                                                                               \
        serve(stage.client, &(end));                                                                                   \
        cr_assert((end).status == (expected), "it ended with %s, expected %s: %s", rlock_strstatus((end).status),      \
                  rlock_strstatus(expected), (end).error);                                                             \
    } while (0)

/* Starts a call whose last arguments are `fn` and `arg`, and returns its answer. */
#define ANSWER(answer_, call, ...)                                                                                     \
    do {                                                                                                               \
        ending end_ = {0};                                                                                             \
        assert_ok(call(__VA_ARGS__, keep_result, &end_));                                                              \
        assert_ends(end_, RLOCK_OK);                                                                                   \
        cr_assert(end_.answer == (answer_), "%s answered %lld", #call, (long long)end_.answer);                        \
    } while (0)

/* --- calls that ask once --- */

/* Every call on a semaphore that does not wait. */
RealTest(async_object, semaphore_calls_answer_as_the_blocking_ones)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "se");
    ANSWER(1, rlock_semaphore_try_set_permits_async, semaphore, 3);
    ANSWER(0, rlock_semaphore_try_set_permits_async, semaphore, 5);
    ANSWER(3, rlock_semaphore_available_permits_async, semaphore);
    ANSWER(0, rlock_semaphore_add_permits_async, semaphore, 4);
    cr_assert(available(semaphore) == 7);
    ANSWER(0, rlock_semaphore_acquire_async, semaphore, 0);
    ANSWER(0, rlock_semaphore_acquire_async, semaphore, 5);
    ANSWER(2, rlock_semaphore_drain_permits_async, semaphore);
    ANSWER(0, rlock_semaphore_release_async, semaphore, 2);
    ANSWER(0, rlock_semaphore_release_if_exists_async, semaphore, 0);
    ANSWER(1, rlock_semaphore_release_if_exists_async, semaphore, 1);
    cr_assert(available(semaphore) == 3);
    ANSWER(1, rlock_semaphore_delete_async, semaphore);
    ANSWER(0, rlock_semaphore_delete_async, semaphore);
    ANSWER(1, rlock_semaphore_try_set_permits_ttl_async, semaphore, 2, 60000);
    ANSWER(0, rlock_semaphore_try_acquire_async, semaphore, 2, 0);
}

/* Every call on a permit-expirable semaphore that does not wait. */
RealTest(async_object, permit_calls_answer_as_the_blocking_ones)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, "pe");
    ANSWER(1, rlock_permit_semaphore_try_set_permits_async, semaphore, 2);
    ANSWER(0, rlock_permit_semaphore_set_permits_async, semaphore, 3);
    ANSWER(0, rlock_permit_semaphore_add_permits_async, semaphore, 1);
    ending one = {0}, two = {0};
    assert_ok(rlock_permit_semaphore_acquire_async(semaphore, 60000, keep_result, &one));
    assert_ends(one, RLOCK_OK);
    cr_assert(one.permit_count == 1);
    assert_ok(rlock_permit_semaphore_acquire_many_async(semaphore, 2, RLOCK_PERMIT_FOREVER, keep_result, &two));
    assert_ends(two, RLOCK_OK);
    cr_assert(two.permit_count == 2);
    ANSWER(1, rlock_permit_semaphore_available_permits_async, semaphore);
    ANSWER(3, rlock_permit_semaphore_acquired_permits_async, semaphore);
    ANSWER(4, rlock_permit_semaphore_get_permits_async, semaphore);
    ANSWER(1, rlock_permit_semaphore_update_lease_time_async, semaphore, one.permits[0].id, RLOCK_PERMIT_FOREVER);
    ANSWER(RLOCK_PERMIT_FOREVER, rlock_permit_semaphore_get_lease_time_async, semaphore, one.permits[0].id);
    ANSWER(0, rlock_permit_semaphore_release_async, semaphore, one.permits[0].id);
    ANSWER(0, rlock_permit_semaphore_try_release_async, semaphore, one.permits[0].id);
    ending gone = {0};
    assert_ok(rlock_permit_semaphore_release_async(semaphore, one.permits[0].id, keep_result, &gone));
    assert_ends(gone, RLOCK_INVALID);
    assert_words(gone.error, one.permits[0].id, "pe");
    ANSWER(2, rlock_permit_semaphore_try_release_many_async, semaphore, 2, two.permits);
    ANSWER(0, rlock_permit_semaphore_try_release_many_async, semaphore, 2, two.permits);
    gone.known = false;
    assert_ok(rlock_permit_semaphore_release_many_async(semaphore, 2, two.permits, keep_result, &gone));
    assert_ends(gone, RLOCK_INVALID);
    assert_words(gone.error, two.permits[0].id);
    ANSWER(1, rlock_permit_semaphore_delete_async, semaphore);
}

/* Every call on a latch that does not wait. */
RealTest(async_object, latch_calls_answer_as_the_blocking_ones)
{
    rlock_count_down_latch *latch = latch_of(stage.client, "la");
    ANSWER(1, rlock_count_down_latch_try_set_count_async, latch, 2);
    ANSWER(0, rlock_count_down_latch_try_set_count_async, latch, 3);
    ANSWER(0, rlock_count_down_latch_count_down_async, latch);
    ANSWER(1, rlock_count_down_latch_get_count_async, latch);
    ANSWER(1, rlock_count_down_latch_delete_async, latch);
    ANSWER(0, rlock_count_down_latch_delete_async, latch);
    ANSWER(0, rlock_count_down_latch_await_async, latch);
}

/* The options of the handle, of a call that asks once and of one that waits. */
RealTest(async_object, calls_have_the_options_of_their_handle)
{
    const rlock_call_options once = {sizeof once, 200, 0, 0}; /* ms for the one attempt */
    rlock_semaphore *semaphore = semaphore_of(stage.client, "se");
    ending asked = {0}, waited = {0};
    ANSWER(1, rlock_semaphore_try_set_permits_async, semaphore, 1);
    assert_ok(rlock_object_set_call_options(rlock_semaphore_object(semaphore), &once));
    server_freeze(stage.server);
    assert_ok(rlock_semaphore_available_permits_async(semaphore, keep_result, &asked));
    assert_ok(rlock_semaphore_try_acquire_async(semaphore, 1, 0, keep_result, &waited));
    assert_ends(asked, RLOCK_UNAVAILABLE);
    assert_words(asked.error, "within 200 ms (1 attempt)");
    assert_ends(waited, RLOCK_UNAVAILABLE);
    assert_words(waited.error, "(1 attempt)");
    server_thaw(stage.server);
}

/* --- waits --- */

/* A wait that a blocking release of another process ends. */
RealTest(async_object, acquire_waits_for_permits)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "se"), *other = semaphore_of(stage.other, "se");
    ending end = {0};
    assert_ok(rlock_semaphore_acquire_async(semaphore, 2, keep_result, &end));
    cr_assert(wait_semaphore_heard("se", 1));
    cr_assert(!end.known);
    assert_ok(rlock_semaphore_release(other, 2));
    assert_ends(end, RLOCK_OK);
    cr_assert(available(other) == 0);
}

/* The same for permits with ids, which another process can release. */
RealTest(async_object, permit_acquire_waits_for_permits)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, "pe"), *other = permits_of(stage.other, "pe");
    ending end = {0};
    assert_ok(rlock_permit_semaphore_try_acquire_async(semaphore, END_MS, 60000, keep_result, &end));
    cr_assert(wait_semaphore_heard("pe", 1));
    assert_ok(rlock_permit_semaphore_add_permits(other, 1));
    assert_ends(end, RLOCK_OK);
    assert_ok(rlock_permit_semaphore_release(other, end.permits[0].id));
}

/* A latch that opens while an async call waits for it. */
RealTest(async_object, await_ends_when_the_latch_opens)
{
    rlock_count_down_latch *latch = latch_of(stage.client, "la"), *other = latch_of(stage.other, "la");
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(other, 1, &set));
    ending end = {0};
    assert_ok(rlock_count_down_latch_await_async(latch, keep_result, &end));
    cr_assert(wait_latch_heard("la", 1));
    assert_ok(rlock_count_down_latch_count_down(other));
    assert_ends(end, RLOCK_OK);
}

/* Waits whose time ends, or that ask only once. */
RealTest(async_object, waits_time_out)
{
    rlock_count_down_latch *latch = latch_of(stage.client, "la");
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    for (int64_t wait_ms = 0; wait_ms <= 100; wait_ms += 100) {
        ending plain = {0}, permit = {0}, await = {0};
        assert_ok(
            rlock_semaphore_try_acquire_async(semaphore_of(stage.client, "se"), 1, wait_ms, keep_result, &plain));
        assert_ok(rlock_permit_semaphore_try_acquire_async(permits_of(stage.client, "pe"), wait_ms, 1000, keep_result,
                                                           &permit));
        assert_ok(rlock_count_down_latch_try_await_async(latch, wait_ms, keep_result, &await));
        assert_ends(plain, RLOCK_TIMEOUT);
        assert_words(plain.error, "se", "rlock_semaphore_try_set_permits()");
        assert_ends(permit, RLOCK_TIMEOUT);
        assert_words(permit.error, "pe");
        assert_ends(await, RLOCK_TIMEOUT);
        assert_words(await.error, "la", "count of 1");
    }
}

/* A token ends waits of all three, and leaves no permit taken. */
RealTest(async_object, token_ends_waits)
{
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_semaphore_options plain_options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    rlock_permit_options permit_options = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_await_options await_options = RLOCK_AWAIT_OPTIONS_INIT;
    plain_options.cancel = permit_options.cancel = await_options.cancel = cancel;
    rlock_count_down_latch *latch = latch_of(stage.client, "la");
    rlock_semaphore *semaphore = semaphore_of(stage.client, "se");
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    ending plain = {0}, permit = {0}, await = {0};
    assert_ok(rlock_semaphore_acquire_with_async(semaphore, 1, &plain_options, keep_result, &plain));
    assert_ok(rlock_permit_semaphore_acquire_with_async(permits_of(stage.client, "pe"), 1, &permit_options,
                                                        keep_result, &permit));
    assert_ok(rlock_count_down_latch_await_with_async(latch, &await_options, keep_result, &await));
    cr_assert(wait_semaphore_heard("se", 1));
    cr_assert(wait_semaphore_heard("pe", 1));
    cr_assert(wait_latch_heard("la", 1));
    rlock_cancel_fire(cancel);
    assert_ends(plain, RLOCK_CANCELLED);
    assert_ends(permit, RLOCK_CANCELLED);
    assert_ends(await, RLOCK_CANCELLED);
    assert_ok(rlock_semaphore_release(semaphore, 1));
    cr_assert(available(semaphore) == 1);
    rlock_cancel_free(cancel);
}

/* --- arguments, handles, clients --- */

/* What is wrong with the arguments is said at once, and no function is called. */
RealTest(async_object, refuses_bad_arguments_at_once)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "se");
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    rlock_permit bad = {"nonsense"};
    ending end = {0};
    assert_status(rlock_semaphore_acquire_async(NULL, 1, keep_result, &end), RLOCK_INVALID);
    assert_error("semaphore", "NULL");
    assert_status(rlock_semaphore_acquire_async(semaphore, -1, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_semaphore_release_async(semaphore, -1, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_semaphore_acquire_with_async(semaphore, 1, NULL, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_semaphore_try_set_permits_ttl_async(semaphore, 1, 0, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_permit_semaphore_acquire_async(NULL, 1, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_permit_semaphore_acquire_async(permits, 0, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_permit_semaphore_acquire_async(permits, 1000, NULL, NULL), RLOCK_INVALID);
    assert_error("callback", "NULL");
    assert_status(rlock_permit_semaphore_acquire_many_async(permits, 0, 1000, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_permit_semaphore_release_async(permits, NULL, keep_result, &end), RLOCK_INVALID);
    assert_status(rlock_permit_semaphore_release_many_async(permits, 1, &bad, keep_result, &end), RLOCK_INVALID);
    assert_error("nonsense");
    assert_status(rlock_count_down_latch_await_async(NULL, keep_result, &end), RLOCK_INVALID);
    cr_assert(!end.known);
}

/* The handle goes at once, or in the function. */
RealTest(async_object, handle_may_be_freed_while_an_operation_is_under_way)
{
    rlock_semaphore *other = semaphore_of(stage.other, "se");
    rlock_semaphore *first = rlock_get_semaphore(stage.client, "se"), *second = rlock_get_semaphore(stage.client, "se");
    ending early = {0}, late = {.frees = second};
    assert_ok(rlock_semaphore_acquire_async(first, 1, keep_result, &early));
    rlock_semaphore_free(first);
    assert_ok(rlock_semaphore_acquire_async(second, 1, keep_result, &late));
    assert_ok(rlock_semaphore_release(other, 2));
    assert_ends(early, RLOCK_OK);
    assert_ends(late, RLOCK_OK);
}

/* Closing ends waits. A wait that is just asking for plain permits says that it is not known whether it got them. */
RealTest(async_object, close_ends_waits)
{
    ending plain = {0}, permit = {0};
    assert_ok(rlock_semaphore_acquire_async(semaphore_of(stage.client, "se"), 1, keep_result, &plain));
    assert_ok(rlock_permit_semaphore_acquire_async(permits_of(stage.client, "pe"), 60000, keep_result, &permit));
    cr_assert(wait_semaphore_heard("se", 1));
    cr_assert(wait_semaphore_heard("pe", 1));
    stage_close_client(stage.client);
    cr_assert(plain.known && permit.known);
    cr_assert(plain.status == RLOCK_CLOSED || plain.status == RLOCK_UNKNOWN, "%s: %s", rlock_strstatus(plain.status),
              plain.error);
    cr_assert(permit.status == RLOCK_CLOSED, "%s: %s", rlock_strstatus(permit.status), permit.error);
}

/* The function of one operation closes the client, which ends another one. */
RealTest(async_object, function_may_close_the_client)
{
    ending waits = {0}, closes = {.closes = stage.client};
    assert_ok(rlock_semaphore_acquire_async(semaphore_of(stage.client, "se"), 1, keep_result, &waits));
    cr_assert(wait_semaphore_heard("se", 1));
    assert_ok(rlock_semaphore_available_permits_async(semaphore_of(stage.client, "sf"), keep_result, &closes));
    assert_ends(closes, RLOCK_OK);
    cr_assert(waits.known && (waits.status == RLOCK_CLOSED || waits.status == RLOCK_UNKNOWN));
}
