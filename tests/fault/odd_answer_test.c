/* Odd answers: whole replies that no script of the library gives, as from a proxy with a defect. Each costs one call,
 * with a message, and nothing that is not in the reply is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/sides.h"
#include "tests/support/test.h"

#include <string.h>

TestSuite(odd_answer);

#define NAME "order"
#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { SCRIPTS }; /* the note: how many scripts were run */

/* What the server answers to scripts: each text once, then the last of them. */
typedef struct answers {
    const char *texts[2];
    int count;
} answers;

static bool answer(impostor_peer *peer, const char *request)
{
    const answers *said = peer->context;
    if (!strstr(request, "EVAL"))
        return impostor_answer(peer, request);
    int64_t at = impostor_noted(peer->of, SCRIPTS);
    impostor_note(peer->of, SCRIPTS, 1);
    return impostor_say(peer, said->texts[at < said->count ? at : said->count - 1]);
}

typedef struct scene {
    impostor *server;
    rlock_client *client;
} scene;

static scene begin(const answers *said)
{
    scene own = {.server = impostor_start(answer, said)};
    assert_ok(rlock_client_open(&own.client, impostor_url(own.server, "timeout=30000&retryAttempts=0")));
    return own;
}

static void end(scene *own)
{
    rlock_client_close(own->client);
    impostor_stop(own->server);
}

/* --- a permit that is not among those that were given --- */

static void release_two(const char *text)
{
    const answers said = {{text}, 1};
    const rlock_permit permits[] = {{"0123456789abcdef0123456789abcdef"}, {"fedcba9876543210fedcba9876543210"}};
    scene own = begin(&said);
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(own.client, NAME);
    assert_status(rlock_permit_semaphore_release_many(semaphore, 2, permits), RLOCK_SERVER);
    assert_error("unexpected reply", NAME);
    rlock_permit_semaphore_free(semaphore);
    end(&own);
}

Test(odd_answer, of_a_permit_that_was_not_given_is_refused)
{
    static const char *const texts[] = {":-6\r\n", ":-1000000000\r\n", ":-9223372036854775808\r\n", ":3\r\n", ":1\r\n",
                                        ":9223372036854775807\r\n"};
    for (size_t i = 0; i < COUNT(texts); i++)
        release_two(texts[i]);
}

/* --- a release that says neither that the lock is free nor that it is not --- */

static void release_fair(const char *text)
{
    const answers said = {{"$-1\r\n", text}, 2}; /* it is acquired; the answer to its release */
    scene own = begin(&said);
    rlock *lock = rlock_get_fair_lock(own.client, NAME);
    assert_ok(rlock_try_lock(lock, 0, 60000));
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    assert_error("unexpected reply", NAME);
    rlock_free(lock);
    end(&own);
}

Test(odd_answer, to_the_release_of_a_fair_lock_is_refused)
{
    static const char *const texts[] = {"*0\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n:1\r\n", "*2\r\n:1\r\n$-1\r\n",
                                        "*2\r\n$1\r\nx\r\n$1\r\nx\r\n", "*3\r\n:1\r\n$1\r\nx\r\n:1\r\n"};
    for (size_t i = 0; i < COUNT(texts); i++)
        release_fair(texts[i]);
}

/* --- a time to live beyond all time --- */

/* Waiting ends with the wait, not with the time to live. */
Test(odd_answer, of_a_boundless_time_to_live_bounds_no_wait)
{
    static const char *const texts[] = {":9223372036854775807\r\n", ":9223372036854775806\r\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        const answers said = {{texts[i]}, 1};
        scene own = begin(&said);
        rlock *lock = rlock_get_lock(own.client, NAME);
        assert_status(rlock_try_lock(lock, 50, 60000), RLOCK_TIMEOUT);
        rlock_free(lock);
        end(&own);
    }
}

/* The time that a write hold was given is believed, as far as it can be counted. */
Test(odd_answer, of_a_boundless_lease_of_a_write_hold_is_a_long_one)
{
    const answers said = {{"*1\r\n:9223372036854775807\r\n", ":1\r\n"}, 2};
    scene own = begin(&said);
    rlock *lock = get_write(own.client, NAME);
    assert_ok(rlock_try_lock(lock, 0, 60000));
    cr_assert(rlock_valid_for(lock) > 3600000, "valid for %lld ms", (long long)rlock_valid_for(lock));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
    end(&own);
}

Test(odd_answer, of_a_latch_with_a_boundless_time_to_live_bounds_no_wait)
{
    static const char *const texts[] = {"*2\r\n:1\r\n:9223372036854775807\r\n", "*2\r\n:1\r\n:9223372036854775806\r\n",
                                        "*2\r\n:1\r\n:-9223372036854775808\r\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        const answers said = {{texts[i]}, 1};
        scene own = begin(&said);
        rlock_count_down_latch *latch = rlock_get_count_down_latch(own.client, NAME);
        assert_status(rlock_count_down_latch_try_await(latch, 50), RLOCK_TIMEOUT);
        rlock_count_down_latch_free(latch);
        end(&own);
    }
}

/* --- an answer that asks for another attempt, which is not answered --- */

enum { ATTEMPTS };

static bool refuse_once(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "EVAL"))
        return impostor_answer(peer, request);
    impostor_note(peer->of, ATTEMPTS, 1);
    return impostor_noted(peer->of, ATTEMPTS) > 1 || impostor_say(peer, "-NOREPLICAS Not enough good replicas to write.\r\n");
}

/* Why another was needed is what helps; that it was not answered may be for want of time. */
Test(odd_answer, that_was_a_refusal_is_named_when_the_next_attempt_fails)
{
    impostor *refusing = impostor_start(refuse_once, NULL);
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, impostor_url(refusing, "timeout=500&retryAttempts=1&retryBaseDelay=1&retryMaxDelay=2")));
    rlock *lock = rlock_get_lock(client, "order");
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_UNAVAILABLE);
    assert_error("did not answer within 500 ms (2 attempts); an earlier attempt was refused: ", "NOREPLICAS");
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(refusing);
}
