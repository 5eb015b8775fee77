/* Our side: turns through the public interface, one client for all threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/ours.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct bench_ours {
    bench_object *object;
    bench_ward *ward;
} bench_ours;

rlock_client *ours_client(const bench_redis *redis)
{
    char url[sizeof redis->socket + 32];
    snprintf(url, sizeof url, "unix://%s?clientName=" OURS_NAME, redis->socket);
    rlock_client *client = NULL;
    if (rlock_client_open(&client, url) != RLOCK_OK) {
        fprintf(stderr, "bench: %s\n", rlock_last_error());
        exit(1);
    }
    return client;
}

void *ours_open(rlock_client *client, const bench_kind *kind, const char *name, bench_ward *ward)
{
    bench_ours *ours = calloc(1, sizeof *ours);
    if (!ours)
        abort();
    ours->object = object_open(kind, client, name);
    ours->ward = ward;
    return ours;
}

void ours_close(void *own)
{
    bench_ours *ours = own;
    object_close(ours->object);
    free(ours);
}

/* The fields are plain ones: only the lock keeps two threads from losing each other's turns. */
static bool stand_guard(bench_ward *ward, const void *own)
{
    bool alone = !ward->inside;
    ward->inside = true;
    ward->turns++;
    ward->hand_overs += ward->last != own;
    ward->last = own;
    ward->inside = false;
    return alone;
}

bool ours_turn(void *own)
{
    bench_ours *ours = own;
    if (!object_take(ours->object))
        return false;
    bool alone = stand_guard(ours->ward, own);
    if (!alone)
        fprintf(stderr, "bench: two holders of %s\n", object_name(ours->object));
    return object_give(ours->object) && alone;
}
