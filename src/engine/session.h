/* Session: what one owner holds on one name, and until when it may rely on it.
 *
 * holds.h begins, finds and ends sessions, entry.h lists those on a name. Every function here expects engine->mutex to
 * be held, unless it says otherwise. None does I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SESSION_H
#define RLI_SESSION_H

#include "base/operation.h"
#include "base/table.h"
#include "base/timer_heap.h"
#include "engine/cold_fields.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "engine/phase.h"
#include "net/reply.h"

#include <rlock/lock.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct rli_engine rli_engine;

#define RLI_FORCED_MOST 255

/* One session. There may be a million of them, so rarely used fields are in the cold fields. */
typedef struct rli_session {
    rli_link link;
    struct rli_entry *entry;
    struct rli_session *next, *previous; /* in entry->sessions */
    const rli_kind *kind;
    /* Part of the wire owner. No other session uses it again, except after a local handoff (local_handoff.h), a read
     * under a write hold (`lent`), or for compensating releases of this one. */
    uint64_t number;
    union {
        rli_thread_life *life; /* of a thread; a counted reference */
        int64_t owner_number;  /* of a named owner, or of a thread that is ending */
    };
    union {
        struct {                 /* in all phases but RLI_LOST */
            int64_t deadline_ms; /* until when the holds may be relied on */
            rli_timer timer;     /* on the watchdog's timer heap */
        };
        struct { /* in RLI_LOST */
            /* In the list of lost sessions, the oldest first. */
            struct rli_session *next_lost;
            /* In the list of losses to report. */
            struct rli_session *next_report;
            rlock_lost_reason reason;
            int reported_count;
        };
    };
    /* NULL: the session is one plain hold, which the watchdog renews; or it is lost and nothing more is known. */
    rli_cold_fields *cold;
    /* How many times the owner holds the lock. In RLI_LOST: how many of its unlocks have yet to answer RLOCK_LOST. */
    int count;
    rli_phase phase : 4;
    /* Both describe the owner. has_life: it is a thread that can be watched, and `life` is set. named: a named
     * owner. */
    bool has_life : 1, named : 1;
    /* A read hold of the same owner has taken this write hold's number. */
    bool lent : 1;
    bool busy : 1;      /* somebody has its turn (session.h): a request may be under way */
    bool releasing : 1; /* that request is the last release */
    /* how many force releases of this process are under way for it; no more are counted than RLI_FORCED_MOST */
    unsigned forced : 8;
    bool renewing : 1; /* it is in a renewal batch that is under way */
    /* why the server has refused its latest renewal; in RLI_LOST, the latest one before its loss */
    rli_refusal refused : RLI_REFUSAL_BITS;
    bool alone : 1;      /* it goes into no batch with others: the last one was refused as a whole */
    bool queued : 1;     /* it may have a place in the server's queue */
    bool registered : 1; /* it may stand in the registry of waiters (lua/lock/waiters.inc) */
    bool reporting : 1;  /* its loss is being reported */
    /* aging: its timer is set for the instant at which it is old enough to be tracked (watch.h). old: it has been. */
    bool aging : 1, old : 1;
    bool marked : 1;     /* it is to be looked at: an alarm or a round has marked it */
    bool looking : 1;    /* it is in a batch of looks that is under way */
    bool extended : 1;   /* meanwhile an answer has raised its deadline */
    bool sharded : 1;    /* at least one hold was taken by a sharded lock (rli_session_sharded_count) */
    bool remembered : 1; /* a call remembers its number, which therefore goes to no other session any more */
} rli_session;

/* The session enters the phase, which must be a legal transition from its own. */
void rli_session_become(rli_session *session, rli_phase phase);

/* Returns the owner; its `life` is borrowed from the session. */
rli_owner rli_session_owner(const rli_session *session);
/* Returns the session's number for a call to remember the session by, for as long as it lasts. */
uint64_t rli_session_remember(rli_session *session);
/* Returns how many operations under way have joined the session. */
int rli_session_attempts(const rli_session *session);

/* A session has one request under way at a time: a caller takes the session's turn first. The session must have an
 * attempt of the caller's, which keeps it alive.
 *
 * Waits for the turn until `until_ms` or until the operation is cancelled or closed; releases the mutex while it
 * sleeps.
 * RLOCK_OK: the caller has the turn and ends it with rli_session_end_turn.
 * RLI_WAITING: call it again.
 * RLOCK_TIMEOUT: the turn was taken until `until_ms`. Else as rli_operation_check. */
rlock_status rli_session_begin_turn(rli_engine *engine, rli_session *session, rli_operation *op, int64_t until_ms);
/* Ends the turn and wakes the operations that wait for it. */
void rli_session_end_turn(rli_session *session);
/* Takes the turn of the session in which the owner holds the lock, and adds an attempt to that session.
 * gives_back: the caller releases a hold, so it may use the last spare cold fields.
 * RLOCK_OK with *held set: the caller has the turn; ends it, then calls rli_session_drop_attempt.
 * RLOCK_OK with *held NULL: the owner holds nothing.
 * RLI_WAITING: call it again, with *held as it is. *held is NULL at first.
 * RLOCK_NO_MEMORY, or as rli_session_begin_turn: *held is NULL. */
rlock_status rli_session_take_turn(rli_engine *engine, const rli_names *names, const rli_kind *kind,
                                   const rli_owner *owner, rli_operation *op, int64_t until_ms, bool gives_back,
                                   rli_session **held);

