/* The scene of a fault: the stage's server, the proxy before it, and the client under test behind that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"

#include "tests/integration/support/keys.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS 16
#define RUN_MS 10000 /* for what the server is to do next */

struct scene scene;

static rlock_client *clients[CLIENTS];
static int client_count;

rlock_client *scene_client(const char *query)
{
    char url[512];
    rlock_client *client = NULL;
    cr_assert(client_count < CLIENTS, "too many clients on the scene");
    snprintf(url, sizeof url, "unix://%s?%s", proxy_socket(scene.proxy), query);
    assert_ok(rlock_client_open(&client, url));
    clients[client_count++] = client;
    return client;
}

void scene_close_client(rlock_client *client)
{
    for (int i = 0; i < client_count; i++) {
        if (clients[i] == client)
            clients[i] = NULL;
    }
    rlock_client_close(client);
}

void scene_load_scripts(void)
{
    for (size_t i = 0; rli_scripts[i]; i++)
        server_load(stage.server, rli_scripts[i], RLI_COUNTED);
}

void scene_open_with(const char *query)
{
    stage.server = server_start();
    scene.proxy = proxy_start(stage.server); /* before there are threads: it forks */
    scene_load_scripts();
    scene.client = scene_client(query);
    stage.other = stage_client(NULL);
}

void scene_open(void)
{
    scene_open_with(QUICK);
}

void scene_watchdog(void)
{
    scene_open_with(QUICK_WATCHDOG);
}

void scene_close(void)
{
    for (int i = 0; i < client_count; i++)
        rlock_client_close(clients[i]);
    client_count = 0;
    proxy_stop(scene.proxy);
    scene = (struct scene){0};
    stage_close();
}

int on_text(const char *text, proxy_act act, int times)
{
    return proxy_add(scene.proxy, &(proxy_rule){.act = act, .text = text, .times = times});
}

int on_script(const rli_script *script, proxy_act act, int times)
{
    return on_text(script->sha1[RLI_COUNTED], act, times);
}

void let_through(int rule)
{
    proxy_release(scene.proxy, rule);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_LATE, 1, RUN_MS), "the server did not run what was let through");
}

int seen_by(int rule)
{
    return proxy_count(scene.proxy, rule, PROXY_SEEN);
}

/* Whether a line of what was heard begins with that message. A client that is registered may be told of an offer, "NUMBER
 * MS", where others are told "0". */
static bool is_message(const char *line, const char *message, bool own)
{
    size_t said = strlen(message), first = strspn(line, "0123456789");
    if (own && strcmp(message, "0") == 0 && first > 0 && line[first] == ' ')
        return true;
    return strncmp(line, message, said) == 0 && line[said] == '\n';
}

/* On the lock's channel, or on that of a client that is registered for it. */
static int heard_so_far(const char *channel, const char *message)
{
    char *all = server_heard_all(stage.server);
    size_t length = strlen(channel);
    int count = 0;
    for (const char *at = all; (at = strstr(at, channel)); at += length) {
        const char *behind = at + length;
        bool own = *behind == ':' && strcspn(behind, " ") == 37;
        if (own)
            behind += 37;
        count += *behind == ' ' && is_message(behind + 1, message, own);
    }
    free(all);
    return count;
}

bool heard_times(const char *name, const char *message, int times, int64_t ms)
{
    for (int64_t until_ms = limit_end_ms(ms); now_ms() < until_ms; pass_ms(1)) {
        if (heard_so_far(channel_of(name), message) >= times)
            return true;
    }
    return heard_so_far(channel_of(name), message) >= times;
}
