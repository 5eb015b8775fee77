/* The stage of a test: a server, two clients on it, and handles that go when the test ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS 128
#define HANDLES 8192

struct stage stage;

static rlock_client *clients[CLIENTS];
static struct {
    void *handle;
    void (*end)(void *handle);
} handles[HANDLES];
static size_t client_count, handle_count;

rlock_client *stage_open_client(const char *url)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
#ifndef TEST_VIRTUAL
    for (int tries = 1; status == RLOCK_UNAVAILABLE && tries < 20; tries++)
        status = rlock_client_open(&client, url);
#endif
    assert_ok(status);
    return client;
}

rlock_client *stage_client_at(const char *url)
{
    cr_assert(client_count < CLIENTS, "too many clients on the stage");
    return clients[client_count++] = stage_open_client(url);
}

const char *stage_patient_query(const char *query)
{
#ifndef TEST_VIRTUAL
    static char text[1024];
    if (!query || !strstr(query, "timeout=")) {
        int length = snprintf(text, sizeof text, "timeout=120000&connectTimeout=120000%s%s", query ? "&" : "", query ? query : "");
        cr_assert(length < (int)sizeof text);
        return text;
    }
#endif
    return query;
}

rlock_client *stage_client(const char *query)
{
    query = stage_patient_query(query);
    return stage_client_at(query ? server_url_with(stage.server, query) : server_url(stage.server));
}

void stage_close_client(rlock_client *client)
{
    for (size_t i = 0; i < client_count; i++) {
        if (clients[i] == client)
            clients[i] = NULL;
    }
    rlock_client_close(client);
}

void stage_open_with(const char *query)
{
    /* Ends a test that hangs in a call, whatever the runner makes of its time limit. */
    alarm(HANG_S);
    stage.server = server_start();
    stage.client = stage_client(query);
    stage.other = stage_client(query);
}

void stage_open(void)
{
    stage_open_with(NULL);
}

void stage_quick(void)
{
    stage_open_with(STAGE_QUICK);
}

/* Clients first: that ends calls which a failed test left waiting in its threads, and a handle
 * may be freed only when no call uses it. */
void stage_close(void)
{
    for (size_t i = 0; i < client_count; i++)
        rlock_client_close(clients[i]);
    for (size_t i = 0; i < handle_count; i++)
        handles[i].end(handles[i].handle);
    client_count = handle_count = 0;
    server_stop(stage.server);
    stage = (struct stage){0};
}

void *stage_keep_object(void *handle, void (*end)(void *handle))
{
    cr_assert(handle != NULL, "no handle: %s", rlock_last_error());
    cr_assert(handle_count < HANDLES, "too many handles on the stage");
    handles[handle_count].handle = handle;
    handles[handle_count++].end = end;
    return handle;
}

static void end_lock(void *handle)
{
    rlock_free(handle);
}

rlock *stage_keep(rlock *lock)
{
    return stage_keep_object(lock, end_lock);
}

rlock *lock_of(rlock_client *client, const char *name)
{
    return stage_keep(rlock_get_lock(client, name));
}

rlock *owned_by(rlock *lock, int64_t owner)
{
    return stage_keep(rlock_for_owner(lock, owner));
}

int64_t at_most_ms(int64_t ms)
{
#ifdef TEST_VIRTUAL
    return ms;
#else
    (void)ms;
    return INT64_C(1) << 40;
#endif
}

int64_t least_renewals(int64_t ms)
{
    return ms / (QUICK_MS / 3) - 1;
}
