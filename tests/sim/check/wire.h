/* Wire: whether what scripts leave and publish is what the wire contract says, whoever sent them; and whether the server
 * keeps a lock for as long as its owner was told. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "tests/sim/server/server.h"
#include "tests/sim/world/network.h"

/* A script is about to run at that host; what it publishes, in order, and how many clients hear that; it has run. `script` is its name, "lock/release". */
void wire_begins(host *at, const sim_run *run);
void wire_published(const char *channel, size_t channel_length, const char *message, size_t message_length, size_t heard);
void wire_ran(host *at, const sim_run *run, const char *script);
int64_t wire_freed_ns(int resource); /* when a script freed that lock last; what ends by its lease is not freed */
int64_t wire_taken_ns(int resource); /* …and took it, when it was free */
int64_t wire_touched_ns(int resource); /* when a script of that lock ran last, but for renewals and questions */
bool wire_is_freed(int resource); /* a script freed it, and none has taken it since */
int64_t wire_left_ns(int resource); /* for so long the server keeps that lock, from now on */
/* Now and then: each key that there is, and each hold that somebody relies on. */
void wire_look_at_key(const char *name, size_t length);
void wire_look_at_holds(void);

/* Whether some value of the group is held. An expired hold leaves its fields behind until the value is taken. */
bool wire_group_is_held(const host *at, const char *name);

#endif
