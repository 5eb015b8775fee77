/* A wall clock that stands still until the test moves it, for real servers and for the model alike. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_WALL_CLOCK_H
#define TEST_WALL_CLOCK_H

#include "tests/support/folder.h"
#include "tests/support/server.h"

typedef struct wall_clock {
    folder folder;
    volatile int64_t *now_us; /* since 1970; shared with the servers */
} wall_clock;

void wall_clock_make(wall_clock *clock); /* at some instant in 2030 */
void wall_clock_remove(wall_clock *clock);
void wall_clock_pass(wall_clock *clock, int64_t us);

/* As server_start_with, on that clock. Its timers go by true time all the same. */
server *wall_clock_server(const wall_clock *clock, const char *const *args);
server *wall_clock_sentinel(const wall_clock *clock, const char *config);

#endif
