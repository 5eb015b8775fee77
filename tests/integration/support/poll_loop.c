/* Poll loop: what a program with an event loop does, over any number of clients. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/poll_loop.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <poll.h>
#include <stdio.h>

enum { CLIENTS = 8, TURN_MS = 50 };

static rlock_client *served[CLIENTS];
static nfds_t count;

void poll_loop_add(rlock_client *client)
{
    cr_assert(count < CLIENTS);
    served[count++] = client;
}

void poll_loop_remove(rlock_client *client)
{
    nfds_t left = 0;
    for (nfds_t i = 0; i < count; i++) {
        if (served[i] != client)
            served[left++] = served[i];
    }
    count = left;
}

void poll_loop_end(const rlock_result *result, void *arg)
{
    ending *end = arg;
    cr_assert(!end->known, "the function was called twice");
    end->status = result->status;
    end->answer = result->answer;
    snprintf(end->error, sizeof end->error, "%s", result->error);
    end->known = true;
    if (end->closes) {
        poll_loop_remove(end->closes);
        stage_close_client(end->closes);
    }
}

static bool is_served(const rlock_client *client)
{
    nfds_t i = 0;
    while (i < count && served[i] != client)
        i++;
    return i < count;
}

/* A function that is called may close a client of this turn. */
static void turn(void)
{
    rlock_client *clients[CLIENTS];
    struct pollfd fds[CLIENTS];
    nfds_t n = count;
    for (nfds_t i = 0; i < n; i++) {
        clients[i] = served[i];
        fds[i] = (struct pollfd){.fd = rlock_client_fd(clients[i]), .events = POLLIN};
        cr_assert(fds[i].fd >= 0, "no descriptor: %s", rlock_last_error());
    }
    poll(fds, n, TURN_MS);
    for (nfds_t i = 0; i < n; i++) {
        if (!fds[i].revents || !is_served(clients[i]))
            continue;
        rlock_status status = rlock_client_process(clients[i]);
        cr_assert(status == RLOCK_OK || (status == RLOCK_CLOSED && !is_served(clients[i])), "%s",
                  rlock_last_error());
    }
}

bool poll_loop_until(bool (*condition)(void *arg), void *arg, int64_t ms)
{
    int64_t end_ms = now_ms() + ms;
    while (!condition(arg) && now_ms() < end_ms)
        turn();
    return condition(arg);
}

static bool is_known(void *arg)
{
    return ((const ending *)arg)->known;
}

bool poll_loop_wait(const ending *end, int64_t ms)
{
    return poll_loop_until(is_known, (void *)(uintptr_t)end, ms);
}
