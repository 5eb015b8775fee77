/* Machines: each process of the world has clocks of its own, and may stand still. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct machine {
    char name[24];
    int number;
    int64_t booted_ns;        /* true time; its clocks began at… */
    int64_t since_boot_ns;    /* …that much, */
    int64_t wall_ns;          /* and its wall clock at that much after the epoch */
    int rate_ppm;             /* how much faster than true time they run */
    int64_t suspended_ns;     /* CLOCK_MONOTONIC has missed that much */
    int64_t stopped_until_ns; /* none of its threads runs before that instant */
    int64_t stood_still_ns;   /* in all, once that instant has come */
    int last_thread;          /* numbers its threads, as gettid does */
} machine;

/* A machine of this run; never freed before its end. */
machine *machine_make(const char *name, int rate_ppm, int64_t wall_ns);

/* What one of its clocks shows at an instant of true time. */
int64_t machine_clock_ns(const machine *machine, clockid_t clock, int64_t now_ns);
/* The first instant at which that clock shows so much, as long as the machine is not suspended. */
int64_t machine_instant_ns(const machine *machine, clockid_t clock, int64_t clock_ns);

/* Its threads stand still for so long. `suspended`: so does CLOCK_MONOTONIC, as when a laptop sleeps. */
void machine_stop(machine *machine, int64_t span_ns, bool suspended);

#endif
