/* How soon a program is told that others have deleted a lock that it holds. Printed, not judged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void open_stage(void)
{
    stage_open_with("lossTracking=true");
}

TestSuite(loss, .init = open_stage, .fini = stage_close, .timeout = 600);

#define HOLDS 500

static event told;
static int64_t told_ns;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note(const rlock_lost_event *lost, void *arg)
{
    (void)lost;
    (void)arg;
    told_ns = now_ns();
    event_set(&told);
}

static int earlier(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

Test(loss, of_a_deleted_lock)
{
    int64_t took_ns[HOLDS];
    char command[64];
    event_init(&told);
    rlock_on_lost(stage.client, note, NULL);
    for (int i = 0; i < HOLDS; i++) {
        snprintf(command, sizeof command, "hold-%d", i);
        assert_ok(rlock_lock(lock_of(stage.client, command)));
    }
    rlock_tracking state = RLOCK_TRACKING_IDLE;
    while (state != RLOCK_TRACKING_ON)
        assert_ok(rlock_client_tracking(stage.client, &state));
    pass_ms(1500); /* all are old and have been read */
    for (int i = 0; i < HOLDS; i++) {
        snprintf(command, sizeof command, "DEL hold-%d", i);
        int64_t since_ns = now_ns();
        freeReplyObject(server_command(stage.server, command));
        cr_assert(event_wait_count(&told, i + 1, 60000));
        took_ns[i] = told_ns - since_ns;
    }
    qsort(took_ns, HOLDS, sizeof *took_ns, earlier);
    printf("from DEL to rlock_on_lost, ms, of %d: median %.2f, 99 of 100 %.2f, most %.2f\n", HOLDS,
           (double)took_ns[HOLDS / 2] / 1e6, (double)took_ns[HOLDS * 99 / 100] / 1e6, (double)took_ns[HOLDS - 1] / 1e6);
}
