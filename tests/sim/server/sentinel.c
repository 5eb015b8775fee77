/* Sentinels: which server is the master, as this one sees it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/sentinel.h"

#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"

#include <stdio.h>
#include <string.h>

/* Those who listen hear it when the master becomes another. */
void sim_server_see_masters(sim_server *server, const sim_sentinel_view *view)
{
    const sim_sentinel_view *before = server->sentinel;
    char former[64] = "", message[300];
    int former_port = 0;
    if (before && view) {
        snprintf(former, sizeof former, "%s", server->master_host);
        former_port = server->master_port;
    }
    server->sentinel = view;
    if (!view)
        return;
    snprintf(server->master_host, sizeof server->master_host, "%s", view->host);
    server->master_port = view->port;
    if (!before || (strcmp(former, view->host) == 0 && former_port == view->port))
        return;
    int length = snprintf(message, sizeof message, "%s %s %d %s %d", view->master_name, former, former_port, view->host,
                          view->port);
    publish(server, TEXT("+switch-master"), (text){message, (size_t)length});
}

/* NULL: an error was said. */
static const sim_sentinel_view *master_asked(sim_call *call)
{
    const sim_sentinel_view *view = call->server->sentinel;
    if (view && text_is(call->words[2], text_of(view->master_name)))
        return view;
    say_error(call, "ERR No such master with that name");
    return NULL;
}

static void say_field(sim_call *call, const char *name, const char *content)
{
    say_word(call, name);
    say_word(call, content);
}

static void say_number_field(sim_call *call, const char *name, long long content)
{
    char digits[NUMBER_SIZE];
    say_word(call, name);
    say_text(call, (text){digits, integer_write(digits, content)});
}

static void say_master(sim_call *call, const sim_sentinel_view *view)
{
    say_array(call, 18);
    say_field(call, "name", view->master_name);
    say_field(call, "ip", view->host);
    say_number_field(call, "port", view->port);
    say_field(call, "flags", view->master_down ? "s_down,master" : "master");
    say_number_field(call, "link-pending-commands", 0);
    say_number_field(call, "config-epoch", (long long)view->epoch);
    say_number_field(call, "num-slaves", view->replicas);
    say_number_field(call, "num-other-sentinels", view->others);
    say_number_field(call, "quorum", view->quorum);
}

static void run_master(sim_call *call)
{
    const sim_sentinel_view *view = master_asked(call);
    if (view)
        say_master(call, view);
}

static void run_masters(sim_call *call)
{
    const sim_sentinel_view *view = call->server->sentinel;
    say_array(call, view ? 1 : 0);
    if (view)
        say_master(call, view);
}

static void run_address(sim_call *call)
{
    const sim_sentinel_view *view = call->server->sentinel;
    char digits[NUMBER_SIZE];
    if (!view || !text_is(call->words[2], text_of(view->master_name))) {
        say_nil_array(call);
        return;
    }
    say_array(call, 2);
    say_word(call, view->host);
    say_text(call, (text){digits, integer_write(digits, view->port)});
}

static void run_sentinels(sim_call *call)
{
    const sim_sentinel_view *view = master_asked(call);
    char name[80];
    if (!view)
        return;
    say_array(call, (size_t)view->others);
    for (int i = 0; i < view->others; i++) {
        snprintf(name, sizeof name, "%s", view->sentinels[i].run_id);
        say_array(call, 10);
        say_field(call, "name", name);
        say_field(call, "ip", view->sentinels[i].host);
        say_number_field(call, "port", view->sentinels[i].port);
        say_field(call, "runid", view->sentinels[i].run_id);
        say_field(call, "flags", "sentinel");
    }
}

const sim_command sentinel_commands[] = {
    {"sentinel", run_unknown_of_family, -2, COMMAND_FAMILY | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"sentinel|master", run_master, 3, COMMAND_SENTINEL, 0, 0, 0, 0},
    {"sentinel|masters", run_masters, 2, COMMAND_SENTINEL, 0, 0, 0, 0},
    {"sentinel|get-master-addr-by-name", run_address, 3, COMMAND_SENTINEL, 0, 0, 0, 0},
    {"sentinel|sentinels", run_sentinels, 3, COMMAND_SENTINEL, 0, 0, 0, 0},
    {0},
};
