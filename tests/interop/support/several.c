/* The stage of several servers: clients of C and of Java, opened with one configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/several.h"

#include "tests/integration/support/objects.h"
#include "tests/interop/support/party.h"
#include "tests/interop/support/waiter.h"
#include "tests/support/shell.h"
#include "tests/support/texts.h"
#include "tests/topology/support/clients.h"

#include <unistd.h>

struct several several;

static rlock_client *clients[8];
static int client_count;
static texts names;

#define SECTION                                                                                    \
    "timeout: 1000\nconnectTimeout: 1000\nsubscriptionTimeout: 5000\nretryAttempts: 60\nscanInterval: 500\n" \
    "retryDelay: !<org.redisson.config.ConstantDelay> {delay: PT0.5S}\n"
#define WATCHDOG_MS 30000 /* Redisson's own */
#define BRIEF_MS    15000

static void begin(void)
{
    java_begin();
    /* Ends a test that hangs in a call, whatever the runner makes of its time limit. */
    alarm(HANG_S);
}

static rlock_client *open_client(const char *path)
{
    rlock_client *client = NULL;
    rlock_config config;
    rlock_config_init(&config);
    assert_ok(rlock_config_load_yaml(&config, path));
    cr_assert(!*rlock_config_warnings(&config), "%s", rlock_config_warnings(&config));
    assert_ok(open_patiently(&client, &config));
    rlock_config_free(&config);
    cr_assert(client_count < 8, "too many clients");
    return clients[client_count++] = client;
}

void several_open(const char *path)
{
    stage.client = open_client(path);
    stage.other = open_client(path);
    java_open_file(path);
}

static const char *top_of(int64_t ms)
{
    return texts_add(&names, "lockWatchdogTimeout: %lld\n", (long long)ms);
}

static void open_cluster(int64_t ms)
{
    begin();
    several.cluster = cluster_start(3, 1, NULL);
    several_open(cluster_yaml(several.cluster, SECTION, top_of(ms)));
}

void several_cluster(void)
{
    open_cluster(WATCHDOG_MS);
}

void several_cluster_brief(void)
{
    open_cluster(BRIEF_MS);
}

void several_sentinels(void)
{
    begin();
    several.sentinel = sentinel_start(NULL);
    several_open(sentinel_yaml(several.sentinel, SECTION, top_of(WATCHDOG_MS)));
}

void several_replicas(int replicas)
{
    begin();
    several.fleet = fleet_start(replicas, NULL);
}

void several_close(void)
{
    /* First, which ends the calls that a failed test left waiting. */
    for (; client_count; client_count--)
        rlock_client_close(clients[client_count - 1]);
    stage.server = NULL; /* one of those below */
    party_stage_close();
    waiter_stage_close();
    stage_close();
    cluster_stop(several.cluster);
    sentinel_stop(several.sentinel);
    fleet_stop(several.fleet);
    scratch_remove();
    several = (struct several){0};
    texts_free(&names);
}

void several_look(const char *name)
{
    if (several.cluster) {
        stage.server = cluster_at(several.cluster, name);
    } else if (several.sentinel) {
        int master = sentinel_master(several.sentinel);
        cr_assert(master >= 0, "the sentinels disagree");
        stage.server = sentinel_server(several.sentinel, master);
    } else {
        stage.server = fleet_node(several.fleet, 0);
    }
    java_is_at(stage.server);
}

const char *several_name(const char *prefix, int number)
{
    const char *name = several.cluster ? cluster_key(several.cluster, number % 3, prefix)
                                       : texts_add(&names, "%s%d", prefix, number);
    several_look(name);
    return name;
}
