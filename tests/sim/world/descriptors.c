/* Descriptors of the simulated system: what is open, waiting for it, and events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/descriptors.h"

#include "tests/sim/world/descriptor.h"
#include "tests/sim/world/epoll.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"
#include "tests/sim/world/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FIRST 5000 /* no real descriptor */
#define MOST 16384
#define INTERRUPTED 300 /* of so many calls that may be, one is */
#define POLLED 2048

static descriptor all[MOST];
static int open_count;
static bool forked;

/* Two processes may each have one of a number, so these tell them apart: each has its own. */
int descriptor_take(descriptor_kind kind)
{
    for (int i = 0; i < MOST; i++) {
        if (all[i].kind != UNUSED)
            continue;
        all[i] = (descriptor){.kind = kind, .of = thread_machine(thread_self())};
        open_count++;
        return FIRST + i;
    }
    errno = EMFILE;
    return -1;
}

bool descriptor_is_simulated(int fd)
{
    return fd >= FIRST && fd < FIRST + MOST;
}

/* One that is not open, or another process's, is used after it was closed. */
descriptor *descriptor_at(int fd, const char *call)
{
    descriptor *found = descriptor_is_simulated(fd) ? &all[fd - FIRST] : NULL;
    if (!found || found->kind == UNUSED)
        finding("%s calls %s with descriptor %d, which is not open", thread_title(thread_self()), call, fd);
    if (found->of != thread_machine(thread_self()) && found->also_of != thread_machine(thread_self()) && !forked)
        finding("%s calls %s with descriptor %d of another process", thread_title(thread_self()), call, fd);
    return found;
}

const void *descriptor_thing(const descriptor *of)
{
    return of->connection ? (const void *)of->connection : of->listener ? (const void *)of->listener : of;
}

int descriptors_open(void)
{
    return open_count;
}

void descriptors_share(int fd, const machine *with)
{
    descriptor_at(fd, "fork")->also_of = with;
}

void descriptors_forked(void)
{
    forked = true;
    watches_forget();
}

void descriptors_fork_is_over(void)
{
    forked = false;
}

bool descriptor_is_interrupted(void)
{
    if (!world_happens(INTERRUPTED))
        return false;
    errno = EINTR;
    return true;
}

ssize_t descriptor_result(ssize_t done)
{
    if (done >= 0)
        return done;
    errno = (int)-done;
    return -1;
}

/* --- waiting for several --- */

static short listener_events(const listener *of)
{
    return of && listener_has_any(of) ? POLLIN : 0;
}

short descriptor_events(const descriptor *self)
{
    if (self->kind == EPOLL)
        return epoll_events(self);
    if (self->kind == TIMER)
        return self->value ? POLLIN : 0;
    if (self->kind == EVENT)
        return (short)(self->value ? POLLIN | POLLOUT : POLLOUT);
    if (self->connection)
        return connection_events(self->connection);
    return self->listener ? listener_events(self->listener) : POLLOUT | POLLHUP;
}

static int look(struct pollfd *polled, nfds_t count, const descriptor *const *of)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        polled[i].revents = (short)(of[i] ? descriptor_events(of[i]) & (polled[i].events | POLLERR | POLLHUP) : 0);
        ready += polled[i].revents != 0;
    }
    return ready;
}

/* What an epoll descriptor watches may change meanwhile: then it does, too. */
static void sleep_by(const descriptor *const *of, nfds_t count, int64_t until_ns)
{
    const void *things[2 * POLLED];
    size_t many = 0;
    for (nfds_t i = 0; i < count; i++) {
        if (of[i])
            things[many++] = descriptor_thing(of[i]);
        if (of[i] && of[i]->kind == EPOLL)
            many += epoll_things(of[i], things + many, 2 * POLLED - many - count);
    }
    watch_sleep(things, many, until_ns, count ? "a descriptor" : "time to pass");
}

