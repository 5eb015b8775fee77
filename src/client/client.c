/* Client: opened by the program, referenced by its handles, closed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/departure.h"
#include "engine/holds.h"
#include "net/tls_context.h"

#include <stdlib.h>
#include <uuid/uuid.h>

/* How long rlock_client_close waits for the answers of async releases, and of what compensates for torn scripts. */
#define DEPARTURES_MS 1000

rlock_status rli_client_check(const rlock_client *client)
{
    return client ? rli_gate_check(&client->gate) : rli_fail(RLOCK_INVALID, "client is NULL");
}

static void destroy(rli_gate *gate)
{
    rlock_client *client = RLI_ITEM(rlock_client, gate, gate);
    rli_watchdog_destroy(&client->watchdog);
    rli_reporter_destroy(&client->reporter);
    pthread_mutex_destroy(&client->keepers.mutex);
    rli_loop_destroy(&client->loop);
    rli_key_events_destroy(&client->key_events);
    rli_engine_destroy(&client->engine);
    rli_topology_destroy(&client->topology);
    rli_tls_context_close(&client->settings.tls);
    rli_settings_free(&client->settings);
    rli_gate_destroy(gate);
    free(client);
}

static rlock_status attend(rli_engine *engine)
{
    return rli_watchdog_start(&RLI_ITEM(rlock_client, engine, engine)->watchdog);
}

static bool tend(rli_engine *engine)
{
    return rli_loop_tend(RLI_ITEM(rlock_client, engine, engine));
}

static void close_client(rlock_client *client)
{
    int64_t patience_ms = client->settings.timeout_ms < DEPARTURES_MS ? client->settings.timeout_ms : DEPARTURES_MS;
    int64_t until_ms = rli_after_ms(patience_ms);
    rli_departure_await(&client->engine, until_ms);
    /* A call that has been answered by now ends as answered, even if the program has not processed it: otherwise a
     * request that takes plain permits would be in doubt. */
    rli_topology_collect(&client->topology, rli_now_ms());
    rli_gate_close(&client->gate);
    rli_topology_close(&client->topology);
    rli_watchdog_stop(&client->watchdog);
    rli_reporter_stop(&client->reporter);
    rli_key_events_stop(&client->key_events);
    rli_loop_close(client);
    if (rli_gate_is_forked(&client->gate))
        return; /* the function of an async call has forked, and this is the child */
    rli_topology_stop(&client->topology);
    rli_gate_unref(&client->gate);
}

static rlock_status open_client(rlock_client **out, const rlock_config *config)
{
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
    id[6] = (unsigned char)(0x80 | (id[6] & 0x0f)); /* version 8: scripts tell our fields from those of Redisson */
    uuid_unparse_lower(id, client->id);
    rli_connection_name_write(client->settings.own_name, client->id);
    rli_gate_init(&client->gate, destroy);
    rli_topology_init(&client->topology, &client->settings, &client->gate, &client->engine.watch.ear);
    rli_engine_init(&client->engine, &client->settings, client->id, &client->gate, &client->topology, attend, tend);
    rli_loop_init(&client->loop);
    rli_key_events_init(&client->key_events);
    pthread_mutex_init(&client->keepers.mutex, NULL);
    rli_watchdog_init(&client->watchdog, &client->engine);
    rli_reporter_init(&client->reporter, &client->engine);
    status = rli_topology_open(&client->topology);
    if (status != RLOCK_OK) {
        close_client(client);
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

/* Is no cancellation point: what was opened by then would stay open. */
rlock_status rlock_client_open_config(rlock_client **client, const rlock_config *config)
{
    int cancel_state;
    if (!client)
        return rli_fail(RLOCK_INVALID, "the pointer for the client must not be NULL");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    rlock_status status = open_client(client, config);
    pthread_setcancelstate(cancel_state, NULL);
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

/* Is no cancellation point: it waits with the engine's mutex, and the threads must be joined. */
void rlock_client_close(rlock_client *client)
{
    int cancel_state;
    if (!client || rli_gate_is_forked(&client->gate))
        return; /* the fork handler has closed the child's copies of the sockets */
    if (rli_reporter_is_self(&client->reporter) || rli_key_events_is_self(&client->key_events)) {
        rli_fail(RLOCK_INVALID, "a client cannot be closed from its own callback");
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    close_client(client);
    pthread_setcancelstate(cancel_state, NULL);
}

const char *rlock_client_id(const rlock_client *client)
{
    return client ? client->id : NULL;
}

rlock_status rlock_client_tracking(rlock_client *client, rlock_tracking *tracking)
{
    rlock_status status = rli_client_check(client);
    if (status != RLOCK_OK)
        return status;
    if (!tracking)
        return rli_fail(RLOCK_INVALID, "the pointer for the state of tracking must not be NULL");
    rli_engine *engine = &client->engine;
    rli_engine_lock(engine);
    *tracking = engine->watch.state;
    if (engine->watch.state != RLOCK_TRACKING_ON && engine->watch.state != RLOCK_TRACKING_IDLE)
        rli_fail_text(RLOCK_OK, engine->watch.why);
    rli_engine_unlock(engine);
    return RLOCK_OK;
}

rlock_status rlock_on_lost(rlock_client *client, rlock_lost_fn *fn, void *arg)
{
    int cancel_state;
    rlock_status status = rli_client_check(client);
    if (status != RLOCK_OK)
        return status;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* it may wait, with the engine's mutex */
    rli_gate_ref(&client->gate); /* another thread may close the client during this call */
    status = rli_reporter_set(&client->reporter, fn, arg);
    rli_gate_unref(&client->gate);
    pthread_setcancelstate(cancel_state, NULL);
    return status;
}
