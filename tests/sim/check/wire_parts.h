/* Wire, internal part: one run of a script, as the checks of what it leaves and publishes see it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_WIRE_PARTS_H
#define SIM_WIRE_PARTS_H

#include "tests/sim/check/wire.h"
#include "tests/sim/server/value.h"

#define MESSAGES 16
#define TEXT_SIZE 160
#define NUMBER_NONE INT64_MIN

/* What one name stands for at one instant. */
typedef struct wire_state {
    bool there;           /* there is something */
    bool lock;            /* there is a hash, or a token */
    char mode;            /* 'r', 'w', or 0 */
    size_t fields;        /* of a hash */
    int64_t number;       /* of a counter; NUMBER_NONE */
    size_t queued;
    char head[TEXT_SIZE]; /* of the queue */
    double head_score;    /* below 0: it has none */
    double last_score;    /* of the last in it; below 0: none */
    int64_t ends_ms;      /* by the server's clock; -1: never */
} wire_state;

typedef struct wire_message {
    char channel[TEXT_SIZE], text[TEXT_SIZE];
    size_t heard;
    bool queued; /* it is for one that stood in the queue of a fair lock then */
} wire_message;

/* The present run of a script. */
typedef struct wire_run {
    bool runs;
    const host *at;
    const char *name;
    wire_state before;
    wire_message told[MESSAGES];
    int count;
} wire_run;
extern wire_run wire_now;

typedef enum wire_family {
    EXCLUSIVE, QUEUED, SILENT, TOKENS, SIGNALS, READING, WRITING, SEMAPHORES, PERMIT_SEMAPHORES, LATCHES, OTHERS
} wire_family;

const sim_value *wire_value(const host *at, const char *key);
double wire_score(const sim_value *timeouts, text member); /* below 0: it has none */
void wire_channel(wire_family which, const char *name, char to[static TEXT_SIZE]);
/* A finding unless the script has published that. */
void wire_must_tell(const char *script, const wire_state *before, const wire_state *after, const char *channel,
                    const char *said);

#endif
