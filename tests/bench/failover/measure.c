/* How soon after a failover the first lock is had on the new master, and those who waited are served: C beside
 * Java's Redisson, both opened with one configuration file. Printed, not judged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/failover/figures.h"
#include "tests/integration/support/actor.h"
#include "tests/interop/support/several.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITERS 8 /* of each side, on a name each */
#define PATIENCE_MS 60000
/* All else is Redisson's default. */
#define TOP "lockWatchdogTimeout: 15000\n"

TestSuite(failover, .fini = several_close, .timeout = 3600);

/* Of one side: ms from the new master's readiness. */
typedef struct side {
    int64_t first_ms[RUNS_MAX]; /* until the lock is had that was asked for when the master was killed */
    int64_t served_ms[RUNS_MAX * WAITERS];
    int firsts, served, begun, failed; /* failed: calls for the first lock, each begun again */
} side;

typedef struct outcome {
    const char *what;
    int64_t ready_ms[RUNS_MAX]; /* from the kill */
    int runs;
    side ours, theirs;
} outcome;

static void show_all(outcome *of)
{
    printf("%s, %d runs; ms: median (least - most)\n", of->what, of->runs);
    figures_show("kill to new master", of->ready_ms, of->runs);
    figures_show("new master to the first lock, C", of->ours.first_ms, of->ours.firsts);
    figures_show("new master to the first lock, Java", of->theirs.first_ms, of->theirs.firsts);
    figures_show("new master to a waiter served, C", of->ours.served_ms, of->ours.served);
    figures_show("new master to a waiter served, Java", of->theirs.served_ms, of->theirs.served);
    printf("  calls for the first lock that failed: C %d, Java %d\n", of->ours.failed, of->theirs.failed);
    printf("  waiters served: C %d of %d, Java %d of %d\n", of->ours.served, of->ours.begun, of->theirs.served,
           of->theirs.begun);
    fflush(stdout);
}

/* --- one run --- */

/* What the waiters of both sides wait for, held by another client of C. */
typedef struct scene {
    rlock *held[2 * WAITERS];
    char names[2 * WAITERS][80];
    actor *ours[WAITERS];
    rlock *locks[WAITERS];
    int theirs[WAITERS];
} scene;

static void begin_waits(scene *self, const char *beside)
{
    for (int i = 0; i < 2 * WAITERS; i++) {
        snprintf(self->names[i], sizeof self->names[i], "held-%d:{%s}", i, beside);
        self->held[i] = lock_of(stage.other, self->names[i]);
        assert_ok(rlock_lock(self->held[i]));
    }
    for (int i = 0; i < WAITERS; i++) {
        char thread[16];
        self->ours[i] = actor_start();
        self->locks[i] = lock_of(stage.client, self->names[i]);
        actor_begin_lock(self->ours[i], self->locks[i]);
        snprintf(thread, sizeof thread, "w%d", i);
        self->theirs[i] = java_begin_lock(thread, self->names[WAITERS + i]);
        cr_assert(actor_asleep(self->ours[i], AGENT_MS));
        java_await_asleep(thread);
    }
}

static void end_waits(scene *self, outcome *of, int64_t ready_ms)
{
    for (int i = 0; i < WAITERS; i++) {
        of->ours.begun++;
        of->theirs.begun++;
        if (actor_ended(self->ours[i], PATIENCE_MS)) {
            if (actor_finish(self->ours[i], 0) == RLOCK_OK)
                of->ours.served_ms[of->ours.served++] = actor_ended_at(self->ours[i]) - ready_ms;
            actor_end(self->ours[i]);
        }
        if (agent_answered(java, self->theirs[i], PATIENCE_MS)) {
            const answer *got = agent_await(java, self->theirs[i], 0);
            if (!got->threw)
                of->theirs.served_ms[of->theirs.served++] = got->ended_ns / 1000000 - ready_ms;
        }
    }
}

