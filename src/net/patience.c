/* Patience: how long a thread waits while it connects, and the events that end the wait earlier. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/patience.h"

#include "base/clock.h"

#include <errno.h>

/* The longest time until a change of `closed` or `drops` is noticed. */
#define SLICE_MS 20

bool rli_patience_ended(const rli_patience *patience)
{
    return rli_cancel_fired(patience->cancel) || atomic_load(patience->closed) ||
           (patience->drops && atomic_load(patience->drops) != patience->drops_before) ||
           rli_now_ms() >= patience->deadline_ms;
}

bool rli_patience_poll_any(const rli_patience *patience, struct pollfd *polled, nfds_t count, int64_t until_ms)
{
    int64_t end_ms = rli_earlier(patience->deadline_ms, until_ms);
    polled[count] = (struct pollfd){.fd = rli_cancel_fd(patience->cancel), .events = POLLIN};
    for (;;) {
        int ready = poll(polled, count + 1, rli_until_ms(end_ms, SLICE_MS));
        if (ready > 0 && (ready > 1 || !polled[count].revents))
            return true;
        if ((ready < 0 && errno != EINTR) || rli_patience_ended(patience) || rli_now_ms() >= until_ms)
            return false;
    }
}

bool rli_patience_poll(const rli_patience *patience, int fd, short events)
{
    struct pollfd polled[2] = {{.fd = fd, .events = events}};
    return rli_patience_poll_any(patience, polled, 1, RLI_NEVER);
}

void rli_patience_park(const rli_patience *patience, rli_parker *parker)
{
    rli_park(parker, rli_earlier(patience->deadline_ms, rli_after_ms(SLICE_MS)));
}
