/* Statuses: their values never change, and each has its words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What programs were compiled with; a second list on purpose. */
Test(status, values_are_those_that_programs_were_built_with)
{
    const rlock_status in_order[] = {
        RLOCK_OK,          RLOCK_TIMEOUT,     RLOCK_NOT_OWNER, RLOCK_LOST,   RLOCK_CANCELLED,
        RLOCK_ALREADY_HELD, RLOCK_INVALID,    RLOCK_UNAVAILABLE, RLOCK_UNKNOWN, RLOCK_NOT_SYNCED,
        RLOCK_SERVER,      RLOCK_UNSUPPORTED, RLOCK_NO_MEMORY, RLOCK_CLOSED, RLOCK_FORKED,
    };
    for (int i = 0; i < 15; i++)
        cr_assert((int)in_order[i] == i, "the status at %d has become %d", i, (int)in_order[i]);
}

Test(status, each_has_its_words)
{
#define CHECK(name, value, words)                                                                  \
    cr_assert(strcmp(rlock_strstatus(name), words) == 0, #name " is \"%s\"", rlock_strstatus(name));
    RLOCK_STATUSES(CHECK)
#undef CHECK
}

Test(status, words_are_one_line_and_all_different)
{
    for (int a = 0; a <= RLOCK_FORKED; a++) {
        const char *words = rlock_strstatus((rlock_status)a);
        cr_assert(*words && !strchr(words, '\n'), "status %d is \"%s\"", a, words);
        for (int b = 0; b < a; b++)
            cr_assert(strcmp(words, rlock_strstatus((rlock_status)b)) != 0, "%d and %d say the same", a, b);
    }
}

Test(status, unknown_values_have_words_too)
{
    cr_assert(*rlock_strstatus((rlock_status)-1));
    cr_assert(*rlock_strstatus((rlock_status)15));
    cr_assert(*rlock_strstatus((rlock_status)100000));
}

Test(status, last_error_is_empty_before_the_first_failure)
{
    cr_assert(strcmp(rlock_last_error(), "") == 0);
}

static void *last_error_here(void *arg)
{
    (void)arg;
    return (void *)(*rlock_last_error() ? "not empty" : NULL);
}

Test(status, last_error_is_of_the_failing_thread_alone)
{
    assert_status(rlock_unlock(NULL), RLOCK_INVALID);
    cr_assert(*rlock_last_error(), "a NULL lock has no message");
    pthread_t thread;
    void *other = NULL;
    cr_assert(pthread_create(&thread, NULL, last_error_here, NULL) == 0);
    pthread_join(thread, &other);
    cr_assert(other == NULL, "the other thread's message is %s", (char *)other);
}

Test(status, version_is_that_of_the_headers)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", RLOCK_VERSION_MAJOR, RLOCK_VERSION_MINOR, RLOCK_VERSION_PATCH);
    cr_assert(strcmp(RLOCK_VERSION, version) == 0, "RLOCK_VERSION is %s, its parts are %s", RLOCK_VERSION, version);
    cr_assert(strcmp(rlock_version(), version) == 0, "rlock_version() is %s", rlock_version());
}
