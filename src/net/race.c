/* A race: connects to several addresses of one name and takes the first that answers (RFC 8305). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/race.h"

#include "base/clock.h"
#include "base/forked.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long the race waits before it tries one more address: RFC 8305's connection attempt delay. */
#define HEAD_START_MS 250
/* The most addresses tried at the same time. One more replaces the one that has been tried for the longest time. */
#define RACERS_MOST 8

typedef struct race {
    const struct addrinfo *next; /* the next address to try; NULL: none is left */
    int64_t next_ms;             /* when to try it, unless another one connects or fails before */
    /* the oldest first (until one connects); one more entry at the end is for rli_patience_poll_any */
    struct pollfd racers[RACERS_MOST + 1];
    nfds_t count;
    int error; /* errno of the last failure; 0: none */
} race;

static void drop(race *run, nfds_t at)
{
    rli_fd_close(run->racers[at].fd);
    run->count--;
    memmove(&run->racers[at], &run->racers[at + 1], (run->count - at) * sizeof *run->racers);
}

/* Removes the racer without closing its socket, and returns the socket. */
static int take(race *run, nfds_t at)
{
    int fd = run->racers[at].fd;
    run->racers[at].fd = run->racers[--run->count].fd;
    return fd;
}

static void fail(race *run, int error)
{
    run->error = error;
    run->next_ms = 0;
}

/* Tracks the socket from its creation: a race may take long, and a child forked meanwhile must not hold the winner's
 * connection open. -1: errno has the reason. */
static int make_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || rli_fd_track(fd))
        return fd;
    close(fd);
    errno = ENOMEM;
    return -1;
}

/* Starts connecting to the next address. Returns its socket if it is connected at once, else -1. */
static int begin(race *run)
{
    const struct addrinfo *address = run->next;
    run->next = address->ai_next;
    run->next_ms = rli_after_ms(HEAD_START_MS);
    int fd = make_socket(address->ai_family);
    if (fd < 0) {
        fail(run, errno);
        return -1;
    }
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    if (errno != EINPROGRESS && errno != EINTR) {
        fail(run, errno);
        rli_fd_close(fd);
        return -1;
    }
    if (run->count == RACERS_MOST)
        drop(run, 0);
    run->racers[run->count++] = (struct pollfd){.fd = fd, .events = POLLOUT};
    return -1;
}

static int error_of(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/* Returns the socket of a racer that has connected, or -1. Drops those that have failed. */
static int find_winner(race *run)
{
    for (nfds_t i = run->count; i-- > 0;) {
        if (!run->racers[i].revents)
            continue;
        int error = error_of(run->racers[i].fd);
        if (error == 0)
            return take(run, i);
        fail(run, error);
        drop(run, i);
    }
    return -1;
}

static const char *reason(int error)
{
    /* A unix socket gives EAGAIN while the server accepts too slowly. */
    return error == 0 || error == ETIMEDOUT || error == EAGAIN ? "it does not answer" : strerror(error);
}

int rli_race(const struct addrinfo *addresses, const rli_patience *patience, const char **why)
{
    race run = {.next = addresses};
    int winner = -1;
    while (winner < 0 && (run.next || run.count) && !rli_patience_ended(patience)) {
        if (run.next && rli_now_ms() >= run.next_ms)
            winner = begin(&run);
        else if (rli_patience_poll_any(patience, run.racers, run.count, run.next ? run.next_ms : RLI_NEVER))
            winner = find_winner(&run);
    }
    *why = reason(run.count ? 0 : run.error); /* an address that has not failed did not answer */
    while (run.count)
        drop(&run, run.count - 1);
    return winner;
}
