/* Drawing: what the drawing of worlds and that of programs share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_DRAW_PARTS_H
#define SIM_DRAW_PARTS_H

#include "tests/sim/program/plan.h"
#include "tests/support/dice.h"

typedef enum lease_mood { LEASES_MIXED, LEASES_RENEWED, LEASES_SHORT, LEASES_MIDDLE, LEASES_LONG, LEASE_MOODS } lease_mood;
typedef enum wait_mood { WAITS_MIXED, WAITS_ENDLESS, WAITS_SHORT, WAITS_NONE, WAIT_MOODS } wait_mood;

/* What a run is like. All of everything at once makes rare meetings rarer: so a seed leaves out most of what could happen,
 * and has the rest often. Rates are 1 in so many; 0: never. */
typedef struct mood {
    lease_mood leases;
    wait_mood waits;
    int cancels, named, nests, asks, forces, forgets, blocks, leaves, closes, forks, starves, pauses;
    int looks;                /* questions and changes that are about no hold */
    int listens;              /* listeners that are added and removed */
    int asyncs;               /* of a run with event loops: calls that are async */
    int forgets_loop;         /* a loop does not process for a while */
    int owners;                /* how many named owners there are */
    int meets, faults_meet;    /* a moment… */
    moment moment;             /* …that one; NO_MOMENT: any */
    int outstays;              /* pauses until about the end of the lease, or past some renewals */
    int keeps, posts;         /* clients with localHandOver, and with unlockWaits=false */
    bool cancels_soon;        /* within some round trips */
    int64_t pause_ms, trip_ms; /* the longest pause; a round trip, rounded up */
} mood;

typedef struct drawing {
    plan *plan;
    dice dice;
    mood mood;
    bool clean;         /* nothing is slow by itself */
    int hardness;       /* 0: nothing goes wrong */
    int64_t horizon_ms; /* most of what is planned is planned before */
} drawing;

int draw_roll(drawing *drawing, int sides);
bool draw_one_in(drawing *drawing, int sides); /* 0: never */
/* Some moment, and how long after it: at once, or within some round trips. */
void draw_moment(drawing *drawing, moment *which, int *after_us);
/* The watchdog's timeout of one of the clients; half a minute at most. */
int64_t draw_watchdog(drawing *drawing);
/* Small ones as often as large ones. */
int64_t draw_span(drawing *drawing, int64_t least, int64_t most);

/* The program of one thread; the mood and the objects are drawn. */
void draw_thread(drawing *drawing, plan_thread *to, int client);

#endif
