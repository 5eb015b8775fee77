/* Guarded writes: whether a string has been written in the order of the fencing tokens. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_GUARDED_H
#define SIM_GUARDED_H

#include "tests/sim/check/calls.h"

/* A write with that token begins. Its number, which is its value; -1: there is no room for more. */
int guarded_begins(int resource, const worker *by, uint64_t token);
/* It has answered. */
void guarded_ended(int number, const call *of);
/* What stands on the server. */
void guarded_look(int resource);

#endif
