/* Waiting for something to happen in another thread, with a limit; clocks for tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_EVENT_H
#define TEST_EVENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct event {
    pthread_mutex_t mutex;
    pthread_cond_t cond; /* CLOCK_MONOTONIC */
    int count;
} event;

void event_init(event *event);
void event_destroy(event *event);
void event_set(event *event);                              /* count + 1, wakes everybody */
/* Waiting, with the limit of limit_end_ms. */
bool event_wait_ms(event *event, int64_t ms);              /* until count ≥ 1 */
bool event_wait_count(event *event, int count, int64_t ms);/* until it happened `count` times */
int event_count(event *event);

int64_t now_ms(void); /* CLOCK_MONOTONIC */
/* When a wait ends for what must come within ms. In virtual time that is a bound; a real machine may stand still, so there
 * the wait goes on until the runner ends the test, unless ms is a look at what must not come: less than a second. */
int64_t limit_end_ms(int64_t ms);
/* For time itself being the subject (a lease that must run out), never to wait for an event. */
void pass_ms(int64_t ms);

#endif
