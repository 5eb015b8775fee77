/* Events: what the world has planned, by the instant at which it is due. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define WORLD_NEVER INT64_MAX /* an instant that does not come */

/* One thing to be done once. Those of one instant are done in the order in which they were planned. */
typedef struct event {
    int64_t at_ns;
    uint64_t number;
    void (*run)(void *argument);
    void *argument;
} event;

void event_at(int64_t at_ns, void (*run)(void *argument), void *argument);
/* When the first is due; WORLD_NEVER: none is planned. */
int64_t event_next_ns(void);
/* Takes the first, if it is due at `now_ns`. */
bool event_take(int64_t now_ns, event *due);
void events_forget(void);

#endif
