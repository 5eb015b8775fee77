/* Chances: when a thread of this process that waits for a lock need not ask the server, or has to leave it to others
 * to come first. Of the kinds that queue here and hear messages; guarded by the engine's mutex, which every function
 * expects to be held. No I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YIELD_H
#define RLI_YIELD_H

#include <stdbool.h>
#include <stdint.h>

struct rli_session;

/* What an entry knows of it. */
typedef struct rli_yield {
    struct rli_session *holder; /* of this process: the server gave it the lock… */
    int64_t held_ms;            /* …as was heard at that instant; NULL: another's, free, or unknown */
    int64_t since_ms;           /* since then the lock has been handed over here… */
    int handed;                 /* …so many times, without a chance for others */
    int64_t yield_until_ms;     /* until then others come first */
    unsigned yields;            /* how often they did */
    int turns_owed;             /* so many of them have not been heard of since */
    bool listening;             /* the server counts the waiters here among those who hear the channel; one of them,
                                   as far as is known */
} rli_yield;

/* What one waiter remembers of it; all zero at first. */
typedef struct rli_yield_seen {
    unsigned aside; /* it knows of that one… */
    int signs;      /* …and has heard from the channel so often since */
} rli_yield_seen;

/* Others have had their chance until now. */
void rli_yield_begin(rli_yield *yield);

/* The session has the lock: it was asked for, or handed over. */
void rli_yield_note_holder(rli_yield *yield, struct rli_session *holder, bool handed);
/* It holds nothing any more, for all that this process knows. */
void rli_yield_drop_holder(rli_yield *yield, const struct rli_session *holder);

/* Until when its holder is left alone; 0: there is none. */
int64_t rli_yield_calm_until(const rli_yield *yield);

/* Whether a newcomer would ask in vain, or out of turn: it is to join the waiters. */
bool rli_yield_defers_newcomers(const rli_yield *yield);
/* The same for a waiter; `heard`: it heard something from the channel since it looked last. Gives the time when it
 * is to look again, message or not. */
bool rli_yield_defers(rli_yield *yield, rli_yield_seen *own, bool heard, int64_t *until_ms);

/* Whether the lock was handed over here as often, or as long, as it may be while others wait for it elsewhere. */
bool rli_yield_is_due(const rli_yield *yield);
/* All here stand aside, for a moment, or until one of those has had it: before it is freed for them. */
void rli_yield_to_others(rli_yield *yield);
/* That was done, or came to nothing; `others`: how many listen who are not of this process. Each of them is let
 * come first once: who is quick to answer a message would else keep out who is slow, for ever. */
void rli_yield_note_others(rli_yield *yield, int others);

#endif
