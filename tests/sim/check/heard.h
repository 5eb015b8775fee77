/* Heard: what listeners are told of is what became of their keys, and they are told of it soon. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_HEARD_H
#define SIM_HEARD_H

#include "tests/sim/program/run.h"

/* How often a listener was told of a deletion and of an expiry, and when. */
typedef struct hearing {
    struct hearing *next;
    const char *key, *title; /* as long as the run; the title names it in findings */
    int client;
    int64_t pause_ms; /* so long its function takes */
    int64_t began_ns, added_ns; /* the call that added it began, and has returned; added_ns 0: not, or it need not be told */
    int told[2];                /* how often, by rlock_event_kind; and when it was last */
    int64_t told_ns[2];
    bool ended;
} hearing;

/* "has expired" or "was deleted". */
const char *heard_word(rlock_event_kind kind);
/* A server tells of a key that it is deleted or has expired. */
void heard_happened(const char *key, size_t length, const char *what);
/* From before it is added until the run ends. */
void heard_begin(hearing *one);
/* Its function is called, and has returned. */
void heard_told(hearing *one, rlock_event_kind kind);
void heard_has_told(const hearing *one);
/* How long those of one client may take in turn, each for both kinds of event. */
int64_t heard_round_ms(int client);
/* Now and then: whether all were told. */
void heard_look(void);
/* In a forked child: nobody listens there. */
void heard_forget(void);

#endif
