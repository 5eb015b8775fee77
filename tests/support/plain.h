/* Criterion's words on a plain runner that forks for each test: for ThreadSanitizer, under which
 * Criterion's own does not work. Has the words that our tests use; add others as they come up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PLAIN_H
#define TEST_PLAIN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_options {
    void (*init)(void);
    void (*fini)(void);
    double timeout; /* seconds; 0: the suite's, the run's */
    const char *description;
    int signal;    /* that ends the test */
    int exit_code; /* with which the test exits by itself */
    bool disabled;
    int last_; /* lets the macros end their arguments */
} plain_options;

typedef struct plain_test {
    const char *suite, *name; /* name NULL: the suite's options */
    const char *file;         /* suites of the same name in other files are others */
    void (*run)(void);
    plain_options options;
    struct plain_test *next;
} plain_test;

void plain_add(plain_test *test);
void plain_failed(bool fatal, const char *file, int line, const char *what, const char *format, ...);
_Noreturn void plain_skip(const char *format, ...);
void plain_log(const char *format, ...);

#define Test(...) PLAIN_TEST_(__VA_ARGS__, .last_ = 0)
#define TestSuite(...) PLAIN_SUITE_(__VA_ARGS__, .last_ = 0)

#define PLAIN_TEST_(suite_, name_, ...)                                                            \
    static void plain_run_##suite_##_##name_(void);                                                \
    __attribute__((constructor)) static void plain_add_##suite_##_##name_(void)                    \
    {                                                                                              \
        static plain_test test_ = {#suite_, #name_, __FILE__, plain_run_##suite_##_##name_, {__VA_ARGS__}, NULL}; \
        plain_add(&test_);                                                                         \
    }                                                                                              \
    static void plain_run_##suite_##_##name_(void)

#define PLAIN_SUITE_(suite_, ...)                                                                  \
    __attribute__((constructor)) static void plain_suite_##suite_(void)                            \
    {                                                                                              \
        static plain_test test_ = {#suite_, NULL, __FILE__, NULL, {__VA_ARGS__}, NULL};                      \
        plain_add(&test_);                                                                         \
    }                                                                                              \
    typedef int plain_suite_end_##suite_

/* The NULLs stand for a message that is not there; after one they are arguments it does not use. */
#define PLAIN_CHECK_(fatal_, condition_, what_, ...)                                               \
    do {                                                                                           \
        if (!(condition_))                                                                         \
            plain_failed(fatal_, __FILE__, __LINE__, what_, __VA_ARGS__);                          \
    } while (0)
#define PLAIN_IS_(fatal_, a, ...) PLAIN_CHECK_(fatal_, a, #a, __VA_ARGS__)
#define PLAIN_NOT_(fatal_, a, ...) PLAIN_CHECK_(fatal_, !(a), "not " #a, __VA_ARGS__)
#define PLAIN_NULL_(fatal_, a, ...) PLAIN_CHECK_(fatal_, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define PLAIN_NOT_NULL_(fatal_, a, ...) PLAIN_CHECK_(fatal_, (a) != NULL, #a " is not NULL", __VA_ARGS__)
#define PLAIN_COMPARE_(fatal_, op, a, b, ...) PLAIN_CHECK_(fatal_, (a)op(b), #a " " #op " " #b, __VA_ARGS__)
#define PLAIN_STR_(fatal_, op, a, b, ...)                                                          \
    PLAIN_CHECK_(fatal_, strcmp(a, b) op 0, #a " " #op " " #b, __VA_ARGS__)

#define cr_assert(...) PLAIN_IS_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_not(...) PLAIN_NOT_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_null(...) PLAIN_NULL_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_not_null(...) PLAIN_NOT_NULL_(true, __VA_ARGS__, NULL, NULL)
#define cr_assert_eq(...) PLAIN_COMPARE_(true, ==, __VA_ARGS__, NULL, NULL)
#define cr_assert_neq(...) PLAIN_COMPARE_(true, !=, __VA_ARGS__, NULL, NULL)
#define cr_assert_lt(...) PLAIN_COMPARE_(true, <, __VA_ARGS__, NULL, NULL)
#define cr_assert_leq(...) PLAIN_COMPARE_(true, <=, __VA_ARGS__, NULL, NULL)
#define cr_assert_gt(...) PLAIN_COMPARE_(true, >, __VA_ARGS__, NULL, NULL)
#define cr_assert_geq(...) PLAIN_COMPARE_(true, >=, __VA_ARGS__, NULL, NULL)
#define cr_assert_str_eq(...) PLAIN_STR_(true, ==, __VA_ARGS__, NULL, NULL)
#define cr_assert_str_neq(...) PLAIN_STR_(true, !=, __VA_ARGS__, NULL, NULL)
#define cr_assert_fail(...) plain_failed(true, __FILE__, __LINE__, "failed", __VA_ARGS__)

#define cr_expect(...) PLAIN_IS_(false, __VA_ARGS__, NULL, NULL)
#define cr_expect_not(...) PLAIN_NOT_(false, __VA_ARGS__, NULL, NULL)
#define cr_expect_eq(...) PLAIN_COMPARE_(false, ==, __VA_ARGS__, NULL, NULL)
#define cr_expect_str_eq(...) PLAIN_STR_(false, ==, __VA_ARGS__, NULL, NULL)
#define cr_expect_fail(...) plain_failed(false, __FILE__, __LINE__, "failed", __VA_ARGS__)

#define cr_skip_test(...) plain_skip(__VA_ARGS__)
#define cr_log_info(...) plain_log(__VA_ARGS__)
#define cr_log_warn(...) plain_log(__VA_ARGS__)
#define cr_log_error(...) plain_log(__VA_ARGS__)

#endif
