/* How soon a program is told that its locks were lost with a former master, from the moment when the sentinels announce
 * the new one. Printed, not judged. BENCH_RUNS=5 failovers of each kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/failover/figures.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/integration/support/stage.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(loss_at_failover, .timeout = 3600);

#define HOLDS 100
#define FAILOVER_MS 60000
/* No renewal is due meanwhile. All else is the default. */
#define QUERY "lossTracking=true&lockWatchdogTimeout=600000"

/* --- what is told --- */

static event told;
static _Atomic int64_t first_ms, last_ms;

static void note(const rlock_lost_event *lost, void *arg)
{
    int64_t now = now_ms(), none = 0;
    (void)lost;
    (void)arg;
    __atomic_compare_exchange_n((int64_t *)&first_ms, &none, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    last_ms = now;
    event_set(&told);
}

/* --- what the sentinels announce --- */

typedef struct ears {
    redisContext *of[SENTINELS];
    int count;
} ears;

static void prick(ears *self, sentinel *own)
{
    self->count = sentinel_size(own);
    for (int i = 0; i < self->count; i++) {
        self->of[i] = redisConnectUnix(server_socket(sentinel_node(own, i)));
        cr_assert(self->of[i] && !self->of[i]->err);
        freeReplyObject(redisCommand(self->of[i], "SUBSCRIBE +switch-master"));
    }
}

/* When the first of them does. */
static int64_t await_announcement(const ears *self)
{
    struct pollfd polled[SENTINELS];
    for (int i = 0; i < self->count; i++)
        polled[i] = (struct pollfd){.fd = self->of[i]->fd, .events = POLLIN};
    cr_assert(poll(polled, (nfds_t)self->count, FAILOVER_MS) > 0, "no failover took place");
    return now_ms();
}

static void close_ears(const ears *self)
{
    for (int i = 0; i < self->count; i++)
        redisFree(self->of[i]);
}

/* --- one failover --- */

static void take(rlock_client *client)
{
    rlock_tracking state = RLOCK_TRACKING_IDLE;
    char name[32];
    for (int i = 0; i < HOLDS; i++) {
        snprintf(name, sizeof name, "hold-%d", i);
        assert_ok(rlock_lock(lock_of(client, name)));
    }
    while (state != RLOCK_TRACKING_ON)
        assert_ok(rlock_client_tracking(client, &state));
    pass_ms(1500); /* all are old and have been read */
}

/* The replicas have received none of them. */
static void forget(sentinel *own)
{
    for (int node = 1; node < fleet_size(sentinel_fleet(own)); node++) {
        server *replica = sentinel_server(own, node);
        cr_assert(fleet_wait_in_step(sentinel_fleet(own), node, FAILOVER_MS));
        freeReplyObject(server_command(replica, "CONFIG SET replica-read-only no"));
        freeReplyObject(server_command(replica, "FLUSHALL"));
        freeReplyObject(server_command(replica, "CONFIG SET replica-read-only yes"));
    }
}

static void fail_over(sentinel *own)
{
    freeReplyObject(server_command(sentinel_node(own, 0), "SENTINEL FAILOVER " SENTINEL_MASTER));
}

static void kill_master(sentinel *own)
{
    server_kill(sentinel_server(own, 0));
}

static void freeze_master(sentinel *own)
{
    server_freeze(sentinel_server(own, 0));
}

static void run(void (*fail)(sentinel *), int64_t *first, int64_t *all)
{
    ears heard;
    sentinel *own = sentinel_start(NULL);
    rlock_client *client = client_at("%s&" QUERY, sentinel_url(own));
    event_init(&told);
    first_ms = last_ms = 0;
    rlock_on_lost(client, note, NULL);
    take(client);
    forget(own);
    prick(&heard, own);
    fail(own);
    int64_t since_ms = await_announcement(&heard);
    cr_assert(event_wait_count(&told, HOLDS, FAILOVER_MS));
    *first = first_ms - since_ms;
    *all = last_ms - since_ms;
    close_ears(&heard);
    clients_close();
    sentinel_stop(own);
}

static void measure(const char *what, void (*fail)(sentinel *))
{
    int64_t first[RUNS_MAX], all[RUNS_MAX];
    int runs = runs_wanted();
    for (int i = 0; i < runs; i++)
        run(fail, &first[i], &all[i]);
    printf("from +switch-master to rlock_on_lost, %s, ms: median (least - most)\n", what);
    figures_show("the first of 100 holds", first, runs);
    figures_show("all of them", all, runs);
}

Test(loss_at_failover, of_a_master_that_gives_way)
{
    measure("the former master alive", fail_over);
}

Test(loss_at_failover, of_a_killed_master)
{
    measure("the former master killed", kill_master);
}

Test(loss_at_failover, of_a_frozen_master)
{
    measure("the former master silent", freeze_master);
}
