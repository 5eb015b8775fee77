/* The simulated world of a test, from before its set-up to after its end. A calm one: nothing fails, waits wake for a
 * reason alone, and only the order in which threads take turns comes from a seed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/virtual/support/world.h"

#include "tests/sim/world/network.h"
#include "tests/sim/world/threads.h"
#include "tests/support/test_process.h"

#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <unistd.h>

#define WALL_NS INT64_C(1700000000000000000)
#define LATENCY_NS 20000
#define WINDOW (1 << 18)
#define PERIOD 8 /* at one point of so many, another thread may run */

/* Runs are alike when addresses are: hash tables may go by them. */
__attribute__((constructor)) static void fix_addresses(int count, char **words)
{
    (void)count;
    int as = personality(0xffffffff);
    if (as != -1 && !(as & ADDR_NO_RANDOMIZE) && personality((unsigned long)as | ADDR_NO_RANDOMIZE) != -1)
        execv("/proc/self/exe", words); /* where that is refused, runs may differ */
    mallopt(M_ARENA_MAX, 1);
}

/* One thread runs at a time, and gives its turn to the next sooner on the same processor. */
static void stay_on_one_processor(void)
{
    cpu_set_t allowed, own;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int skip = getpid() % CPU_COUNT(&allowed);
    size_t at = 0;
    while (!CPU_ISSET(at, &allowed) || skip-- > 0)
        at++;
    CPU_ZERO(&own);
    CPU_SET(at, &own);
    sched_setaffinity(0, sizeof own, &own);
}

void world_set_clock(machine *of)
{
    of->rate_ppm = 0;
    of->wall_ns = WALL_NS - machine_clock_ns(of, CLOCK_BOOTTIME, world_now_ns()) + world_now_ns();
}

void test_process_begin(void)
{
    const char *seed = getenv("SEED");
    const schedule by = {.seed = seed ? strtoull(seed, NULL, 10) : 1, .period = PERIOD, .most_steps = INT64_MAX};
    stay_on_one_processor();
    world_begin(&by);
    world_calm();
    machine *here = machine_make("test", 0, 0);
    world_set_clock(here);
    world_place(here);
    network.latency_ns = LATENCY_NS;
    network.window = WINDOW;
}

