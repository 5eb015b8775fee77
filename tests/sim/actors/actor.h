/* Actors: processes that behave on the wire as Redisson does. Each has a machine of its own, one thread of its program, a
 * connection for commands and one for messages, and renews what it holds without a lease. Where Redisson is known to be
 * unsafe an actor is not: what it asked for and heard no answer of is given back, and can't run later. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ACTORS_ACTOR_H
#define SIM_ACTORS_ACTOR_H

#include "tests/sim/actors/wire.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/program/plan.h"
#include "tests/sim/program/run.h"

#define ACTOR_HOLDS 24
#define ACTOR_LEVELS 8 /* how often one owner takes one lock */
#define ACTOR_OLD 8    /* connections */

/* One owner's hold of one side of a lock. */
typedef struct java_hold {
    struct actor *actor;
    hold *entry;            /* in the ledger */
    object_kind kind;       /* as it was taken last */
    int object, owner;      /* of the plan; the actor's thread for 0 */
    int count;
    int64_t until_ns[ACTOR_LEVELS]; /* true time until which each may be relied on; the longest counts */
    int64_t lease_ms;       /* of the last acquire; the watchdog's */
    bool renewed;           /* taken without a lease, at least once */
    bool doubtful;          /* it may be held, and nobody was told */
    int64_t renew_at_ns, renewal_sent_ns; /* the next; the last that was answered, or never will be */
    bool capped;            /* a request is under way that may shorten its time */
    int64_t cap_ns;         /* to that */
    int64_t limited_ns;     /* of a read hold: when a release of the same owner's write hold was sent, which shortens it */
} java_hold;

/* A request whose answer is awaited, in the order of the requests. */
typedef struct pending {
    java_hold *renews;      /* NULL: the program waits for it */
    int64_t sent_ns;
    unsigned epoch;         /* of the resource, by then */
} pending;

typedef struct actor {
    const plan_thread *plan;
    int index;
    machine *machine;
    thread *thread;
    char id[40];            /* a UUID */
    int64_t watchdog_ms, fair_wait_ms, timeout_ms, skew_ms;

    wire commands;
    int64_t command_id;     /* CLIENT ID of it; 0: not known yet */
    pending awaited[64];
    int first, count;
    bool has_answer;
    reply answer;

    wire messages;
    char channel[96];       /* subscribed to, or about to be; empty: none */
    bool listens;           /* that is confirmed */
    int64_t heard;          /* messages so far */
    int64_t old[ACTOR_OLD]; /* ids of connections that are to be killed: nothing that was sent there may run later */
    int old_count;

    java_hold holds[ACTOR_HOLDS];
    int taken[PLAN_OBJECTS];
    char permits[PLAN_OBJECTS][PERMITS_HELD][16];
    int permit_count[PLAN_OBJECTS];
    int waits_for;          /* the resource of an acquire that may wait; -1: none */
    int64_t waits_since_ns;
    bool left;
} actor;

/* Those of the plan. */
void actors_begin(const plan *of);
int actors_count(void);
/* Whether one may hold it without knowing: its request was not answered, and not given back yet. */
bool actors_doubt(int resource);
actor *actor_number(int index);
bool actors_live(void);
/* Those that wait ask anew, as if they had been told. */
void actors_look_again(void);
/* They are not there in a forked child. */
void actors_forget(void);
/* As rlock's clients are numbered, which come first. */
int actor_client(const actor *of);

/* --- of its own program (client.c) --- */

const char *actor_name_of(const actor *self, int object);
int64_t actor_wall_ms(const actor *self); /* near the server's */
void actor_pause(actor *self, int64_t span_ns);
/* Goes on with what arrives and what is due, once, and sleeps at most until then when there is nothing. */
void actor_turn(actor *self, int64_t until_ns);
/* False: no answer in time. It may have run; it will not run later. The words are those of the whole command. */
bool actor_ask(actor *self, const word *words, size_t count);
/* Begins to listen; false: not confirmed in time. */
bool actor_listen(actor *self, const char *channel);
void actor_unlisten(actor *self);
void actor_hang_up(actor *self);

/* --- holds (renewal.c) --- */

java_hold *actor_hold(actor *self, int object, int owner);
hold *actor_entry(actor *self, int object, int owner);
void renewal_ask(actor *self); /* for those that are due */
int64_t renewal_due_ns(const actor *self);
void renewal_answered(actor *self, const pending *of, const reply *answer);
/* The connection has ended: those under way may have run, or not. */
void renewals_unheard(actor *self);
/* Tells the ledger how long it may be relied on. */
void hold_tell(java_hold *of);
void hold_drop(java_hold *of);
/* The instant until which a time to live that began when that was sent may be relied on. */
int64_t actor_until_ns(const actor *self, int64_t sent_ns, int64_t lease_ms);
/* The same of a hold whose time was set by a request that was sent then; a renewal that was sent later may have been answered
 * by now. */
int64_t hold_until_ns(const java_hold *of, int64_t sent_ns, int64_t lease_ms);
/* Nothing but the library, or time, can have taken it away since. */
bool hold_is_sure(const java_hold *of, unsigned epoch, int64_t sent_ns);
/* ARGV[1] of its scripts: "uuid:thread". */
void actor_owner(const actor *self, int owner, char text[static 64]);

/* --- what it does --- */

/* What became of one try to take something. */
typedef enum outcome { TAKEN, REFUSED, FAILED } outcome;
typedef struct trying {
    outcome (*once)(actor *self, void *with, int64_t *left_ms); /* left_ms: when to try again, without a message; -1: never */
    void *with;
    const char *channel;  /* NULL: it hears of nothing, and tries again and again */
    int64_t until_ns;     /* WORLD_NEVER: it does not give up */
} trying;
/* As Redisson waits: tries, subscribes, tries again, and sleeps until a message or the time to live ends. */
outcome actor_await(actor *self, const trying *by);

void actor_lock_step(actor *self, const plan_step *step);
void actor_object_step(actor *self, const plan_step *step);
/* Gives all locks back, however long that takes. */
void actor_release_all(actor *self);
void actor_give_objects_back(actor *self);
bool actor_holds_any(const actor *self); /* or may */

#endif
