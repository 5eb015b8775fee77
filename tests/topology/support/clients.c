/* Clients of servers that stand on no stage. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/topology/support/clients.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS 64

static rlock_client *clients[CLIENTS];
static int count;

#define PATIENCE_MS 30000

rlock_status open_patiently(rlock_client **client, const rlock_config *config)
{
    rlock_status status = rlock_client_open_config(client, config);
    for (int64_t end_ms = now_ms() + PATIENCE_MS; status == RLOCK_UNAVAILABLE && now_ms() < end_ms;)
        status = rlock_client_open_config(client, config);
    return status;
}

rlock_client *client_at(const char *format, ...)
{
    char url[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(url, sizeof url, format, args);
    va_end(args);
    cr_assert(length < (int)sizeof url && count < CLIENTS);
    if (count == 0)
        alarm(HANG_S); /* ends a test that hangs in a call */
    rlock_client *client = NULL;
    rlock_config config;
    rlock_config_init(&config);
    config.address = url;
    assert_ok(open_patiently(&client, &config));
    rlock_config_free(&config);
    clients[count++] = client;
    return client;
}

void client_end(rlock_client *client)
{
    for (int i = 0; i < count; i++) {
        if (clients[i] == client)
            clients[i] = NULL;
    }
    rlock_client_close(client);
}

void clients_close(void)
{
    for (int i = 0; i < count; i++)
        rlock_client_close(clients[i]);
    count = 0;
    stage_close(); /* which has the handles */
}

long long refused_at(const char *url, rlock_status expected, const char *text, ...)
{
    rlock_client *client = NULL;
    int64_t since_ms = now_ms();
    rlock_status status = rlock_client_open(&client, url);
    int64_t took_ms = now_ms() - since_ms;
    const char *error = rlock_last_error();
    cr_assert(status == expected, "%s answered %d (%s), expected %d: %s", url, (int)status, rlock_strstatus(status),
              (int)expected, error);
    cr_log_info("%lld ms: %s", (long long)took_ms, error);
    va_list args;
    va_start(args, text);
    for (; text; text = va_arg(args, const char *))
        cr_assert(strstr(error, text) != NULL, "\"%s\" is not said in: %s", text, error);
    va_end(args);
    return took_ms;
}
