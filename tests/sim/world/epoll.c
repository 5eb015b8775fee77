/* Descriptors that watch others: epoll, level-triggered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/epoll.h"

#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"
#include "tests/sim/world/watch.h"

#include <errno.h>
#include <stdlib.h>

/* One descriptor that is watched by another. */
typedef struct interest {
    struct interest *next;
    descriptor *by, *in;
    struct epoll_event wanted;
} interest;
static interest *interests;

static interest **place_of(const descriptor *by, const descriptor *in)
{
    interest **place = &interests;
    while (*place && ((*place)->by != by || (*place)->in != in))
        place = &(*place)->next;
    return place;
}

static void drop(interest **place)
{
    interest *one = *place;
    *place = one->next;
    free(one);
}

static short ready_events(const interest *one)
{
    return (short)(descriptor_events(one->in) & ((short)one->wanted.events | POLLERR | POLLHUP));
}

short epoll_events(const descriptor *by)
{
    bool any = false;
    for (const interest *one = interests; one && !any; one = one->next)
        any = one->by == by && ready_events(one);
    return any ? POLLIN : 0;
}

size_t epoll_things(const descriptor *by, const void **things, size_t room)
{
    size_t count = 0;
    for (const interest *one = interests; one; one = one->next) {
        if (one->by != by)
            continue;
        if (count == room)
            finding("an epoll descriptor that watches more than %u others is not simulated", (unsigned)room);
        things[count++] = descriptor_thing(one->in);
    }
    return count;
}

void epoll_closed(descriptor *closed)
{
    for (interest **place = &interests; *place;) {
        if ((*place)->by == closed || (*place)->in == closed)
            drop(place);
        else
            place = &(*place)->next;
    }
}

int os_epoll_create1(int flags)
{
    sim_point();
    if (flags & ~EPOLL_CLOEXEC)
        finding("epoll_create1(%d) is not simulated", flags);
    return descriptor_take(EPOLL);
}

static int add(descriptor *by, descriptor *in, const struct epoll_event *wanted)
{
    interest *one = malloc(sizeof *one);
    if (!one)
        abort();
    *one = (interest){interests, by, in, *wanted};
    interests = one;
    return 0;
}

static int fail(int with)
{
    errno = with;
    return -1;
}

int os_epoll_ctl(int epoll_fd, int how, int fd, struct epoll_event *wanted)
{
    sim_point();
    descriptor *by = descriptor_at(epoll_fd, "epoll_ctl"), *in = descriptor_at(fd, "epoll_ctl");
    if (by->kind != EPOLL || in->kind == EPOLL)
        finding("%s calls epoll_ctl with a descriptor of another kind", thread_title(thread_self()));
    if (how != EPOLL_CTL_DEL && wanted->events & ~(uint32_t)(EPOLLIN | EPOLLOUT | EPOLLRDHUP))
        finding("epoll_ctl for events 0x%x is not simulated", wanted->events);
    interest **place = place_of(by, in);
    watch_changed(by); /* who polls it looks anew at what it watches */
    if (how == EPOLL_CTL_ADD)
        return *place ? fail(EEXIST) : add(by, in, wanted);
    if (!*place)
        return fail(ENOENT);
    if (how == EPOLL_CTL_MOD)
        (*place)->wanted = *wanted;
    else
        drop(place);
    return 0;
}

static int collect(const descriptor *by, struct epoll_event *found, int most)
{
    int count = 0;
    for (const interest *one = interests; one && count < most; one = one->next) {
        short ready = one->by == by ? ready_events(one) : 0;
        if (ready)
            found[count++] = (struct epoll_event){.events = (uint32_t)ready, .data = one->wanted.data};
    }
    return count;
}

int os_epoll_wait(int epoll_fd, struct epoll_event *found, int most, int timeout_ms)
{
    int ready = os_poll(&(struct pollfd){.fd = epoll_fd, .events = POLLIN}, 1, timeout_ms);
    return ready <= 0 ? ready : collect(descriptor_at(epoll_fd, "epoll_wait"), found, most);
}
