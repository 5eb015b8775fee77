/* Topologies: the answers of servers about themselves and each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/topologies.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is(const char *word, const char *other)
{
    return strcasecmp(word, other) == 0;
}

static void add_node(const topologies *self, int which, bytes *to)
{
    int port = self->ports.all[which];
    add_text(to, "*4\r\n");
    add_bulk(to, "127.0.0.1");
    add_format(to, ":%d\r\n", port);
    add_format(to, "$40\r\n%040d\r\n*0\r\n", port);
}

static void add_slots(const topologies *self, dice *by, bytes *to)
{
    enum { EACH = 16384 / HOSTILE_PORTS };
    int replicas = dice_roll(by, 2);
    add_format(to, "*%d\r\n", HOSTILE_PORTS);
    for (int i = 0; i < HOSTILE_PORTS; i++) {
        int master = (i + self->shift) % HOSTILE_PORTS;
        add_format(to, "*%d\r\n:%d\r\n:%d\r\n", 3 + replicas, i * EACH, (i + 1) * EACH - 1);
        add_node(self, master, to);
        if (replicas)
            add_node(self, (master + 1) % HOSTILE_PORTS, to);
    }
}

static void add_bulk_of(bytes *text, bytes *to)
{
    add_format(to, "$%zu\r\n", text->length);
    bytes_move(text, to, text->length);
    add_text(to, "\r\n");
    bytes_free(text);
}

static void add_info(const topologies *self, dice *by, int at, const char *section, bytes *to)
{
    bytes text = {0};
    if (is(section, "server"))
        add_format(&text, "# Server\r\nredis_version:7.0.15\r\nrun_id:%040d\r\n", self->run);
    else
        add_format(&text, "# Replication\r\nrole:%s\r\nconnected_slaves:%d\r\n",
                   at == self->master || dice_roll(by, 20) == 0 ? "master" : "slave", dice_roll(by, 3));
    add_bulk_of(&text, to);
}

static void add_cluster_info(const topologies *self, bytes *to)
{
    bytes text = {0};
    add_format(&text, "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_current_epoch:%d\r\n", self->epoch);
    add_bulk_of(&text, to);
}

static void add_sentinel(const topologies *self, const char *what, bytes *to)
{
    if (is(what, "GET-MASTER-ADDR-BY-NAME")) {
        add_text(to, "*2\r\n");
        add_bulk(to, "127.0.0.1");
    } else if (is(what, "MASTER")) {
        add_text(to, "*6\r\n");
        add_bulk(to, "config-epoch");
        add_format(to, "$10\r\n%010d\r\n", self->epoch);
        add_bulk(to, "ip");
        add_bulk(to, "127.0.0.1");
        add_bulk(to, "port");
    } else {
        add_text(to, "*1\r\n*4\r\n");
        add_bulk(to, "ip");
        add_bulk(to, "127.0.0.1");
        add_bulk(to, "port");
    }
    add_format(to, "$5\r\n%05d\r\n", self->ports.all[is(what, "SENTINELS") ? 1 : self->master]);
}

static void change_roles(topologies *self, dice *by)
{
    if (dice_roll(by, 40) == 0) {
        self->master = dice_roll(by, HOSTILE_PORTS);
        self->epoch += dice_roll(by, 3);
    }
    if (dice_roll(by, 40) == 0)
        self->shift = dice_roll(by, HOSTILE_PORTS);
    if (dice_roll(by, 100) == 0)
        self->run++;
}

bool topologies_answer(topologies *self, dice *by, int at, char *const words[], int count, bytes *to)
{
    const char *word = words[0], *second = count > 1 ? words[1] : "";
    change_roles(self, by);
    if (is(word, "AUTH") || is(word, "SELECT") || is(word, "ASKING"))
        add_text(to, "+OK\r\n");
    else if (is(word, "INFO"))
        add_info(self, by, at, second, to);
    else if (is(word, "SENTINEL"))
        add_sentinel(self, second, to);
    else if (is(word, "CLUSTER") && is(second, "SLOTS"))
        add_slots(self, by, to);
    else if (is(word, "CLUSTER"))
        add_cluster_info(self, to);
    else if (is(word, "PUBSUB"))
        add_text(to, "*0\r\n");
    else if (is(word, "WAIT"))
        add_format(to, ":%d\r\n", dice_roll(by, 3));
    else
        return false;
    return true;
}
