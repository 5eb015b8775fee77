/* A child: part of a test in a forked process, which tells what was wrong. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct child {
    pid_t pid;
    int said; /* what it wrote */
    int go;   /* what it waits for */
} child;

/* Forks and runs `part` there; it returns NULL when all was well, else what was not. It may call
 * child_await in between. No assert works in it. */
typedef const char *child_part(child *self);
child child_start(child_part *part);
/* In the child: waits until the parent says go. In the parent: says it. */
void child_await(child *self);
void child_go(child *self);
/* Waits for its end; fails the test when it was not well, crashed, or took more than 20 s. */
void child_end(child *self);
/* All of it. */
void in_child(child_part *part);

/* Waits until all other threads of this process sleep, so that none is in the middle of an allocation
 * when it forks: AddressSanitizer's allocator would stay locked in the child. */
void child_await_rest(void);

/* Whether a child may allocate while its parent had busy threads, and whether it may start threads.
 * glibc sees to both; AddressSanitizer's allocator stays locked when another thread was in it, and
 * ThreadSanitizer takes the child's threads for those that the parent had. */
#if defined(__has_feature)
#define CHILD_UNDER_(sanitizer) __has_feature(sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define CHILD_UNDER_(sanitizer) CHILD_UNDER_##sanitizer
#define CHILD_UNDER_address_sanitizer 1
#define CHILD_UNDER_thread_sanitizer 0
#elif defined(__SANITIZE_THREAD__)
#define CHILD_UNDER_(sanitizer) CHILD_UNDER_##sanitizer
#define CHILD_UNDER_address_sanitizer 0
#define CHILD_UNDER_thread_sanitizer 1
#else
#define CHILD_UNDER_(sanitizer) 0
#endif
#define CHILD_MAY_ALLOCATE (!CHILD_UNDER_(address_sanitizer))
#define CHILD_MAY_START_THREADS (!CHILD_UNDER_(thread_sanitizer))

/* In a part: ends it when the condition does not hold, naming it. */
#define CHILD_TEXT2_(line) #line
#define CHILD_TEXT_(line) CHILD_TEXT2_(line)
#define child_check(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return "line " CHILD_TEXT_(__LINE__) ": " #condition;                                  \
    } while (0)

#endif
