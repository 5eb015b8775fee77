/* The ledger: who may rely on what, as the library has said to each owner, on true time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LEDGER_H
#define SIM_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What rlock_valid_for answered. The time counts from the question: the thread may have stood still since. */
typedef struct validity {
    int64_t ms, asked_ns;
    int rate_ppm; /* of its machine's clock */
} validity;

/* What excludes what: kinds of lock that share a hash are one resource. */
typedef enum side {
    EXCLUSIVE_SIDE, READ_SIDE, WRITE_SIDE,
    PART_SIDE /* of a sharded lock, which excludes nobody: its part does, for which the owner has a hold, too */
} side;

/* An owner: a thread of the plan, or a named one of its client. */
typedef struct owner {
    int client, number;
    char title[48]; /* "A/t2", "B/owner 1" */
} owner;

/* What an owner believes of one side of a resource. Made when it is first asked for. */
typedef struct hold {
    struct hold *next;
    int resource;
    side side;
    owner owner;
    int count;               /* as the answers to its calls say */
    int to_tell;             /* lost: unlocks that are to answer RLOCK_LOST */
    int owed;                /* acquires that were granted, less the unlocks that have answered for one of them */
    unsigned epoch;          /* of the resource, when it was taken */
    int64_t claimed_until_ns;/* true time; 0: it claims nothing */
    int64_t claim_late_ns;   /* for so long the question for it was under way, in which a thread may have stood still */
    int64_t dropped_ns;      /* when its owner began to give it back last */
    int64_t lost_ns;         /* when it was first seen to be lost; 0: not */
    int64_t told_ns;         /* when rlock_on_lost said so, of what foreign hands took away; 0: not */
    int64_t told_any_ns;     /* when it last said so for any reason */
    int64_t lease_ms;        /* the longest that it asked for */
    bool renewed;
    int calls;               /* under way */
    int unlocks;             /* of them */
    char kept_as[160];       /* what its key says while it stands, until it is given back; "": that is not judged… */
    int64_t kept_until_ns;   /* …nor is it from then on, when its owner may have found it lost */
    unsigned begun;          /* calls that have begun */
    unsigned gains;          /* acquires that were granted */
    bool left;               /* its thread has ended */
    int64_t granted_ns;      /* when its last acquire returned */
    int64_t gone_ns;         /* when foreign hands took it away, for certain; 0: they have not */
    int64_t given_up_ns;     /* by its client, which forced the lock open; 0: not */
    uint64_t token;          /* of its last acquire, as that said; 0: it did not */
    struct hold *whole;      /* of a part: the hold of the sharded lock; NULL: it is none */
    int64_t faint_ns;        /* a red lock: since when it is not valid, as far as its margin for drift goes; 0: it is */
    bool mixed;              /* its owner had parts of it by another lock, too: unlocks may have answered for that */
    bool partly;             /* a lock of several: an unlock gave back some members of what another call was just taking */
    bool unsure;             /* calls of it met: what they did together is not known, until it is held no more */
} hold;

hold *ledger_hold(int resource, side side, const owner *owner);
hold *ledger_first(void);

/* Until when that lasts, on true time. */
int64_t ledger_until_ns(validity validity);
/* The owner may rely on it for so long. Ends the run when somebody else may, too. */
void ledger_claim(hold *hold, validity validity);
void ledger_claim_until(hold *hold, int64_t until_ns); /* on true time */
/* The owner begins to give its last hold back, or has lost it. */
void ledger_drop(hold *hold);

/* The epoch of a hold that a call gave which began in that epoch: what was taken away since then may have been it; or,
 * handed over without asking the server, what was taken away from who had it before in the same process. */
unsigned ledger_inherited(const hold *hold, unsigned epoch);

/* Foreign hands, or a server that lost data, have made who holds it now rely on nothing: their claims exclude nobody that
 * comes later. -1: all resources. */
void ledger_void(int resource, const char *why);
/* The same of all resources, since a server has lost its data; and how often that was. */
void ledger_void_data(void);
unsigned ledger_data_losses(void);
int64_t ledger_data_lost_ns(void); /* when the last one was */
/* Who holds what, for a person to read. */
void ledger_describe(char *text, size_t size);
unsigned ledger_epoch(int resource);
/* A server is another one from now on, though its data may be the same: what was under way there is in doubt. */
void ledger_note_restart(void);
int64_t ledger_restart_ns(void); /* when that was last; -1: never */
/* Whether a call that began then may not know that a server is another one: by the connection that it opens, of which the
 * answer to INFO was lost with its own, or by the one that it still has; and in a cluster it may go to either node. */
bool ledger_is_new_to(int64_t began_ns);
int64_t ledger_void_ns(int resource); /* when that was last */

#endif
