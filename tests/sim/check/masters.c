/* Masters: a client that has used the successor of a master does not go back to that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/masters.h"

#include "tests/sim/program/failover.h"
#include "tests/sim/program/shards.h"
#include "tests/sim/world/finding.h"

#include <string.h>

/* When a client last used the master, and one that is none any more, for what; 0: never. */
static struct {
    int64_t master_ns, deposed_ns;
} used[PLAN_CLIENTS][PLAN_OBJECTS];

static int64_t followed_ns[PLAN_CLIENTS]; /* when a client first used a master that is the successor of another */

static int client_of(const machine *one)
{
    int i = 0;
    while (i < run_of->client_count && run_process(i)->machine != one)
        i++;
    return i < run_of->client_count ? i : -1;
}

static void note(const node *one, int client, int resource)
{
    bool is_master = one->of->master == one;
    if (is_master)
        used[client][resource].master_ns = world_now_ns();
    else if (shard_is_deposed(one))
        used[client][resource].deposed_ns = world_now_ns();
    if (is_master && one != &one->of->nodes[0] && followed_ns[client] == 0)
        followed_ns[client] = world_now_ns();
}

void masters_ran(const host *at, const machine *client, const sim_run *run)
{
    int number = client_of(client);
    for (int i = 0; i < run_of->object_count && number >= 0 && shard_node(at) && run->keys > 0; i++) {
        const char *name = run_of->objects[i].name;
        if (run_resource(run_of, i) == i && strlen(name) == run->words[0].length &&
            memcmp(name, run->words[0].at, run->words[0].length) == 0)
            note(shard_node(at), number, i);
    }
}

/* Requests of other calls, which used what was known before, have run by then. */
#define UNDER_WAY_NS INT64_C(100000000)

/* With replicas that are found by asking each who it is, nobody knows which of two masters is the newer one. After
 * more than one failover, or with other faults, those that know may be out of reach; and where connections fall
 * silent, what was sent before may come late. */
static bool is_known_to_all(void)
{
    return (run_of->topology == CLUSTER || run_of->topology == SENTINEL) && run_of->fault_count == 1 &&
           run_of->faults[0].kind == FAILOVER && failover_cuts_off_nobody(&run_of->faults[0]);
}

void masters_check(const call *self)
{
    int client = self->worker->of->index, resource = self->hold->resource;
    bool by_deposed = used[client][resource].deposed_ns >= self->began_ns &&
                      used[client][resource].master_ns < self->began_ns;
    bool knew = followed_ns[client] > 0 && followed_ns[client] + UNDER_WAY_NS < self->began_ns;
    if (by_deposed && knew && is_known_to_all())
        finding("%s was sent to a master that is none any more, whose successor its client has used before",
                self->title);
}
