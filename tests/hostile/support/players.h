/* Players: threads that call every operation, until they are told to stop, and a watch over their calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_PLAYERS_H
#define HOSTILE_PLAYERS_H

#include <rlock/rlock.h>
#include <stdint.h>

typedef struct players players;

/* Starts them; each seed gives each of them the same calls in the same order. NULL: no memory for the handles. */
players *players_start(rlock_client *client, uint64_t seed);
/* Cancels the calls that have been under way for `ms`, as far as they can be cancelled. */
void players_cancel(players *players, int64_t ms);
/* From now on they also begin calls that only the end of the client ends. */
void players_let_stay(players *players);
/* A text about a call that has been under way for more than `ms`, or had a forbidden effect; NULL: there is none. */
const char *players_complaint(players *players, int64_t ms);
long players_calls(const players *players);
long players_successes(const players *players);

/* From now on they begin no call. */
void players_stop(players *players);
/* Waits until they have ended. False: not within ms; then they are left as they are. */
bool players_end(players *players, int64_t ms);

#endif
