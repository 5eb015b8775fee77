/* MONITOR: links that are told of all commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"

#include <string.h>

static void add_quoted(bytes *line, text word)
{
    bytes_add(line, "\"", 1);
    for (size_t i = 0; i < word.length; i++) {
        unsigned char byte = (unsigned char)word.at[i];
        const char *named = byte ? strchr("\nn\rr\tt\aa\bb", byte) : NULL;
        if (byte == '"' || byte == '\\')
            bytes_print(line, "\\%c", byte);
        else if (named && byte < ' ')
            bytes_print(line, "\\%c", named[1]);
        else if (byte >= ' ' && byte < 0x7f)
            bytes_add(line, &word.at[i], 1);
        else
            bytes_print(line, "\\x%02x", byte);
    }
    bytes_add(line, "\"", 1);
}

static void describe(const sim_call *call, bytes *line)
{
    const sim_server *server = call->server;
    bytes_print(line, "+%lld.%06lld [%d ", (long long)(server->now_us / 1000000), (long long)(server->now_us % 1000000),
                call->database);
    if (call->lua)
        bytes_print(line, "lua]");
    else
        bytes_print(line, "127.0.0.1:%llu]", (unsigned long long)(40000 + call->link->id % 20000));
    for (int i = 0; i < call->count; i++) {
        bytes_add(line, " ", 1);
        add_quoted(line, call->words[i]);
    }
    bytes_add(line, "\r\n", 2);
}

void monitors_tell(const sim_call *call)
{
    sim_server *server = call->server;
    bytes line = {0};
    if (!server->monitors || (call->command->flags & COMMAND_UNSEEN))
        return;
    describe(call, &line);
    for (sim_link *link = server->links; link; link = link->next) {
        if (!link->monitors || link->hung_up)
            continue;
        bytes_add(&link->out, line.at, line.length);
        link_spoke(link);
    }
    bytes_free(&line);
}

static void run_monitor(sim_call *call)
{
    call->server->monitors = true; /* perhaps not any more, which costs time alone */
    call->link->monitors = true;
    say_ok(call);
}

const sim_command monitor_commands[] = {
    {"monitor", run_monitor, 1, COMMAND_NO_SCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_UNSEEN, 0, 0, 0, 0},
    {0},
};
