/* Poll loop: what a program with an event loop does, over any number of clients. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLL_LOOP_H
#define POLL_LOOP_H

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

/* How an async call ended. All zero at first. */
typedef struct ending {
    bool known;
    rlock_status status;
    int64_t answer;
    char error[512];
    rlock_client *closes; /* the function of the call closes this client of the stage; NULL: none */
} ending;

/* The loop serves that client from now on; no more. */
void poll_loop_add(rlock_client *client);
void poll_loop_remove(rlock_client *client);
/* The function of async calls; `arg` is an ending. */
void poll_loop_end(const rlock_result *result, void *arg);
/* Serves the clients until the call has ended, or for ms at most. */
bool poll_loop_wait(const ending *ending, int64_t ms);
/* Serves the clients until the condition is true; false: it was not within ms. */
bool poll_loop_until(bool (*condition)(void *arg), void *arg, int64_t ms);

/* Fails the test unless the call ends with that status. */
#define assert_ends(ending_, expected)                                                                                 \
    do {                                                                                                               \
        cr_assert(poll_loop_wait(&(ending_), 20000), "it has not ended");                                              \
        cr_assert((ending_).status == (expected), "it ended with %s, expected %s: %s",                                 \
                  rlock_strstatus((ending_).status), rlock_strstatus(expected), (ending_).error);                      \
    } while (0)

#endif