/* Until both have it: a call that failed is begun again at once. */
static void await_firsts(outcome *of, actor *first, rlock *lock, const char *name, int tag, int64_t ready_ms)
{
    bool ours = false, theirs = false;
    for (int64_t end_ms = now_ms() + PATIENCE_MS; !(ours && theirs) && now_ms() < end_ms;) {
        if (!ours && actor_ended(first, 1)) {
            ours = actor_finish(first, 0) == RLOCK_OK;
            if (ours) {
                of->ours.first_ms[of->ours.firsts++] = actor_ended_at(first) - ready_ms;
            } else {
                of->ours.failed++;
                actor_begin_lock(first, lock);
            }
        }
        if (!theirs && agent_answered(java, tag, 1)) {
            const answer *got = agent_await(java, tag, 0);
            theirs = !got->threw;
            if (theirs) {
                of->theirs.first_ms[of->theirs.firsts++] = got->ended_ns / 1000000 - ready_ms;
            } else {
                printf("  (Java: %s)\n", got->message);
                of->theirs.failed++;
                tag = java_begin_lock("first", name);
            }
        }
    }
    if (ours)
        actor_end(first);
}

/* `kill` kills the master of the name; `await` waits until there is another one. */
static void run(outcome *of, const char *name, void (*kill)(void), void (*await)(void))
{
    static scene waits;
    char ours[80], theirs[80];
    snprintf(ours, sizeof ours, "free-c:{%s}", name);
    snprintf(theirs, sizeof theirs, "free-java:{%s}", name);
    rlock *lock = lock_of(stage.client, ours);
    assert_ok(rlock_lock(lock)); /* whatever is done once only has been done */
    assert_ok(rlock_unlock(lock));
    java_lock("first", theirs);
    java_unlock("first", theirs);
    begin_waits(&waits, name);
    actor *first = actor_start();
    kill();
    int64_t killed_ms = now_ms();
    actor_begin_lock(first, lock);
    int tag = java_begin_lock("first", theirs);
    await();
    int64_t ready_ms = now_ms();
    of->ready_ms[of->runs++] = ready_ms - killed_ms;
    for (int i = 0; i < 2 * WAITERS; i++) {
        rlock_status status = rlock_unlock(waits.held[i]);
        if (status != RLOCK_OK)
            printf("  (an unlock after the failover: %s: %s)\n", rlock_strstatus(status), rlock_last_error());
    }
    await_firsts(of, first, lock, theirs, tag, ready_ms);
    end_waits(&waits, of, ready_ms);
}

/* --- the topologies --- */

static int master;

static void kill_cluster_master(void)
{
    master = cluster_serving(several.cluster, "order");
    server_kill(cluster_node(several.cluster, master));
}

static void await_cluster_master(void)
{
    cr_assert(cluster_await_takeover(several.cluster, cluster_slot("order"), master, PATIENCE_MS) >= 0);
}

static void kill_sentinel_master(void)
{
    server_kill(sentinel_server(several.sentinel, 0));
}

static void await_sentinel_master(void)
{
    fleet *watched = sentinel_fleet(several.sentinel);
    for (int64_t end_ms = now_ms() + PATIENCE_MS; now_ms() < end_ms; pass_ms(1)) {
        if (fleet_wait_master(watched, 1, 0) || fleet_wait_master(watched, 2, 0))
            return;
    }
    cr_assert_fail("no failover took place");
}

Test(failover, of_a_cluster)
{
    outcome *of = calloc(1, sizeof *of);
    of->what = "Cluster of 3 masters with a replica each, cluster-node-timeout 1500";
    for (int i = runs_wanted(); i > 0; i--) {
        java_begin();
        several.cluster = cluster_start(3, 1, NULL);
        several_open(cluster_yaml(several.cluster, NULL, TOP));
        several_look("order");
        run(of, "order", kill_cluster_master, await_cluster_master);
        several_close();
    }
    show_all(of);
    free(of);
}

Test(failover, of_sentinels)
{
    outcome *of = calloc(1, sizeof *of);
    of->what = "Master with 2 replicas, 3 sentinels, down-after-milliseconds 1000";
    for (int i = runs_wanted(); i > 0; i--) {
        java_begin();
        several.sentinel = sentinel_start(NULL);
        several_open(sentinel_yaml(several.sentinel, NULL, TOP));
        several_look("order");
        run(of, "order", kill_sentinel_master, await_sentinel_master);
        several_close();
    }
    show_all(of);
    free(of);
}
