/* Tests and asserts, in the words of the Criterion library as far as our tests use them. A test has a process of its
 * own, forked from the runner: that works under each sanitizer and in virtual time, and compiles in half the time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_RUNNER_H
#define TEST_RUNNER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct runner_options {
    void (*init)(void);
    void (*fini)(void);
    double timeout; /* seconds; 0: the suite's, the run's */
    int lasts;      /* about how many seconds, of a test that waits long: the longest begin first */
    int last_;      /* lets the macros end their arguments */
} runner_options;

typedef struct runner_test {
    const char *suite, *name; /* name NULL: the suite's options */
    const char *file;         /* suites of the same name in other files are others */
    void (*run)(void);
    runner_options options;
    struct runner_test *next;
} runner_test;

void runner_add(runner_test *test);
void runner_failed(bool fatal, const char *file, int line, const char *what, const char *format, ...);
_Noreturn void runner_skip(const char *format, ...);
void runner_log(const char *format, ...);

#define Test(...) RUNNER_TEST_(__VA_ARGS__, .last_ = 0)
#define TestSuite(...) RUNNER_SUITE_(__VA_ARGS__, .last_ = 0)

#define RUNNER_TEST_(suite_, name_, ...)                                                                            \
    static void runner_run_##suite_##_##name_(void);                                                                \
    __attribute__((constructor)) static void runner_add_##suite_##_##name_(void)                                    \
    {                                                                                                               \
        static runner_test test_ = {#suite_, #name_, __FILE__, runner_run_##suite_##_##name_, {__VA_ARGS__}, NULL}; \
        runner_add(&test_);                                                                                         \
    }                                                                                                               \
    static void runner_run_##suite_##_##name_(void)

#define RUNNER_SUITE_(suite_, ...)                                                                \
    __attribute__((constructor)) static void runner_suite_##suite_(void)                          \
    {                                                                                             \
        static runner_test test_ = {#suite_, NULL, __FILE__, NULL, {__VA_ARGS__}, NULL};          \
        runner_add(&test_);                                                                       \
    }                                                                                             \
    typedef int runner_suite_end_##suite_

/* The NULLs stand for a message that is not there; after one they are arguments it does not use. */
#define RUNNER_CHECK_(fatal_, condition_, what_, ...)                                             \
    do {                                                                                          \
        if (!(condition_))                                                                        \
            runner_failed(fatal_, __FILE__, __LINE__, what_, __VA_ARGS__);                        \
    } while (0)
#define RUNNER_IS_(fatal_, a, ...) RUNNER_CHECK_(fatal_, a, #a, __VA_ARGS__)
#define RUNNER_NOT_(fatal_, a, ...) RUNNER_CHECK_(fatal_, !(a), "not " #a, __VA_ARGS__)
#define RUNNER_NULL_(fatal_, a, ...) RUNNER_CHECK_(fatal_, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define RUNNER_NOT_NULL_(fatal_, a, ...) RUNNER_CHECK_(fatal_, (a) != NULL, #a " is not NULL", __VA_ARGS__)
#define RUNNER_COMPARE_(fatal_, op, a, b, ...) RUNNER_CHECK_(fatal_, (a)op(b), #a " " #op " " #b, __VA_ARGS__)
#define RUNNER_STR_(fatal_, op, a, b, ...)                                                        \
    do {                                                                                           \
        const char *left_ = (a), *right_ = (b);                                                    \
        if (!(strcmp(left_, right_) op 0))                                                         \
            runner_log("\"%s\" and \"%s\"", left_, right_);                                        \
        RUNNER_CHECK_(fatal_, strcmp(left_, right_) op 0, #a " " #op " " #b, __VA_ARGS__);         \
    } while (0)

#define cr_assert(...) RUNNER_IS_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_not(...) RUNNER_NOT_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_null(...) RUNNER_NULL_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_not_null(...) RUNNER_NOT_NULL_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_eq(...) RUNNER_COMPARE_(true, ==, __VA_ARGS__, NULL, NULL)
#define cr_assert_neq(...) RUNNER_COMPARE_(true, !=, __VA_ARGS__, NULL, NULL)
#define cr_assert_lt(...) RUNNER_COMPARE_(true, <, __VA_ARGS__, NULL, NULL)
#define cr_assert_leq(...) RUNNER_COMPARE_(true, <=, __VA_ARGS__, NULL, NULL)
#define cr_assert_gt(...) RUNNER_COMPARE_(true, >, __VA_ARGS__, NULL, NULL)
#define cr_assert_geq(...) RUNNER_COMPARE_(true, >=, __VA_ARGS__, NULL, NULL)
#define cr_assert_str_eq(...) RUNNER_STR_(true, ==, __VA_ARGS__, NULL, NULL)
#define cr_assert_str_neq(...) RUNNER_STR_(true, !=, __VA_ARGS__, NULL, NULL)
#define cr_assert_fail(...) runner_failed(true, __FILE__, __LINE__, "failed", __VA_ARGS__)

#define cr_expect(...) RUNNER_IS_(false, __VA_ARGS__, NULL, NULL)
#define cr_expect_not(...) RUNNER_NOT_(false, __VA_ARGS__, NULL, NULL)
#define cr_expect_eq(...) RUNNER_COMPARE_(false, ==, __VA_ARGS__, NULL, NULL)
#define cr_expect_str_eq(...) RUNNER_STR_(false, ==, __VA_ARGS__, NULL, NULL)
#define cr_expect_fail(...) runner_failed(false, __FILE__, __LINE__, "failed", __VA_ARGS__)

#define cr_skip_test(...) runner_skip(__VA_ARGS__)
#define cr_log_info(...) runner_log(__VA_ARGS__)
#define cr_log_warn(...) runner_log(__VA_ARGS__)
#define cr_log_error(...) runner_log(__VA_ARGS__)

#endif
