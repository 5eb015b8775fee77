/* Waiting: tells the user who holds the lock while rlock waits for it, and sees to it that a semaphore stays. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "cli/hold.h"
#include "cli/run_options.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cli_waiting {
    rlock_client *client;
    const run_options *options;
    cli_hold *hold;
    rlock_cancel *cancel;
    int64_t since_ms;
    pthread_t thread;
    bool started;  /* there is a thread */
    bool tells;    /* it tells who holds the lock */
    bool was_gone; /* the semaphore, when it was looked for last */
    int stop_fd;   /* eventfd: ends the thread */
    pthread_mutex_t mutex;
    bool over; /* guarded by mutex: the wait has ended, and nothing more is said */
} cli_waiting;

/* The wait begins. Once it has lasted a moment, a thread tells who holds the lock, and whenever that changes, if
 * standard error is a terminal and --quiet was not given, or --verbose was. Unless --quiet was given, it tells in any
 * case that the wait may be for rlock itself, which runs under the lock already. If a semaphore is deleted, nobody
 * would ever release a permit: the thread creates it anew where --set-permits says so and its permits have leases, or
 * else fires the token. Without the memory for a thread, nothing of this is done. */
void waiting_begin(cli_waiting *waiting, rlock_client *client, const run_options *options, cli_hold *hold,
                   rlock_cancel *cancel);
/* The wait has ended. Does not wait for the thread, which may be waiting for the server. */
void waiting_over(cli_waiting *waiting, bool acquired);
/* Joins the thread. */
void waiting_end(cli_waiting *waiting);

#endif
