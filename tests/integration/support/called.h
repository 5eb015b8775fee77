/* Called: what the function of an async call was called with; and the program's loop, which waits for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLED_H
#define CALLED_H

#include <rlock/rlock.h>
#include <stdbool.h>

typedef struct called {
    int times; /* how often the function was called */
    rlock_status status;
    char error[512];
    int64_t answer;
    uint64_t token;
} called;

/* The function of an async call; `arg` is a called. */
void called_note(const rlock_result *result, void *arg);

/* Polls the client's descriptor and processes when it is readable, until the function was called; fails the test when
 * that takes too long. Returns its status; the error is then also rlock_last_error() of this thread's last call. */
rlock_status called_await(rlock_client *client, const called *called);
/* The same until *count is `least` or more. */
void called_await_count(rlock_client *client, const int *count, int least);
/* Processes for `ms` although nothing needs to end. */
void called_process_for(rlock_client *client, int64_t ms);

/* Whole async calls by an owner, on any lock. */
rlock_status called_lock(rlock_client *client, rlock *lock, int64_t owner, int64_t wait_ms);
rlock_status called_unlock(rlock_client *client, rlock *lock, int64_t owner);

/* RLOCK_LOCK_OPTIONS_INIT with an owner and a wait. */
rlock_lock_options called_options(int64_t owner, int64_t wait_ms);

#endif
