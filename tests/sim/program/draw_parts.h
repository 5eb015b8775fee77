/* Drawing: what the drawing of worlds and that of programs share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_DRAW_PARTS_H
#define SIM_DRAW_PARTS_H

#include "tests/sim/program/plan.h"
#include "tests/support/dice.h"

typedef struct drawing {
    plan *plan;
    dice dice;
    int hardness;       /* 0: nothing goes wrong */
    int64_t horizon_ms; /* most of what is planned is planned before */
} drawing;

int draw_roll(drawing *drawing, int sides);
bool draw_one_in(drawing *drawing, int sides);
/* Small ones as often as large ones. */
int64_t draw_span(drawing *drawing, int64_t least, int64_t most);

/* The program of one thread; the objects are drawn. */
void draw_thread(drawing *drawing, plan_thread *to, int client);

#endif
