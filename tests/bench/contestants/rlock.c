/* The library as a contestant: turns through the public interface, one client for all threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/kinds.h"
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a client may be set to, as the word after the + of a kind. */
static struct variant {
    const char *word, *setting;
    rlock_client *client; /* opened when it is first asked for */
} variants[] = {
    {.word = "", .setting = ""},
    {.word = "local", .setting = "&localHandOver=true"},
    {.word = "async", .setting = "&unlockWaits=false"},
};

static const size_t variant_count = sizeof variants / sizeof *variants;
static char server[512]; /* its URL */

static rlock_client *client_of(const char *word)
{
    char url[640];
    for (size_t i = 0; i < variant_count; i++) {
        struct variant *variant = &variants[i];
        if (strcmp(variant->word, word) != 0)
            continue;
        snprintf(url, sizeof url, "%s%cclientName=rlock-%d%s", server, strchr(server, '?') ? '&' : '?', (int)getpid(),
                 variant->setting);
        if (!variant->client && rlock_client_open(&variant->client, url) != RLOCK_OK)
            trouble("%s", rlock_last_error());
        return variant->client;
    }
    trouble("there is no variant \"%s\"", word);
    return NULL;
}

static bool open_client(const char *url)
{
    snprintf(server, sizeof server, "%s", url);
    return client_of("");
}

static void close_clients(void)
{
    for (size_t i = 0; i < variant_count; i++)
        rlock_client_close(variants[i].client);
}

static void *join(const char *kind, const char *name)
{
    char plain[64];
    size_t length = strcspn(kind, "+");
    snprintf(plain, sizeof plain, "%.*s", (int)length, kind);
    rlock_client *client = client_of(kind[length] ? kind + length + 1 : "");
    const bench_kind *known = client ? kind_named(plain) : NULL;
    return known ? object_open(known, client, name) : NULL;
}

static bool take(void *own)
{
    return object_take(own);
}

static bool give(void *own)
{
    return object_give(own);
}

static void leave(void *own)
{
    object_close(own);
}

int main(void)
{
    static const bench_player rlock_player = {open_client, join, take, give, leave, close_clients};
    return player_run(&rlock_player);
}
