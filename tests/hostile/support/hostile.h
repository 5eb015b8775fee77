/* The hostile server: a process on several ports, with a real server behind it. It passes on most answers of that one, and
 * gives any other bytes instead of the rest. A seed and the requests, in their order, determine all that it does. */
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
/* How many answers it has given, and how many of these were distorted. */
long hostile_answers(const hostile *hostile);
long hostile_distortions(const hostile *hostile);

#endif
