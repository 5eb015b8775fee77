/* Distortion: turns a server's right answer into a hostile one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_DISTORT_H
#define HOSTILE_DISTORT_H

#include "tests/hostile/support/values.h"

#include <stdbool.h>
#include <stdint.h>

/* Right answers to earlier requests, which are wrong ones to later requests. */
enum { PAST_ANSWERS = 64 };
typedef struct past {
    bytes answers[PAST_ANSWERS];
    int count, next;
} past;
void past_add(past *past, const char *answer, size_t length);

/* The connection's fate when the bytes are on their way. */
typedef enum fate {
    FATE_GOES_ON,
    FATE_HANGS_UP,
    FATE_RESETS,
    FATE_FALLS_SILENT, /* and stays open */
    FATE_DRIPS         /* from now on a few bytes at a time */
} fate;

typedef struct distortion {
    fate fate;
    int64_t delay_ms; /* before anything more is sent */
} distortion;

/* Appends the bytes to be sent instead of `answer`, one whole value. `channel`: one that the connection has subscribed to;
 * NULL: none. */
distortion distort(dice *by, const hostile_ports *ports, const past *earlier, const char *channel, const char *answer,
                   size_t length, bytes *to);

#endif
