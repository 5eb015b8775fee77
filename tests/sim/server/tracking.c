/* Tracking: links that are told when keys change that they have read (CLIENT TRACKING with REDIRECT, as RESP 2 has it). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#define INVALIDATE "__redis__:invalidate"

static sim_link *with_id(const sim_server *server, uint64_t id)
{
    sim_link *link = server->links;
    while (link && (link->id != id || link->hung_up))
        link = link->next;
    return link;
}

/* key NULL: all may have changed. */
static void tell(const sim_link *tracks, const text *key)
{
    sim_link *link = with_id(tracks->server, tracks->redirect);
    if (!link || !hears_anything(link))
        return; /* nobody is told that the redirection leads nowhere */
    sim_call say = {.server = link->server, .link = link};
    say_array(&say, 3);
    say_word(&say, "message");
    say_text(&say, TEXT(INVALIDATE));
    if (key) {
        say_array(&say, 1);
        say_text(&say, *key);
    } else {
        say_nil(&say);
    }
    link_spoke(link);
}

void tracking_end(sim_link *link)
{
    if (link->tracks)
        link->server->trackers--;
    link->tracks = false;
    table_clear(&link->tracked, NULL);
}

void tracking_changed(sim_server *server, text key)
{
    for (sim_link *link = server->trackers ? server->links : NULL; link; link = link->next) {
        entry *one = link->tracks ? table_take(&link->tracked, key) : NULL;
        if (one && !(link->no_loop && link->running))
            tell(link, &key);
        sim_free(one);
    }
}

void tracking_flushed(sim_server *server)
{
    for (sim_link *link = server->trackers ? server->links : NULL; link; link = link->next) {
        if (!link->tracks)
            continue;
        table_clear(&link->tracked, NULL);
        table_init(&link->tracked, order_seed(server));
        tell(link, NULL);
    }
}

static void remember(const sim_call *call)
{
    bool fresh;
    for (int i = 0; i < command_keys(call->command, call->words, call->count); i++)
        table_add(&call->link->tracked, call->words[command_key(call->command, call->words, call->count, i)], &fresh);
}

void tracking_ran(const sim_call *call)
{
    const unsigned others = COMMAND_WRITE | COMMAND_SCRIPT | COMMAND_SPREADS | COMMAND_CHANNELS;
    if (!call->link->tracks || !call->command->first || (call->command->flags & others))
        return;
    /* Before 7.2, a script that reads anything has read all keys that it names, and no others. */
    bool by_caller = call->lua && call->server->settings.version < SIM_REDIS_7_2;
    remember(by_caller ? call->server->caller : call);
}

/* --- CLIENT TRACKING --- */

static bool read_options(sim_call *call, uint64_t *redirect, bool *no_loop)
{
    for (int i = 3; i < call->count; i++) {
        int64_t id;
        if (text_is_word(call->words[i], "noloop")) {
            *no_loop = true;
        } else if (text_is_word(call->words[i], "redirect") && i + 1 < call->count) {
            if (!word_integer(call, ++i, &id))
                return false;
            *redirect = (uint64_t)id;
            if (!with_id(call->server, *redirect)) {
                say_error(call, "ERR The client ID you want redirect to does not exist");
                return false;
            }
        } else {
            say_syntax_error(call);
            return false;
        }
    }
    return true;
}

static void run_tracking(sim_call *call)
{
    sim_link *link = call->link;
    uint64_t redirect = 0;
    bool no_loop = false, on = text_is_word(call->words[2], "on");
    if (!read_options(call, &redirect, &no_loop))
        return;
    if (!on && !text_is_word(call->words[2], "off")) {
        say_syntax_error(call);
        return;
    }
    if (!on) {
        tracking_end(link);
        say_ok(call);
        return;
    }
    if (!link->tracks) {
        table_init(&link->tracked, order_seed(call->server));
        call->server->trackers++;
    }
    link->tracks = true;
    link->redirect = redirect;
    link->no_loop = no_loop;
    say_ok(call);
}

const sim_command tracking_commands[] = {
    {"client|tracking", run_tracking, -3, COMMAND_NO_SCRIPT | COMMAND_LOADING | COMMAND_STALE, 0, 0, 0, 0},
    {0},
};
