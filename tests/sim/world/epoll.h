/* Descriptors that watch others (epoll), for descriptors.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_EPOLL_H
#define SIM_EPOLL_H

#include "tests/sim/world/descriptor.h"

/* POLLIN when one of those that it watches is ready. */
short epoll_events(const descriptor *epoll);
/* Puts what it watches among the things that a thread sleeps by, at most `room`. How many. */
size_t epoll_things(const descriptor *epoll, const void **things, size_t room);
/* A descriptor is closed: nobody watches it any more, nor does it watch others. */
void epoll_closed(descriptor *closed);

#endif
