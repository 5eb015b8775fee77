/* Transactions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

void link_clear_queue(sim_link *link)
{
    for (size_t i = 0; i < link->queued; i++)
        sim_free(link->queue[i].words);
    sim_free(link->queue);
    link->queue = NULL;
    link->queued = link->queue_room = 0;
    link->in_multi = link->multi_broken = false;
}

static void run_multi(sim_call *call)
{
    if (call->link->in_multi) {
        say_error(call, call->server->settings.version == SIM_VALKEY_8_0 ? "ERR Command not allowed inside a transaction"
                                                                         : "ERR MULTI calls can not be nested");
        call->link->multi_broken |= call->server->settings.version == SIM_VALKEY_8_0;
        return;
    }
    call->link->in_multi = true;
    say_ok(call);
}

static void run_discard(sim_call *call)
{
    if (!call->link->in_multi) {
        say_error(call, "ERR DISCARD without MULTI");
        return;
    }
    link_clear_queue(call->link);
    say_ok(call);
}

static bool is_refused_by_now(sim_call *exec)
{
    sim_link *link = exec->link;
    for (size_t i = 0; i < link->queued; i++) {
        sim_call later = {.server = exec->server, .link = link, .command = link->queue[i].command};
        const char *refusal = refusal_of(&later, true);
        if (refusal) {
            say_error(exec, "EXECABORT Transaction discarded because of: %s", refusal);
            return true;
        }
    }
    return false;
}

static void run_exec(sim_call *call)
{
    sim_link *link = call->link;
    if (!link->in_multi) {
        say_error(call, "ERR EXEC without MULTI");
        return;
    }
    if (link->multi_broken) {
        say_error(call, "EXECABORT Transaction discarded because of previous errors.");
    } else if (!is_refused_by_now(call)) {
        say_array(call, link->queued);
        for (size_t i = 0; i < link->queued; i++) {
            struct sim_call one = {.server = call->server, .link = link, .command = link->queue[i].command,
                               .words = link->queue[i].words, .count = link->queue[i].count, .database = link->database};
            command_run(&one);
            call->wrote |= one.wrote;
        }
    }
    link_clear_queue(link);
}

const sim_command multi_commands[] = {
    {"multi", run_multi, 1, COMMAND_NO_SCRIPT | COMMAND_NO_QUEUE | COMMAND_LOADING | COMMAND_STALE | COMMAND_BUSY, 0, 0, 0, 0},
    {"exec", run_exec, 1, COMMAND_NO_SCRIPT | COMMAND_NO_QUEUE | COMMAND_LOADING | COMMAND_STALE, 0, 0, 0, 0},
    {"discard", run_discard, 1, COMMAND_NO_SCRIPT | COMMAND_NO_QUEUE | COMMAND_LOADING | COMMAND_STALE | COMMAND_BUSY, 0, 0, 0, 0},
    {0},
};
