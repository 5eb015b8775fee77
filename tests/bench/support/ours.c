/* Our side: lock and unlock through the public interface, one client for all threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/ours.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct bench_ours {
    rlock *lock;
    bench_ward *ward;
} bench_ours;

rlock_client *ours_client(const bench_redis *redis)
{
    char url[sizeof redis->socket + 32];
    snprintf(url, sizeof url, "unix://%s?clientName=ours", redis->socket);
    rlock_client *client = NULL;
    if (rlock_client_open(&client, url) != RLOCK_OK) {
        fprintf(stderr, "bench: %s\n", rlock_last_error());
        exit(1);
    }
    return client;
}

void *ours_open(rlock_client *client, const char *name, bench_ward *ward)
{
    bench_ours *ours = calloc(1, sizeof *ours);
    if (!ours)
        abort();
    ours->lock = rlock_get_lock(client, name);
    ours->ward = ward;
    if (!ours->lock) {
        fprintf(stderr, "bench: %s\n", rlock_last_error());
        exit(1);
    }
    return ours;
}

void ours_close(void *own)
{
    bench_ours *ours = own;
    rlock_free(ours->lock);
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

bool ours_pair(void *own)
{
    bench_ours *ours = own;
    rlock_status status = rlock_lock(ours->lock);
    if (status != RLOCK_OK) {
        fprintf(stderr, "bench: rlock_lock: %s: %s\n", rlock_strstatus(status), rlock_last_error());
        return false;
    }
    bool alone = stand_guard(ours->ward, own);
    status = rlock_unlock(ours->lock);
    if (status != RLOCK_OK)
        fprintf(stderr, "bench: rlock_unlock: %s: %s\n", rlock_strstatus(status), rlock_last_error());
    if (!alone)
        fprintf(stderr, "bench: two holders of %s\n", rlock_name(ours->lock));
    return alone && status == RLOCK_OK;
}