/* Converts a requested lease to the one sent to the server: RLOCK_WATCHDOG becomes the watchdog timeout. Needs no
 * mutex. */
int64_t rli_lease_on_server(const rli_engine *engine, int64_t lease_ms);
/* Returns until when a lease requested at `sent_ms` may be relied on: its end, less 1 % for differing clock rates.
 * Needs no mutex. */
int64_t rli_valid_until(int64_t sent_ms, int64_t lease_ms);
/* Raises the deadline after the server answered a request that was sent at `sent_ms` and set the PTTL to at least
 * lease_ms. Never lowers it. Where the request was sent before a look that has lowered the deadline, another look
 * follows. */
void rli_session_extend_deadline(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms);
/* Lowers the deadline: a look that was sent at `sent_ms` found only left_ms left of the lease, because others have
 * shortened it. The deadline of a read hold stays: they have shortened the lock's key, not the hold. */
void rli_session_cut(rli_session *session, int64_t sent_ms, int64_t left_ms);
/* Returns until when the server keeps holds that nothing has extended since. The server started counting later than we
 * did, and by its own clock, so that is later than our deadline by 1 % of the lease. The session has cold fields. */
int64_t rli_session_end_on_server(const rli_engine *engine, const rli_session *session);

/* Returns how many of its holds the watchdog renews (those that were taken without a lease). */
int rli_session_renewed_count(const rli_session *session);
/* Returns whether the watchdog has something to send for the session before its deadline. */
bool rli_session_needs_renewal(const rli_session *session);
/* Schedules the watchdog's next work for the session. `sent_ms`: when the last request that set the PTTL was sent. */
void rli_session_schedule(rli_engine *engine, rli_session *session, int64_t sent_ms);

/* Makes room for one more hold; call it before the request is sent. Returns false when out of memory. */
bool rli_session_make_room(rli_session *session);
/* Records one more hold, which the server granted to a request sent at `sent_ms`. The session has an attempt. */
void rli_session_add_hold(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms);
/* After rli_session_add_hold of the first hold, which was an offer: it ends lease_ms after `sent_ms`, if nothing
 * extends it. The watchdog soon does. */
void rli_session_shorten(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms);
/* Records one more hold of a kind whose server keeps no count, which ends with those that are there already. It is
 * renewed. */
void rli_session_add_inner_hold(rli_session *session);
/* Records that a red lock took one more hold without this member, while this owner holds the member already. The
 * matching unlock of the red lock must then not release the member. */
void rli_session_add_skipped_hold(rli_session *session);
/* Returns whether the red lock took its innermost hold without this member, and forgets that hold. */
bool rli_session_remove_skipped_hold(rli_session *session);
/* How many of its holds the owner has taken by the sharded lock of which this is a part, and not by the part's name;
 * never more than there are holds. A lost session keeps them, until the unlocks have answered. */
int rli_session_sharded_count(const rli_session *session);
/* One of its holds, which was not counted before, was taken by the sharded lock. */
void rli_session_add_sharded(rli_session *session);
/* The sharded lock gives back one of them. The hold itself is removed after that. */
void rli_session_remove_sharded(rli_session *session);
/* There are fewer holds than before: the part was given back by its name. */
void rli_session_limit_sharded(rli_session *session);
/* Notes that a release of one of several read holds, which has been removed, may run late: it then deletes also what
 * was taken after it. So later holds are relied on no longer than those that it leaves. */
void rli_session_note_late_release(rli_session *session);
/* Removes the innermost hold, which the owner gives back. The session has an attempt. */
void rli_session_remove_hold(rli_engine *engine, rli_session *session);
/* Returns the longest lease that the remaining holds need, ms. */
int64_t rli_session_lease(const rli_engine *engine, const rli_session *session);

/* Notes that a request with this lease may still run late. After the session ends, the watchdog sends compensating
 * releases for lease_ms. The note is lost when the session has no cold fields and memory is short. */
void rli_session_in_doubt(rli_engine *engine, rli_session *session, int64_t lease_ms);
/* Notes the same for a re-entry, an extension, or the release of an inner read hold that may not have run. Such a
 * request changes nothing once the hold is gone, but the lock may be kept for lease_ms if the hold expires first. So
 * the watchdog compensates for it only when the session is lost. The lease of a read hold under the owner's write hold
 * does the same to that one. */
void rli_session_in_doubt_if_held(rli_engine *engine, rli_session *session, int64_t lease_ms);
/* Notes that the last release may not have run: the server may keep the lock for the longest lease ever requested.
 * The session has cold fields. */
void rli_session_release_in_doubt(rli_engine *engine, rli_session *session);
/* Notes that the server may still keep the holds of a session that is declared lost now. */
void rli_session_left_in_doubt(rli_engine *engine, rli_session *session);
/* Records whether the head of the server's queue heard that the lock is free. `unheard`: the head's wire
 * owner, copied, when no subscriber received the message; NULL: one did. The compensating release notifies such a head
 * again after RLI_UNHEARD_MS, and removes it if again nobody hears. */
void rli_session_note_unheard_head(rli_session *session, const rli_kind *kind, const char *unheard);
/* How long the compensating release runs for an unheard head: somewhat longer than until the second message. */
#define RLI_UNHEARD_DOUBT_MS (RLI_UNHEARD_MS + 2000)

#endif
