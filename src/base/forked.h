/* fork(): a child must neither use its parent's sockets nor touch its mutexes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_FORKED_H
#define RLI_FORKED_H

#include <stdbool.h>

/* The number of forks between this process and the one that first called this function. An object that remembers the
 * number can tell later whether it was created by a parent process. The first call registers the fork handler. */
unsigned rli_fork_generation(void);

/* From now until rli_fd_close, a forked child closes its copy of `fd` at once, so that the server sees the end of the
 * parent's connection when the parent exits. False: out of memory; `fd` is not tracked. */
bool rli_fd_track(int fd);

/* Stops tracking `fd`, if it was tracked, and closes it. */
void rli_fd_close(int fd);

#endif
