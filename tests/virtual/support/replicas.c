/* Replicas: what a master of the simulated world writes reaches those that follow it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/virtual/support/replicas.h"

#include "tests/sim/world/threads.h"

#define ALL INT64_MAX

static host *host_of(const sim_server *server)
{
    int i = 0;
    host *at;
    while ((at = host_number(i)) && at->server != server)
        i++;
    return at;
}

static void arrive(void *replica)
{
    host *self = replica;
    self->of = NULL;
    if (!self->server || self->machine->stopped_until_ns > world_now_ns())
        return; /* it is looked at again when it goes on */
    int64_t lacks = sim_replica_lacks(self->server);
    if (lacks == 0 || sim_replica_catch_up(self->server, ALL) == lacks)
        return;
    host *master = host_of(sim_server_master(self->server));
    if (master)
        host_plan(master); /* WAITs may have ended */
    host_plan(self);       /* and it may have replicas itself */
}

/* What a host is "of" tells that something is on its way to it. */
static void look(host *at)
{
    (void)at;
    host *other;
    for (int i = 0; (other = host_number(i)); i++) {
        if (!other->server || !sim_server_master(other->server))
            continue;
        bool connected = host_of(sim_server_master(other->server)) != NULL;
        sim_replica_connect(other->server, connected);
        if (!connected || other->of || sim_replica_lacks(other->server) == 0)
            continue;
        other->of = other;
        event_at(world_now_ns() + 2 * network.latency_ns, arrive, other);
    }
}

void replicas_watch(host *of)
{
    of->called = look;
}

void replicas_lose(host *of)
{
    sim_replica_connect(of->server, false);
    of->server = NULL;
    look(of);
}
