/* Cuts: one operation of one object under every fault that a connection can have in the middle of it, each
 * time on names of its own, and what must be true after it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_CUT_H
#define FAULT_CUT_H

#include "tests/fault/support/proxy.h"
#include "tests/integration/support/kinds.h"
#include "tests/support/server.h"

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct operation;

/* One run of an operation. */
typedef struct cell {
    const struct operation *operation;
    rlock_client *client;                  /* behind the proxy */
    char name[64], second[64], third[64];  /* "N", "N:b", "N:c" below */
    rlock *lock;                           /* of the operation's kind, where it has one; else `before` makes it */
    rlock *also, *theirs;                  /* freed at the end; by `before` */
    rlock_semaphore *semaphore;            /* of `name`; the next two likewise */
    rlock_permit_semaphore *permits;
    rlock_count_down_latch *latch;
    rlock_permit permit[3];
    int64_t said;                          /* by the call's out-parameter */
    uint64_t token;
} cell;

typedef struct operation {
    const char *title;
    const kind *of;                    /* NULL: no lock of a kind */
    void (*before)(cell *);            /* NULL: nothing; no fault is there yet */
    rlock_status (*call)(cell *);
    /* Goes on with the object and gives all back, so that no key is left; every call in it succeeds. `done`:
     * whether the operation counts as carried out. NULL: unlocks as often as it is held. */
    void (*after)(cell *, bool done);
    bool once;                         /* never sent again: RLOCK_UNKNOWN when the answer is lost */
    bool ends;                         /* counts as carried out though nobody answered: a release */
    bool undone;                       /* leaves nothing when nobody answered: an acquisition */
    bool freed;                        /* leaves nothing when nobody knows whether it ran: the force of an own hold */
    bool confirmed;                    /* an answer alone is none: that to WAIT has to follow */
    bool most;                         /* succeeds with most of its members, though one does not answer in time */
    bool varies;                       /* how many requests it sends depends on who is faster */
    bool brief;                        /* does not ask a silent server again: RLOCK_UNAVAILABLE */
    rlock_status answer;               /* without a fault, and when it is repeated */
    int64_t says;                      /* with that answer */
    int had, has;                      /* a lock: holds before and after */
    const char *is, *becomes;          /* the keyspace before and after; NULL: as `had` and `has` say */
    const char *with;                  /* its requests have this, beside the name; NULL: no others have the name */
} operation;

/* The keyspace is written a key a line, as "N hash O=1\n", "{N}:O:rwlock_timeout:1 string 1\n": N stands for the
 * cell's token, O for any owner; of a zset there is its size alone; a hash without a TTL says so. Counters of
 * tokens are left out. */

/* For .init and .fini of a test: the stage's server and stage.other, and a proxy before it. Handles of kinds.h
 * and objects.h are freed. */
void cuts_open(void);
void cuts_close(void);
/* The same with a server of the test's own, which goes with the stage. `url_format`: the URL without a query, with
 * %s for the proxy's port. */
void cuts_open_at(server *master, const char *url_format);

/* The same with a master of a cluster, behind that proxy, to which the slot of the key `tag` is on its way: all
 * names have that tag, and whoever asks for them has to say ASKING. There is no stage.other. */
void cuts_open_asking(server *to, proxy *before, const char *url, const char *tag);
void cuts_close_asking(void);

/* Runs them, one after the other: without a fault; then for each request that each of them sends: lost, cut
 * after every few bytes, carried out and the answer lost or cut after every byte, either with a reset, stalled
 * for longer than the client's patience and then let through, before or after all is given back; at last with
 * all requests, and all answers, lost. */
void cut_operations(const operation *operations, size_t count);

/* One operation under a rule of the test's own, which lets the server carry it out (CUT_BEFORE too: another request
 * is meant). `whole`: its answer is there all the same. */
void cut_with(const operation *of, rlock_client *client, const proxy_rule *rule, bool whole);

/* What stands on the server for so many holds of a lock of the kind. Static text, of 4. */
const char *held(const kind *of, int count);

/* A command to the server past the proxy, which must not fail; `%s` in it: the cell's name. */
void past(const cell *self, const char *format);

/* For what takes more than one thread. A token of which names are made, and which is in all requests for them:
 * a new one, static text. Whether the keyspace is `expected`; fails the test unless it is within ms. */
const char *cut_token(void);
void cut_await(const char *token, const char *expected, int64_t ms);
bool cut_stands(const char *token, const char *expected);

#define CUT_CALM "timeout=8000&connectTimeout=8000&retryAttempts=2&retryBaseDelay=2&retryMaxDelay=4&lockWatchdogTimeout=20000"
/* A client behind the proxy; closed by cut_end. */
rlock_client *cut_client(const char *query);
void cut_end(rlock_client *client);

#endif
