/* Heirs: threads that wait to be handed a lock, be it in a queue of their process or on the server; for claims that
 * are made of both. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HEIRS_H
#define HEIRS_H

#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"

/* A test of two suites: of HERE_SUITE with the reentrant lock, whose waiters queue in their process, and of
 * FAIR_SUITE with the fair one, whose waiters queue on the server. Its body follows and has `of`. And of SPIN_SUITE, with the
 * spin lock, whose waiters in the process queue and hear nothing. */
#define HEIR_TEST_SPIN(claim)                                                                      \
    static void claim(const kind *of);                                                             \
    Test(SPIN_SUITE, claim)                                                                        \
    {                                                                                              \
        claim(&kind_spin);                                                                         \
    }                                                                                              \
    HEIR_TEST(claim)
#define HEIR_TEST(claim)                                                                           \
    static void claim(const kind *of);                                                             \
    Test(HERE_SUITE, claim)                                                                        \
    {                                                                                              \
        claim(&kind_reentrant);                                                                    \
    }                                                                                              \
    Test(FAIR_SUITE, claim)                                                                        \
    {                                                                                              \
        claim(&kind_fair);                                                                         \
    }                                                                                              \
    static void claim(const kind *of)

/* Begins rlock_lock, or a try, on a new thread, and waits until it sleeps in its queue. */
actor *heir_start(const kind *of, rlock *lock);
actor *heir_start_try(const kind *of, rlock *lock, int64_t wait_ms, int64_t lease_ms);
/* Waits until it sleeps in its queue; on the server nobody else may wait. */
void heir_await(const kind *of, rlock *lock, actor *heir);
/* Whether so many queue on the server, where they do. */
bool heirs_queue(const kind *of, rlock *lock, int count);

#endif
