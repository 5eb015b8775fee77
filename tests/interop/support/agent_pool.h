/* JVMs that serve one test after the other: each takes long to start, and to become fast. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_POOL_H
#define AGENT_POOL_H

#include <stdbool.h>
#include <sys/types.h>

/* An agent for this test alone, from the folder that RLOCK_AGENTS names, started there if none is free: a connection to it,
 * and its process, which is no child of this one. -1: RLOCK_AGENTS is not set. Fails the test when it does not start. */
int agent_pool_take(const char *launcher, pid_t *pid);

#endif
