/* fork(): a child must not speak on its parent's sockets nor touch its mutexes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_FORKED_H
#define RLI_FORKED_H

#include <stdbool.h>

/* How often this process is a fork of one that used the library; a client keeps the number of
 * the process that opened it. Registers the fork handler on first use. */
unsigned rli_fork_generation(void);

/* From now until rli_fd_close, a forked child closes its copy of `fd` at once, so that the server
 * sees the end of the parent's connection when the parent ends. False: out of memory. */
bool rli_fd_track(int fd);

/* Stops tracking `fd` and closes it. */
void rli_fd_close(int fd);

#endif
