/* What every test includes: the runner's words, and asserts that print statuses as words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_H
#define TEST_H

#include "tests/support/runner.h"

#include <rlock/rlock.h>
#include <string.h>

/* The tests of some suites run twice: against real servers, and in virtual time against a model of one (make virtual).
 * A RealTest needs what only the real world has: processes, files of the system, settings that the model does not know.
 * A TimedTest is about time: how long something takes at most, or what comes first. A busy machine would break its
 * promises, so it runs in virtual time alone. */
#define TEST_LEFT_OUT_(suite, name, ...) __attribute__((unused)) static void left_out_##suite##_##name(void)
#ifdef TEST_VIRTUAL
#define RealTest(...) TEST_LEFT_OUT_(__VA_ARGS__, )
#define TimedTest(...) Test(__VA_ARGS__)
#else
#define RealTest(...) Test(__VA_ARGS__)
#define TimedTest(...) TEST_LEFT_OUT_(__VA_ARGS__, )
#endif

/* assert_status(rlock_unlock(lock), RLOCK_LOST): both as words, with rlock_last_error(). */
#define assert_status(call, expected)                                                              \
    do {                                                                                           \
        rlock_status got_ = (call); /* before what is expected is asked for */                     \
        test_status(got_, expected, __FILE__, __LINE__, #call);                                    \
    } while (0)
void test_status(rlock_status got, rlock_status expected, const char *file, int line, const char *call);
#define assert_ok(call) assert_status(call, RLOCK_OK)

/* All of the words are in the text; in what this thread's last call that failed said. */
#define assert_words(text, ...)                                                                    \
    test_words(text, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__, #text)
void test_words(const char *text, const char *const *words, const char *file, int line, const char *what);
#define assert_error(...) assert_words(rlock_last_error(), __VA_ARGS__)

/* lo ≤ value ≤ hi, with the numbers in the message. */
#define assert_between(value, lo, hi)                                                              \
    do {                                                                                           \
        long long v_ = (long long)(value), lo_ = (long long)(lo), hi_ = (long long)(hi);           \
        test_between(v_, lo_, hi_, __FILE__, __LINE__, #value);                                    \
    } while (0)
void test_between(long long value, long long lo, long long hi, const char *file, int line, const char *what);

#endif
