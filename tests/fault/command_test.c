/* The command, when the answer that grants it the lock and a signal come at the same moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

TestSuite(command_fault, .init = scene_open, .fini = scene_close);

#define NAME    "order"
#define ROUNDS  20
#define SOON_MS 30000

/* It stands still while both come. In most rounds it then has the lock and the signal, and gives the lock back. In the
 * others the signal has ended the call before its answer was read, which it says: what the call may have taken is given
 * back when the client is closed. */
Test(command_fault, signal_that_comes_with_the_lock_leaves_no_hold)
{
    char url[256];
    snprintf(url, sizeof url, "unix://%s", proxy_socket(scene.proxy));
    for (int i = 0; i < ROUNDS; i++) {
        int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REPLY, 1);
        command *c = command_start(url, COMMAND("run", NAME, "--", "cat"));
        cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, SOON_MS));
        command_signal(c, SIGSTOP);
        proxy_release(scene.proxy, rule);
        command_signal(c, SIGTERM);
        command_signal(c, SIGCONT);
        cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM, "%s", command_err(c));
        assert_no_keys();
        command_free(c);
    }
}

/* The wait takes a moment to end, as the server does not answer; another signal that comes then changes nothing. */
Test(command_fault, first_of_two_signals_gives_the_exit_status)
{
    char url[256];
    snprintf(url, sizeof url, "unix://%s", proxy_socket(scene.proxy));
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    int asks = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    int leaves = on_script(&rli_script_lock_release, PROXY_HOLD_REQUEST, 0);
    command *c = command_start(url, COMMAND("run", NAME, "--", "cat"));
    cr_assert(wait_listened(NAME, SOON_MS) && proxy_await(scene.proxy, asks, PROXY_ANSWERED, 2, SOON_MS));
    command_signal(c, SIGTERM);
    cr_assert(proxy_await(scene.proxy, leaves, PROXY_ACTED, 1, SOON_MS), "it does not leave the registry");
    command_signal(c, SIGINT);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM, "%s", command_err(c));
    command_free(c);
    assert_ok(rlock_unlock(lock_of(stage.other, NAME)));
}
