/* What lossTracking costs: requests, and processor time of server and client, for holds that live on, without and with it in
 * turn; and what others pay for their locks beside them. Printed, not judged. BENCH_RUNS=5 of each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/failover/figures.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

TestSuite(loss_cost, .timeout = 3600);

#define HELD_MS 31000 /* each hold is renewed three times */
#define TURNS 10000   /* of others, a lock and an unlock each */

/* us of processor time; Redis counts that of all its threads, this process that of the library. */
typedef struct spent {
    int64_t requests, server_us, client_us;
} spent;

static double seconds(server *at, const char *field)
{
    char *info = server_text(at, "INFO cpu"), *found = strstr(info, field);
    double value = found ? atof(found + strlen(field) + 1) : 0;
    free(info);
    return value;
}

static int64_t client_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static spent so_far(void)
{
    return (spent){.requests = server_times(stage.server, "evalsha") + server_times(stage.server, "client|tracking"),
                   .server_us = (int64_t)((seconds(stage.server, "used_cpu_user") + seconds(stage.server, "used_cpu_sys")) * 1e6),
                   .client_us = client_us()};
}

static spent since(const spent *before)
{
    spent now = so_far();
    return (spent){now.requests - before->requests, now.server_us - before->server_us, now.client_us - before->client_us};
}

typedef struct figures {
    int64_t requests[RUNS_MAX], server_us[RUNS_MAX], client_us[RUNS_MAX];
    int64_t others_us[RUNS_MAX]; /* of the server, while others lock and unlock */
} figures;

static void others_lock(void)
{
    rlock *lock = lock_of(stage.other, "others");
    for (int i = 0; i < TURNS; i++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
    }
}

static void run(int holds, const char *query, figures *of, int number)
{
    char name[32];
    stage_open_with(query);
    for (int i = 0; i < holds; i++) {
        snprintf(name, sizeof name, "hold-%d", i);
        rlock *lock = rlock_get_lock(stage.client, name);
        assert_ok(rlock_lock(lock));
        rlock_free(lock); /* a lock that is held stays held */
    }
    spent before = so_far();
    pass_ms(HELD_MS);
    spent used = since(&before);
    of->requests[number] = used.requests;
    of->server_us[number] = used.server_us;
    of->client_us[number] = used.client_us;
    before = so_far();
    others_lock();
    of->others_us[number] = since(&before).server_us;
    stage_close();
}

static void show(int holds, const char *how, figures *of, int runs)
{
    printf("%d holds for %d s, %s: median (least - most)\n", holds, HELD_MS / 1000, how);
    figures_show("requests", of->requests, runs);
    figures_show("processor time of the server, us", of->server_us, runs);
    figures_show("processor time of the client, us", of->client_us, runs);
    figures_show("of the server, for 10,000 turns of others, us", of->others_us, runs);
}

static void compare(int holds)
{
    static figures without, with;
    int runs = runs_wanted();
    for (int i = 0; i < runs; i++) {
        run(holds, "lossTracking=false", &without, i);
        run(holds, "lossTracking=true", &with, i);
    }
    show(holds, "lossTracking=false", &without, runs);
    show(holds, "lossTracking=true", &with, runs);
}

Test(loss_cost, of_a_thousand_holds)
{
    compare(1000);
}

Test(loss_cost, of_ten_thousand_holds)
{
    compare(10000);
}
