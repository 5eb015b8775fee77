/* Yield: when a local waiter must not ask the server, because a local thread has the lock or others come first.
 *
 * After the lock was granted or handed over here, there is a quiet period in which no local waiter asks: its holder
 * is expected to hand it over. After many handoffs in a row, the local waiters yield: they do not ask until each
 * listener of another process had one chance, or some ms have passed. All this is for kinds whose waiters queue
 * locally, and listen for messages or spin. Every function here expects the engine's mutex to be held. None does
 * I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YIELD_H
#define RLI_YIELD_H

#include <stdbool.h>
#include <stdint.h>

struct rli_session;

/* What a client remembers about a name, even while none of its threads waits for it. */
typedef struct rli_missed {
    int in_a_row; /* in how many joined yields in a row none of the others took its chance… */
    int unheeded; /* …so that the next ones, so many, are not joined */
} rli_missed;

enum { RLI_MISSED_SLOTS = 64 };

/* The state for one entry. */
typedef struct rli_yield {
    /* The session of this process to which the server gave the lock; NULL: another process has it, it is free, or that
     * is unknown. */
    struct rli_session *holder;
    int64_t held_ms;        /* when that session's grant became known */
    int64_t since_ms;       /* since when the lock has been handed over here only… */
    int handed;             /* …and how many times, without a chance for others */
    int64_t open_ms;        /* when others last had a chance, also those that poll */
    int64_t yield_until_ms; /* others come first until then; 0: no yield */
    unsigned yields;        /* how many yields there were */
    int chances_owed;       /* how many others have yet to get a chance in this yield */
    bool beside_others;     /* there were others when they were last counted, and they took the chances they got */
    bool own_message;       /* the first message in this yield is of the release that began it */
    bool joined;            /* a release by another process began this yield */
    int64_t looks_ms;       /* a registered waiter asks after the others: waiters here look by themselves only then */
    rli_missed *missed;
    /* The server counts this process among the channel's subscribers, as far as is known. */
    bool listening;
    /* It is a guard there (registry.h), whom the scripts do not count as another. */
    bool guards;
} rli_yield;

/* The memory of one waiter; all zero at first. */
typedef struct rli_yield_seen {
    unsigned yields; /* the yield that it knows of: yields at that time… */
    int signs;       /* …and how many messages it heard since */
} rli_yield_seen;

/* Starts anew, as if others had just had their chance. `missed` must outlive it. */
void rli_yield_begin(rli_yield *yield, rli_missed *missed);

/* Notes that the session has the lock. handed: by a handoff, not by its own request. */
void rli_yield_note_holder(rli_yield *yield, struct rli_session *holder, bool handed);
/* Notes that, as far as this process knows, the session holds the lock no longer. */
void rli_yield_drop_holder(rli_yield *yield, const struct rli_session *holder);

/* Returns when the quiet period ends, at the holder's deadline at the latest; 0: no local session is known to hold
 * the lock. */
int64_t rli_yield_quiet_until(const rli_yield *yield);

/* Returns whether a new attempt must join the waiters, because it would ask in vain or out of turn. */
bool rli_yield_must_queue(const rli_yield *yield);
/* The same for a waiter; and, with `heard`, notes that one of the others may have had its chance: so call it once for
 * each request. `heard`: it had news from its channel since then; `told`: a message. Sets *until_ms to when it must
 * look again, with or without a message. */
bool rli_yield_take_news(rli_yield *yield, rli_yield_seen *seen, bool heard, bool told, int64_t *until_ms);

/* Returns whether the lock was handed over here as often, or for as long, as it may be while others wait elsewhere. */
bool rli_yield_is_due(const rli_yield *yield);
/* Ends the row of handoffs if it has lasted as long as it may while others elsewhere poll, whom nobody can count: a
 * short time if all waiters poll (spins). True: the lock is to be freed, and local waiters do not ask for a moment. */
bool rli_yield_end_streak(rli_yield *yield, bool spins);
/* Begins a yield: call it before a request that may free the lock for others. Local waiters do not ask for a
 * moment, or until one of the others has had the lock. */
void rli_yield_to_others(rli_yield *yield);
/* A release by another process began a yield, and said so: joins in, unless the others never take the lock. Returns
 * whether there is a yield now. */
bool rli_yield_join(rli_yield *yield);
/* One of the others has the lock, however late it took that. */
void rli_yield_note_turn(rli_yield *yield);
/* Ends the check for other listeners that rli_yield_to_others began. `others`: how many listeners of other
 * processes there are; 0 or less: none, so the yield ends. Each of them gets one chance first: otherwise processes
 * that are quick to answer a message would keep out slow ones for ever. */
void rli_yield_note_others(rli_yield *yield, int others);
/* The same when there are some, and a registered waiter, here or elsewhere, was told to ask after them. Should it have
 * died, local waiters ask some time later. */
void rli_yield_note_left(rli_yield *yield);

#endif
