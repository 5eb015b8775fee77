/* The hostile server: a process on several ports, with a real server behind it, that answers what that one does, most of
 * the time, and else anything. All that it does follows from a seed and from what it is sent, in which order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "tests/hostile/support/values.h"
#include "tests/support/server.h"

typedef struct hostile hostile;

/* Start it before the test has threads. It ends with the test's process. */
hostile *hostile_start(const server *behind, uint64_t seed);
void hostile_stop(hostile *hostile); /* NULL allowed; before the server behind it is stopped */
const hostile_ports *hostile_listens_at(const hostile *hostile);
bool hostile_is_alive(const hostile *hostile);
/* How many answers it has given, and how many of these were not those of the server behind it. */
long hostile_answers(const hostile *hostile);
long hostile_distortions(const hostile *hostile);

#endif
