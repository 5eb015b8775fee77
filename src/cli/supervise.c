/* Supervise: from the start of the command to its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/supervise.h"

#include "cli/descendants.h"
#include "cli/duration.h"
#include "cli/message.h"

#include <limits.h>
#include <poll.h>
#include <time.h>

#define SWEEP_MS 50 /* pause between two searches for processes that SIGKILL has not reached */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int poll_timeout(int64_t ms)
{
    return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

/* Waits for a signal, for a loss (loss_fd -1: not for that), or for `ms` at most; passes signals on. */
static void wait_a_while(const cli_child *child, int loss_fd, const cli_signals *signals, int64_t ms)
{
    struct pollfd fds[] = {{signals->fd, POLLIN, 0}, {loss_fd, POLLIN, 0}};
    poll(fds, 2, poll_timeout(ms));
    cli_signal_note note;
    while (signals_next(signals, &note))
        child_pass_on(child, note);
}

static cli_unreached signal_all(const cli_child *child, int signal)
{
    return descendants_signal(signal, child->ended ? 0 : child->pid);
}

/* Some processes cannot be ended; waiting for them could take for ever. */
static void give_up(const cli_child *child, cli_unreached unreached)
{
    complain("%s may still run without the lock: %s", child->ended ? "what the command started" : "the command",
             unreached.refused
                 ? "it runs as another user, and to signal it is not permitted; run rlock as that user, too"
                 : "/proc does not show the processes that descend from rlock");
}

static void end_command(cli_child *child, const cli_signals *signals, int64_t kill_after_ms)
{
    int64_t kill_at_ms = now_ms() + kill_after_ms;
    cli_unreached unreached = {0};
    bool killing = false;
    signal_all(child, SIGTERM);
    signal_all(child, SIGCONT); /* a stopped process does not handle SIGTERM */
    while (child_reap(child)) {
        int64_t left_ms = kill_at_ms - now_ms();
        if (killing && (unreached.refused || (unreached.unknown && child->ended))) {
            give_up(child, unreached);
            return;
        }
        if (left_ms <= 0) {
            char shown[DURATION_SHOWN];
            if (!killing)
                complain("the command did not end within %s: killing it", duration_show(kill_after_ms, shown));
            killing = true;
            unreached = signal_all(child, SIGKILL);
            left_ms = SWEEP_MS;
        }
        wait_a_while(child, -1, signals, left_ms);
    }
}

bool supervise(cli_child *child, cli_loss *loss, const cli_signals *signals, int64_t kill_after_ms)
{
    while (!loss_happened(loss)) {
        child_reap(child);
        if (child->ended)
            return !loss_happened(loss);
        wait_a_while(child, loss->fd, signals, hold_valid_for(loss->hold));
    }
    child_reap(child);
    complain("the %s \"%s\" was lost: %s; %s", hold_word(loss->hold), loss->hold->shown, loss_words(loss),
             child->ended ? "the command ended meanwhile" : "ending the command");
    end_command(child, signals, kill_after_ms);
    return false;
}
