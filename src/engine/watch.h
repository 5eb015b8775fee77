/* Watch: which holds are to be looked at, because servers report that others changed their keys.
 *
 * A report only makes the watchdog look (watchdog/look.h); what it finds decides. There may be many reports without a
 * loss: others take and release a read-write lock that this process holds, too, or the server forgets which keys it
 * tracks. So looks are rare and bounded, and tracking ends while most of them find nothing. engine->mutex guards all of
 * it, and every function expects it to be held. None does I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WATCH_H
#define RLI_WATCH_H

#include "base/table.h"
#include "redis/pubsub/ear.h"

#include <rlock/client.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rli_engine;
struct rli_entry;
struct rli_session;

/* How old a hold must be to be tracked. Most are younger when they are released, and then cost nothing. */
#define RLI_WATCH_AGE_MS 1000
/* How long a hold rests after a look. The rest doubles while reports go on, but does not exceed the longest. */
#define RLI_WATCH_REST_MS         100
#define RLI_WATCH_LONGEST_REST_MS 6400
/* How many looks without a finding one second has room for… */
#define RLI_WATCH_LOOKS_A_SECOND 1000
/* …and after how many within a window, if more than half of all looks found nothing, tracking is switched off, and for
 * how long. */
#define RLI_WATCH_WINDOW_MS    10000
#define RLI_WATCH_FALSE_ALARMS 5000
#define RLI_WATCH_OFF_MS       300000
/* How often to check whether a client with too many holds has few enough again. */
#define RLI_WATCH_TOO_MANY_MS 10000
/* How many names may be reported and not yet looked at. Beyond that, all holds are read again. */
#define RLI_WATCH_ALARMS 1024

/* A name whose key was reported as changed. */
typedef struct rli_alarm {
    rli_link link;
    struct rli_alarm *next, *previous;
    struct rli_entry *entry; /* a counted reference */
    int64_t at_ms;           /* when its holds may be looked at next */
    int64_t rest_ms;         /* the last rest; 0: there was none yet */
    bool heard;              /* there was a report since the last look began */
    bool looking;            /* those of its holds that are `marked` are still to be looked at */
} rli_alarm;

/* Which holds at a server are read again. */
typedef enum rli_reread { RLI_REREAD_NONE, RLI_REREAD_OLD, RLI_REREAD_ALL } rli_reread;

/* The round in which holds are read again: first it marks them, then it looks at those. */
typedef struct rli_round {
    enum { RLI_ROUND_OVER, RLI_ROUND_MARKS, RLI_ROUND_LOOKS } stage;
    size_t bucket, buckets; /* the next one in the table of names, and how many there were */
    int64_t after_ms;       /* not before this instant: the last one failed, or was one of many reports */
    int64_t pause_ms;       /* the last pause after a failure */
    bool reported, reports; /* reports cause the present round, and the next one */
} rli_round;

typedef struct rli_watch {
    rli_ear ear;
    bool on; /* holds are tracked once they are old enough */
    rlock_tracking state;
    char why[200];        /* why it is not RLOCK_TRACKING_ON */
    int64_t due_ms;       /* when the watchdog next has something to do here; RLI_NEVER: nothing */
    bool changed;         /* connections or servers have changed */
    bool overflowed;      /* too many names were reported */
    bool rereads;         /* tracking was switched on: all holds are to be read */
    int64_t on_again_ms;  /* while it is switched off for a time: when that is over; RLI_NEVER: it is not */
    int64_t retry_ms;     /* when the set-up at a server is tried again; RLI_NEVER: at none */
    rli_table alarms;     /* by entry */
    rli_alarm *first;     /* the same, in no order */
    int64_t credit_ms;    /* when `credit` was last refilled */
    int64_t credit;       /* looks that may be sent now */
    int64_t window_ms;    /* when the present window began */
    int64_t looks, found; /* in it: looks that reports caused, and those that found something */
    rli_round round;
} rli_watch;

void rli_watch_init(struct rli_engine *engine);
void rli_watch_destroy(struct rli_engine *engine); /* before the entries are freed */

/* Has the watchdog go on here at that instant at the latest. */
void rli_watch_expect(struct rli_engine *engine, int64_t at_ms);
/* Notes that the name's key was reported as changed. */
void rli_watch_alarm(struct rli_engine *engine, struct rli_entry *entry);
/* Ends the alarm and drops its reference to the entry. */
void rli_watch_end_alarm(struct rli_engine *engine, rli_alarm *alarm);
/* Begins the rest after a look. */
void rli_watch_rest(rli_alarm *alarm);
/* Returns whether there is credit for a look that a report caused. */
bool rli_watch_may_look(rli_watch *watch);
/* Notes the answer to a look that a report caused. May switch tracking off. */
void rli_watch_judge(struct rli_engine *engine, bool found);
/* Switches tracking off, and, at `again_ms`, on again. */
void rli_watch_switch_off(struct rli_engine *engine, rlock_tracking state, int64_t again_ms);
/* Switches tracking on, unless it is disabled or there are too many holds; the same when there are too many by now. */
void rli_watch_check_count(struct rli_engine *engine);

#endif
