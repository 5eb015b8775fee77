/* The library as a contestant: turns through the public interface, one client for all threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/kinds.h"
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <string.h>

static rlock_client *client;

static bool open_client(const char *url)
{
    char named[640];
    snprintf(named, sizeof named, "%s%cclientName=rlock", url, strchr(url, '?') ? '&' : '?');
    return rlock_client_open(&client, named) == RLOCK_OK || trouble("%s", rlock_last_error());
}

static void close_client(void)
{
    rlock_client_close(client);
}

static void *join(const char *kind, const char *name)
{
    const bench_kind *known = kind_named(kind);
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
    static const bench_player rlock_player = {open_client, join, take, give, leave, close_client};
    return player_run(&rlock_player);
}
