/* A bell: an eventfd that wakes a thread which polls sockets, where a futex could not. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BELL_H
#define RLI_BELL_H

#include <stdatomic.h>
#include <stdbool.h>

/* Makes a descriptor that nobody has rung yet; a forked child closes its copy. Close it with rli_fd_close. -1: errno
 * says why not. */
int rli_bell_open(void);
/* Makes the descriptor readable, until rli_bell_hush. */
void rli_bell_ring(int fd);
void rli_bell_hush(int fd);

/* The bell of a client, for one of its waiting threads at a time. */
typedef struct rli_bell {
    int fd;            /* an eventfd; -1: nobody has needed one yet. Only the thread that has the bell may create it. */
    atomic_bool taken; /* a thread has it */
} rli_bell;

void rli_bell_init(rli_bell *bell);
/* Nobody may have it, nor ring it any more. */
void rli_bell_destroy(rli_bell *bell);

/* The calling thread has the bell until rli_bell_give_back. False: another thread has it, or there is no descriptor. */
bool rli_bell_take(rli_bell *bell);
void rli_bell_give_back(rli_bell *bell);

#endif
