/* A client: opened, referenced by its handles, closed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"

#include "base/error.h"
#include "base/forked.h"
#include "engine/departure.h"
#include "net/tls_context.h"

#include <stdlib.h>
#include <uuid/uuid.h>

/* How long close waits for the answers to releases that nobody waited for. */
#define DEPARTURES_MS 1000

rlock_status rli_client_check(const rlock_client *client)
{
    if (!client)
        return rli_fail(RLOCK_INVALID, "client is NULL");
    if (rli_fork_generation() != client->generation)
        return rli_fail(RLOCK_FORKED, "the client was opened by the parent process; open another after fork()");
    if (atomic_load_explicit(&client->closed, memory_order_acquire))
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    return RLOCK_OK;
}

void rli_client_keep(rlock_client *client)
{
    atomic_fetch_add(&client->references, 1);
}

static void destroy(rlock_client *client)
{
    rli_watchdog_destroy(&client->watchdog);
    rli_reporter_destroy(&client->reporter);
    rli_holds_destroy(&client->holds);
    rli_topology_destroy(&client->topology);
    rli_tls_context_close(&client->settings.tls);
    rli_settings_free(&client->settings);
    pthread_mutex_destroy(&client->mutex);
    free(client);
}

void rli_client_release(rlock_client *client)
{
    /* In a forked child, mutexes may be in any state: the copy is left alone. */
    if (rli_fork_generation() == client->generation && atomic_fetch_sub(&client->references, 1) == 1)
        destroy(client);
}

rlock_status rlock_client_open_config(rlock_client **out, const rlock_config *config)
{
    if (!out)
        return rli_fail(RLOCK_INVALID, "the place for the client is NULL");
    rlock_client *client = calloc(1, sizeof *client);
    if (!client)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a client");
    rlock_status status = rli_settings_make(&client->settings, config);
    if (status != RLOCK_OK)
        goto err;
    status = rli_tls_context_open(&client->settings.tls);
    if (status != RLOCK_OK)
        goto err_after_settings;
    uuid_t id;
    uuid_generate_random(id);
    uuid_unparse_lower(id, client->id);
    rli_connection_name_write(client->settings.own_name, client->id);
    client->generation = rli_fork_generation();
    atomic_init(&client->references, 1);
    pthread_mutex_init(&client->mutex, NULL);
    rli_topology_init(&client->topology, client);
    rli_holds_init(&client->holds, &client->settings, client->id);
    rli_watchdog_init(&client->watchdog, client);
    rli_reporter_init(&client->reporter, client);
    status = rli_topology_open(&client->topology);
    if (status != RLOCK_OK) {
        rlock_client_close(client);
        return status;
    }
    *out = client;
    return RLOCK_OK;

err_after_settings:
    rli_settings_free(&client->settings);
err:
    free(client);
    return status;
}

rlock_status rlock_client_open(rlock_client **client, const char *url)
{
    rlock_config config;
    rlock_config_init(&config);
    config.address = url;
    if (!url)
        return rli_fail(RLOCK_INVALID, "the URL is NULL; use for example redis://127.0.0.1:6379");
    return rlock_client_open_config(client, &config);
}

static void wake_callers(rlock_client *client)
{
    pthread_mutex_lock(&client->mutex);
    for (rli_caller *caller = client->callers; caller; caller = caller->next)
        rli_unpark(&caller->parker);
    pthread_mutex_unlock(&client->mutex);
}

void rlock_client_close(rlock_client *client)
{
    if (!client || rli_fork_generation() != client->generation)
        return; /* the fork handler has closed the child's copies of the sockets */
    if (rli_reporter_is_self(&client->reporter)) {
        rli_fail(RLOCK_INVALID, "a client cannot be closed from its own callback");
        return;
    }
    int64_t patience_ms = client->settings.timeout_ms < DEPARTURES_MS ? client->settings.timeout_ms : DEPARTURES_MS;
    rli_departures_await(client, rli_after_ms(patience_ms));
    atomic_store(&client->closed, true);
    wake_callers(client);
    rli_topology_close(&client->topology);
    rli_watchdog_stop(&client->watchdog);
    rli_reporter_stop(&client->reporter);
    rli_topology_stop(&client->topology);
    rli_client_release(client);
}

const char *rlock_client_id(const rlock_client *client)
{
    return client ? client->id : NULL;
}
