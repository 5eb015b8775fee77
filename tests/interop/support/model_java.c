/* Redisson in the place of a client in sequences (tests/model). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/model_java.h"

#include "tests/interop/support/java.h"
#include "tests/model/support/latch_subject.h"
#include "tests/model/support/permit_subject.h"
#include "tests/model/support/semaphore_subject.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS 3000 /* that one JVM is told; an agent has room for somewhat more */

/* Ten seconds after its first lock a client of Redisson renews all that it holds just then, which the models don't
 * know; a sequence takes a second or two. */
#define FRESH_MS 4000

static int told;
static int64_t opened_ms;

static void another_jvm(void)
{
    if (told < COMMANDS)
        return;
    agent_end(java);
    java = agent_start();
    agent_open(java, server_tcp_url(stage.server), 0);
    told = 0;
    opened_ms = now_ms();
}

static void fresh_client(void)
{
    another_jvm();
    if (opened_ms && now_ms() >= opened_ms + FRESH_MS) {
        assert_result(ASK(java, "agent", "close"), "");
        agent_open(java, server_tcp_url(stage.server), 0);
        opened_ms = 0;
    }
    if (!opened_ms)
        opened_ms = now_ms();
}

/* Asked for once or twice as a sequence begins, in which it stays. */
const char *java_model_id(void)
{
    static char told_in[sizeof theatre.name];
    if (strcmp(told_in, theatre.name) != 0)
        fresh_client();
    snprintf(told_in, sizeof told_in, "%s", theatre.name);
    told++;
    return ASK(java, "agent", "id")->text;
}

/* An answer that is a result: a number, "true", or nothing; an exception is what its class stands for. */
static outcome read_answer(const answer *got, rlock_status illegal_state)
{
    if (got->threw && strstr(got->text, "IllegalMonitorStateException"))
        return OUTCOME(illegal_state);
    if (got->threw && strstr(got->text, "IllegalArgumentException"))
        return OUTCOME(RLOCK_INVALID);
    /* In which Redisson wraps that of a permit it doesn't know. */
    if (got->threw && strcmp(got->message, "Unexpected exception while processing command") == 0)
        return OUTCOME(RLOCK_INVALID);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    if (strcmp(got->text, "true") == 0)
        return OUTCOME_OF(1);
    return OUTCOME_OF(strtoll(got->text, NULL, 10));
}

/* Whether it was had: a true, or a token; RLOCK_TIMEOUT for a false, or none. */
static outcome read_try(const answer *got)
{
    outcome is = read_answer(got, RLOCK_ALREADY_HELD);
    if (is.status != RLOCK_OK)
        return is;
    return is.least ? OUTCOME(RLOCK_OK) : OUTCOME(RLOCK_TIMEOUT);
}

static const char *number(char text[static 24], int64_t value)
{
    snprintf(text, 24, "%lld", (long long)value);
    return text;
}

/* --- locks --- */

static const char *kind_word(const kind *of)
{
    if (of->fair)
        return of->once ? "nonreentrantfair" : "fair";
    if (of->once)
        return "nonreentrant";
    return of == &kind_reentrant ? "lock" : of->name;
}

static const char *question(lock_operation operation)
{
    switch (operation) {
    case LOCK_FORCE:
        return "force";
    case LOCK_IS_LOCKED:
        return "isLocked";
    case LOCK_IS_HELD:
        return "isHeld";
    case LOCK_COUNT:
        return "holdCount";
    case LOCK_TTL:
        return "ttl";
    default:
        return "token";
    }
}

outcome java_plays_lock(const move *step, const kind *of, const char *name)
{
    char thread[16], lease[24];
    const char *word = kind_word(of);
    const answer *got;
    told++;
    snprintf(thread, sizeof thread, "%c%d", 'A' + step->client, step->owner);
    number(lease, step->lease_ms);
    switch ((lock_operation)step->operation) {
    case LOCK_TRY:
        return read_try(ASK(java, thread, word, name, "try", "0", lease));
    case LOCK_TOKEN:
        got = ASK(java, thread, word, name, "tryAndGetToken", "0", lease);
        return *got->text ? read_answer(got, RLOCK_ALREADY_HELD) : OUTCOME(RLOCK_TIMEOUT);
    case LOCK_LOCK:
        if (step->lease_ms == RLOCK_WATCHDOG)
            return read_answer(ASK(java, thread, word, name, "lock"), RLOCK_ALREADY_HELD);
        return read_answer(ASK(java, thread, word, name, "lease", lease), RLOCK_ALREADY_HELD);
    case LOCK_UNLOCK: {
        outcome is = read_answer(ASK(java, thread, word, name, "unlock"), RLOCK_NOT_OWNER);
        wait_no_latches();
        return is;
    }
    default:
        return read_answer(ASK(java, thread, word, name, question((lock_operation)step->operation)), RLOCK_NOT_OWNER);
    }
}