int os_poll(struct pollfd *polled, nfds_t count, int timeout_ms)
{
    const descriptor *of[POLLED];
    int64_t until_ns = timeout_ms < 0 ? WORLD_NEVER : world_now_ns() + (int64_t)timeout_ms * 1000000;
    sim_point();
    if (count > POLLED)
        finding("poll of %u descriptors is not simulated", (unsigned)count);
    for (nfds_t i = 0; i < count; i++) {
        of[i] = polled[i].fd < 0 ? NULL : descriptor_at(polled[i].fd, "poll");
    }
    for (;;) {
        int ready = look(polled, count, of);
        if (ready || world_now_ns() >= until_ns)
            return ready;
        if (descriptor_is_interrupted())
            return -1;
        sleep_by(of, count, until_ns);
        for (nfds_t i = 0; i < count; i++) {
            if (of[i] && of[i]->kind == UNUSED)
                finding("%s polls descriptor %d while it is closed", thread_title(thread_self()), polled[i].fd);
        }
    }
}

/* --- events --- */

int os_eventfd(unsigned value, int flags)
{
    sim_point();
    if (!(flags & EFD_NONBLOCK))
        finding("an eventfd that blocks is not simulated");
    int fd = descriptor_take(EVENT);
    if (fd >= 0)
        all[fd - FIRST].value = value;
    return fd;
}

static ssize_t read_event(descriptor *self, void *bytes, size_t length)
{
    if (length != sizeof self->value)
        finding("read of an event takes its value");
    if (self->value == 0)
        return descriptor_result(-EAGAIN);
    memcpy(bytes, &self->value, sizeof self->value);
    self->value = 0;
    return sizeof self->value;
}

static ssize_t write_event(descriptor *self, const void *bytes, size_t length)
{
    uint64_t more;
    if (length != sizeof more)
        finding("write to an event takes a value");
    memcpy(&more, bytes, sizeof more);
    self->value += more;
    watch_changed(self);
    return sizeof more;
}

/* --- of any kind; those that the world does not have are the test program's own --- */

ssize_t os_read(int fd, void *bytes, size_t length)
{
    if (!descriptor_is_simulated(fd))
        return read(fd, bytes, length);
    if (descriptor_at(fd, "read")->kind == SOCKET)
        return os_recv(fd, bytes, length, 0);
    sim_point();
    return read_event(descriptor_at(fd, "read"), bytes, length);
}

ssize_t os_write(int fd, const void *bytes, size_t length)
{
    if (!descriptor_is_simulated(fd))
        return write(fd, bytes, length);
    if (descriptor_at(fd, "write")->kind == SOCKET)
        return os_send(fd, bytes, length, MSG_NOSIGNAL);
    sim_point();
    return write_event(descriptor_at(fd, "write"), bytes, length);
}

int os_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    int value = va_arg(arguments, int);
    va_end(arguments);
    if (!descriptor_is_simulated(fd))
        return fcntl(fd, command, value);
    descriptor *self = descriptor_at(fd, "fcntl");
    if (command == F_SETFL)
        self->nonblocking = value & O_NONBLOCK;
    else if (command == F_GETFL)
        return O_RDWR | (self->nonblocking ? O_NONBLOCK : 0);
    else if (command != F_SETFD)
        finding("fcntl(%d) is not simulated", command);
    return 0;
}

static void let_go(descriptor *self, const machine *by)
{
    if (self->also_of) {
        self->of = by == self->of ? self->also_of : self->of;
        self->also_of = NULL;
        return;
    }
    if (self->connection && !forked)
        (self->resets ? connection_abort : connection_close)(self->connection);
    if (self->listener && !forked)
        listener_close(self->listener);
    epoll_closed(self);
    *self = (descriptor){.kind = UNUSED};
    open_count--;
}

int os_close(int fd)
{
    sim_point();
    if (!descriptor_is_simulated(fd))
        return close(fd);
    let_go(descriptor_at(fd, "close"), thread_machine(thread_self()));
    return 0;
}

void descriptors_close_all(const machine *of)
{
    for (int i = 0; i < MOST; i++) {
        if (all[i].kind != UNUSED && (all[i].of == of || all[i].also_of == of))
            let_go(&all[i], of);
    }
}
