/* Asserts of every test. Each is a call: written out at some ten thousand places, they took half of what tests take to
 * compile. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/test.h"

void test_status(rlock_status got, rlock_status expected, const char *file, int line, const char *call)
{
    if (got != expected)
        runner_failed(true, file, line, call, "answered %d (%s), expected %d (%s); last error: %s", (int)got,
                      rlock_strstatus(got), (int)expected, rlock_strstatus(expected), rlock_last_error());
}

void test_between(long long value, long long lo, long long hi, const char *file, int line, const char *what)
{
    if (value < lo || value > hi)
        runner_failed(true, file, line, what, "is %lld, expected %lld…%lld", value, lo, hi);
}

void test_words(const char *text, const char *const *words, const char *file, int line, const char *what)
{
    while (*words && strstr(text, *words))
        words++;
    if (*words)
        runner_failed(true, file, line, what, "no \"%s\" in: %s", *words, text);
}
