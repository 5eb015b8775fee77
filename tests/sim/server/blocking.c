/* Blocking pops: BLPOP and BRPOP. A list that gets elements serves those who wait for it in the order in which they came. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"

#include <math.h>

/* False: the answer is given. *until_ms 0: without an end. */
static bool read_timeout(sim_call *call, int64_t *until_ms)
{
    double seconds;
    if (!text_number(call->words[call->count - 1], &seconds) || isnan(seconds)) {
        say_error(call, "ERR timeout is not a float or out of range");
        return false;
    }
    if (seconds < 0) {
        say_error(call, "ERR timeout is negative");
        return false;
    }
    if (seconds * 1000 > (double)(INT64_MAX - now_ms(call->server))) {
        say_error(call, call->server->settings.version >= SIM_REDIS_7_0 ? "ERR timeout is out of range"
                                                                         : "ERR timeout is not a float or out of range");
        return false;
    }
    *until_ms = seconds > 0 ? now_ms(call->server) + (int64_t)ceil(seconds * 1000) : 0;
    return true;
}

static void pop_from(sim_call *call, text key, sim_value *own, bool at_the_end)
{
    size_t at = at_the_end ? list_size(own) - 1 : 0;
    say_array(call, 2);
    say_text(call, key);
    say_text(call, list_item(own, at));
    list_take(own, at);
    key_changed(call, key);
    key_delete_empty(call, key, own);
}

/* Pops from the first of the keys that has elements. False: none has. */
static bool pop_now(sim_call *call, bool at_the_end, bool waited)
{
    for (int i = 1; i < call->count - 1; i++) {
        sim_value *own;
        if (waited) {
            own = key_find(call, call->words[i]);
            if (own && own->type != VALUE_LIST)
                continue; /* it waits on */
        } else if (!key_of(call, call->words[i], VALUE_LIST, &own)) {
            return true;
        }
        if (own) {
            pop_from(call, call->words[i], own, at_the_end);
            return true;
        }
    }
    return false;
}

static void run_pop(sim_call *call, bool at_the_end)
{
    sim_link *link = call->link;
    int64_t until_ms;
    if (!read_timeout(call, &until_ms) || pop_now(call, at_the_end, false))
        return;
    if (link->in_multi || link->muted || call->lua) {
        say_nil_array(call);
        return;
    }
    link->waits = link->pops = true;
    link->pops_last = at_the_end;
    link->pops_command = call->command;
    link->pops_place = ++call->server->last_pop;
    link->wait_until_ms = until_ms;
    sim_free(link->kept);
    link->kept = words_copy(call->words, call->count);
    link->kept_count = call->count;
}

static void run_blpop(sim_call *call)
{
    run_pop(call, false);
}

static void run_brpop(sim_call *call)
{
    run_pop(call, true);
}

/* --- those who wait --- */

static sim_link *next_in_line(const sim_server *server, uint64_t after)
{
    sim_link *next = NULL;
    for (sim_link *link = server->links; link; link = link->next) {
        if (link->pops && link->pops_place > after && (!next || link->pops_place < next->pops_place))
            next = link;
    }
    return next;
}

static sim_call call_of(sim_link *link)
{
    return (sim_call){.server = link->server, .link = link, .command = link->pops_command, .words = link->kept,
                      .count = link->kept_count, .database = link->database};
}

/* Whether it waits no more: it was answered. */
static bool look_at(sim_link *link)
{
    sim_call call = call_of(link);
    int slot, node;
    sim_where where = command_where(&call, &slot, &node);
    if (where == WHERE_MOVED || where == WHERE_UNSERVED || where == WHERE_DOWN) {
        say_where(&call, where, slot, node);
        return true;
    }
    if (pop_now(&call, link->pops_last, true)) {
        unit_end(link->server);
        link->written = link->server->offset;
        return true;
    }
    if (link->wait_until_ms && link->wait_until_ms <= now_ms(link->server)) {
        say_nil_array(&call);
        return true;
    }
    return false;
}

void pops_look(sim_server *server)
{
    uint64_t after = 0;
    for (sim_link *link; (link = next_in_line(server, after));) {
        after = link->pops_place;
        if (!look_at(link))
            continue;
        link->waits = link->pops = false;
        link_spoke(link);
        link_go_on(link);
    }
}

const sim_command blocking_commands[] = {
    {"blpop", run_blpop, -3, COMMAND_WRITE | COMMAND_NO_SCRIPT, 1, -2, 1, 0},
    {"brpop", run_brpop, -3, COMMAND_WRITE | COMMAND_NO_SCRIPT, 1, -2, 1, 0},
    {0},
};
