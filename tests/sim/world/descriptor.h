/* A descriptor of the simulated system, for the files that have its kinds alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_DESCRIPTOR_H
#define SIM_DESCRIPTOR_H

#include "tests/sim/world/listener.h"
#include "tests/sim/world/network.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum descriptor_kind { UNUSED, SOCKET, EVENT, TIMER, EPOLL } descriptor_kind;

typedef struct descriptor {
    descriptor_kind kind;
    const machine *of, *also_of; /* the processes that have it; NULL: one alone has */
    int family;
    bool nonblocking;
    connection *connection; /* NULL: a socket that is not connected… */
    listener *listener;     /* …but bound, and may listen */
    int64_t patience_ns;    /* the most that a receive waits; 0: no limit */
    bool resets;            /* its close does, instead of ending the stream */
    uint64_t value;         /* of an event or a timer */
    int64_t due_ns;         /* when a timer goes off; 0: it is not set */
} descriptor;

/* A new one of the calling thread's process; -1: there are too many. */
int descriptor_take(descriptor_kind kind);
/* One that is open; else `call` is a finding. */
descriptor *descriptor_at(int fd, const char *call);
/* Whether the number is one of the simulated system's. Others are the test program's own. */
bool descriptor_is_simulated(int fd);
/* What it is ready for, as poll tells it. */
short descriptor_events(const descriptor *of);
/* What changes when it does, for watch.h. */
const void *descriptor_thing(const descriptor *of);
/* Now and then a call that may be is interrupted: errno is EINTR then. */
bool descriptor_is_interrupted(void);
/* What a call that fails with -errno returns. */
ssize_t descriptor_result(ssize_t done);

#endif