/* --- the semaphore and the latch --- */

outcome java_plays_semaphore(const move *step, const char *name, char (*ids)[33], int count)
{
    static const char *const words[SEMAPHORE_OPERATIONS] = {
        [SEMAPHORE_TRY_SET] = "trySet",
        [SEMAPHORE_TRY_SET_TTL] = "trySetFor",
        [SEMAPHORE_TRY] = "tryNow",
        [SEMAPHORE_ACQUIRE] = "acquire",
        [SEMAPHORE_RELEASE] = "release",
        [SEMAPHORE_RELEASE_IF_EXISTS] = "releaseIfExists",
        [SEMAPHORE_ADD] = "add",
        [SEMAPHORE_DRAIN] = "drain",
        [SEMAPHORE_AVAILABLE] = "available",
        [SEMAPHORE_DELETE] = "delete",
    };
    char permits[24], ttl[24];
    (void)ids;
    (void)count;
    another_jvm();
    told++;
    const answer *got = ASK(java, "t1", "semaphore", name, words[step->operation], number(permits, step->number),
                            number(ttl, step->lease_ms));
    return step->operation == SEMAPHORE_TRY ? read_try(got) : read_answer(got, RLOCK_INVALID);
}

outcome java_plays_latch(const move *step, const char *name, char (*ids)[33], int count)
{
    static const char *const words[LATCH_OPERATIONS] = {
        [LATCH_TRY_SET] = "trySet",      [LATCH_COUNT_DOWN] = "countDown", [LATCH_GET_COUNT] = "count",
        [LATCH_TRY_AWAIT] = "awaitFor", [LATCH_AWAIT] = "await",          [LATCH_DELETE] = "delete",
    };
    char value[24];
    (void)ids;
    (void)count;
    another_jvm();
    told++;
    number(value, step->operation == LATCH_TRY_SET ? step->number : 0);
    const answer *got = ASK(java, "t1", "latch", name, words[step->operation], value);
    return step->operation == LATCH_TRY_AWAIT ? read_try(got) : read_answer(got, RLOCK_INVALID);
}

/* --- permits --- */

static void join(char text[static 256], char (*ids)[33], int count)
{
    *text = 0;
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), 256 - strlen(text), "%s%s", i ? "," : "", ids[i]);
}

static outcome acquire_permits(const move *step, const char *name, char (*ids)[33], int count)
{
    char wanted[24], lease[24];
    const answer *got = ASK(java, "t1", "permits", name, "try", number(wanted, count), "0",
                            number(lease, step->lease_ms));
    outcome is = read_answer(got, RLOCK_INVALID);
    if (is.status != RLOCK_OK)
        return is;
    if (strlen(got->text) != (size_t)count * 33 - 1)
        return OUTCOME(RLOCK_TIMEOUT);
    for (int i = 0; i < count; i++)
        snprintf(ids[i], sizeof ids[i], "%.32s", got->text + (ptrdiff_t)i * 33);
    return OUTCOME(RLOCK_OK);
}

outcome java_plays_permits(const move *step, const char *name, char (*ids)[33], int count)
{
    static const char *const words[PERMIT_OPERATIONS] = {
        [PERMIT_TRY_SET] = "trySet",           [PERMIT_SET] = "set",
        [PERMIT_ADD] = "add",                  [PERMIT_RELEASE] = "releaseOne",
        [PERMIT_TRY_RELEASE] = "tryReleaseOne", [PERMIT_RELEASE_MANY] = "release",
        [PERMIT_TRY_RELEASE_MANY] = "tryRelease", [PERMIT_UPDATE_LEASE] = "updateLease",
        [PERMIT_GET_LEASE] = "leaseLeft",      [PERMIT_AVAILABLE] = "available",
        [PERMIT_ACQUIRED] = "acquired",        [PERMIT_TOTAL] = "permits",
        [PERMIT_DELETE] = "delete",
    };
    char text[256], lease[24];
    another_jvm();
    told++;
    if (step->operation == PERMIT_TRY)
        return acquire_permits(step, name, ids, count);
    if (step->operation >= PERMIT_RELEASE && step->operation <= PERMIT_GET_LEASE)
        join(text, ids, count);
    else
        number(text, step->number);
    return read_answer(
        ASK(java, "t1", "permits", name, words[step->operation], text, number(lease, step->lease_ms)), RLOCK_INVALID);
}
