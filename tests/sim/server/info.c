/* Commands about the server itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/statistics.h"

#include <string.h>

static const char *version_of(const sim_server *server)
{
    static const char *const versions[] = {
        [SIM_REDIS_6_2] = "6.2.7", [SIM_REDIS_7_0] = "7.0.15", [SIM_REDIS_7_2] = "7.2.4", [SIM_REDIS_8_0] = "8.0.2",
        [SIM_VALKEY_8_0] = "7.2.4", [SIM_REDICT_7_3] = "7.2.4",
    };
    return versions[server->settings.version];
}

static void add_server(const sim_server *server, bytes *to)
{
    static const char *const modes[] = {"standalone", "cluster", "sentinel"};
    bytes_print(to, "# Server\r\nredis_version:%s\r\nredis_mode:%s\r\nprocess_id:1\r\nrun_id:%s\r\ntcp_port:%d\r\n",
                version_of(server), modes[server->settings.mode], server->run_id, server->settings.port);
    if (server->settings.version == SIM_VALKEY_8_0)
        bytes_print(to, "server_name:valkey\r\nvalkey_version:8.0.1\r\n");
    bytes_print(to, "server_time_usec:%lld\r\nuptime_in_seconds:%lld\r\n", (long long)server->now_us,
                (long long)((server->now_us - server->started_us) / 1000000));
}

static void add_clients(const sim_server *server, bytes *to)
{
    size_t clients = 0, waiting = 0;
    for (const sim_link *link = server->links; link; link = link->next) {
        clients += !link->hung_up && !link->muted;
        waiting += link->waits;
    }
    bytes_print(to, "# Clients\r\nconnected_clients:%zu\r\nblocked_clients:%zu\r\n", clients, waiting);
}

static void add_persistence(const sim_server *server, bytes *to)
{
    bytes_print(to, "# Persistence\r\nloading:%d\r\n", server->failure == SIM_LOADING);
}

static void add_replication(const sim_server *server, bytes *to)
{
    int number = 0;
    bytes_print(to, "# Replication\r\nrole:%s\r\n", server->master ? "slave" : "master");
    if (server->master)
        bytes_print(to, "master_host:%s\r\nmaster_port:%d\r\nmaster_link_status:%s\r\nslave_repl_offset:%lld\r\nslave_read_only:1\r\n",
                    server->master->host, server->master->settings.port,
                    server->connected && server->synced ? "up" : "down", (long long)server->applied);
    bytes_print(to, "connected_slaves:%d\r\n", replicas_connected(server));
    for (const sim_server *replica = server->replicas; replica; replica = replica->next_replica) {
        if (replica->connected && replica->synced)
            bytes_print(to, "slave%d:ip=%s,port=%d,state=online,offset=%lld,lag=0\r\n", number++, replica->host,
                        replica->settings.port, (long long)replica->applied);
    }
    bytes_print(to, "master_repl_offset:%lld\r\n", (long long)server->offset);
}

static void add_keyspace(const sim_server *server, bytes *to)
{
    bytes_print(to, "# Keyspace\r\n");
    for (int i = 0; i < DATABASES_MAX; i++) {
        if (server->databases[i].count)
            bytes_print(to, "db%d:keys=%zu,expires=0,avg_ttl=0\r\n", i, server->databases[i].count);
    }
}

static void add_sentinel(const sim_server *server, bytes *to)
{
    const sim_sentinel_view *view = server->sentinel;
    bytes_print(to, "# Sentinel\r\nsentinel_masters:%d\r\n", view != NULL);
    if (view)
        bytes_print(to, "master0:name=%s,status=%s,address=%s:%d,slaves=%d,sentinels=%d\r\n", view->master_name,
                    view->master_down ? "sdown" : "ok", view->host, view->port, view->replicas, view->others + 1);
}

static void run_info(sim_call *call)
{
    static const struct {
        const char *name;
        void (*add)(const sim_server *server, bytes *to);
    } sections[] = {{"server", add_server}, {"clients", add_clients}, {"persistence", add_persistence},
                    {"stats", add_stats}, {"replication", add_replication},
                    {"sentinel", add_sentinel}, {"commandstats", add_commandstats},
                    {"keyspace", add_keyspace}};
    bytes all = {0};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        bool asked = call->count == 1, is_sentinel = call->server->settings.mode == SIM_SENTINEL;
        for (int k = 1; k < call->count; k++)
            asked |= text_is_word(call->words[k], sections[i].name) || text_is_word(call->words[k], "all") ||
                     text_is_word(call->words[k], "everything") || text_is_word(call->words[k], "default");
        if (call->count == 1 && sections[i].add == add_commandstats)
            continue;
        if (!asked || (sections[i].add == add_sentinel && !is_sentinel) ||
            (is_sentinel && (sections[i].add == add_replication || sections[i].add == add_persistence)))
            continue;
        if (all.length)
            bytes_add(&all, "\r\n", 2);
        sections[i].add(call->server, &all);
    }
    say_text(call, (text){all.at ? all.at : "", all.length});
    bytes_free(&all);
}

static void run_time(sim_call *call)
{
    char digits[NUMBER_SIZE];
    say_array(call, 2);
    say_text(call, (text){digits, integer_write(digits, call->server->now_us / 1000000)});
    say_text(call, (text){digits, integer_write(digits, call->server->now_us % 1000000)});
}

const sim_command server_commands[] = {
    {"info", run_info, -1, COMMAND_LOADING | COMMAND_STALE | COMMAND_SENTINEL, 0, 0, 0, 0},
    {"time", run_time, 1, COMMAND_LOADING | COMMAND_STALE, 0, 0, 0, 0},
    {0},
};
