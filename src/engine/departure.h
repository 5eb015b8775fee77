/* Departure: what a client waits for before it is closed.
 *
 * Those are the answers to async releases, and to what gives back what is in doubt. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DEPARTURE_H
#define RLI_DEPARTURE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rli_engine rli_engine;

/* Waits until the outcome of all async releases is known and all that is in doubt was given back, or until_ms. What is
 * in doubt is given back once more when the requests in doubt have been answered, or half of the time is over: they may
 * have run later than what was to give back what they take. Mutex not held. */
void rli_departure_await(rli_engine *engine, int64_t until_ms);

/* --- what is in doubt, for as long as it is being given back; mutex held --- */

/* Marks something that departure waits for, unless it is marked. */
void rli_departure_wait_for(rli_engine *engine, bool *not_given_back);
/* Clears the mark, if it is set: it was given back, or has ended. */
void rli_departure_wait_no_more(rli_engine *engine, bool *not_given_back);

#endif
