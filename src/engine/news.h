/* News: what a wait listens to at one server, a channel or a signal list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NEWS_H
#define RLI_NEWS_H

#include "base/operation.h"
#include "redis/node.h"

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Where news of a key comes from. */
typedef struct rli_source {
    const char *name; /* the channel or the list; NULL: nobody tells, only time passes */
    size_t length;
    const char *list_of; /* the lock that the list belongs to; NULL: it is a channel */
    size_t list_of_length;
} rli_source;

typedef struct rli_news {
    rli_node *node; /* referenced while there is a channel or a list; NULL: there is neither */
    rli_channel *channel;
    rli_signal_list *list;
    rli_listener listener;
    bool unused; /* a signal was taken, and nobody has asked since */
    /* A second channel (rli_news_join_common), and the one that says that we are no other's listener there; NULL:
     * none. */
    rli_channel *common, *guards;
    rli_listener common_listener, guards_listener;
    rli_parker *parker; /* of rli_news_listen; NULL: nobody listens */
    uint64_t number;    /* messages on the first channel that begin with it are for this wait alone; 0: it has none */
    rli_told told;      /* what it was told, until the waiter heeds it */
} rli_news;

/* Begins to hear of the source at `node`. Takes over the caller's reference to the node, also on failure. With
 * RLOCK_OK, end it with rli_news_leave. RLOCK_OK; RLOCK_NO_MEMORY, RLOCK_CLOSED; RLOCK_UNAVAILABLE: the node was given
 * up. */
rlock_status rli_news_join(rli_news *news, rli_node *node, const rli_source *source);
/* Begins to hear of the channel at `node` if that is subscribed already. Takes over the caller's reference to the node
 * with true only. */
bool rli_news_rejoin(rli_news *news, rli_node *node, const rli_source *source);
/* Hears of a second channel, too, at the same node. guard: this waiter is registered, and who counts the listeners of
 * that channel must not count it: it joins CHANNEL:guards as well. RLOCK_OK; RLOCK_NO_MEMORY, RLOCK_CLOSED,
 * RLOCK_UNAVAILABLE. */
rlock_status rli_news_join_common(rli_news *news, const rli_source *common, bool guard);
/* Whether releases that are published for everybody are heard. */
bool rli_news_hears_common(const rli_news *news);
/* Ends listening, if need be. `how`: when to unsubscribe from the first channel. */
void rli_news_leave(rli_news *news, rli_leaving how);
/* Returns the source that was joined; it lives until that is left. */
rli_source rli_news_source(const rli_news *news);

/* From now until rli_news_unlisten, the parker is woken when there may be a reason to ask. */
void rli_news_listen(rli_news *news, rli_parker *parker);
void rli_news_unlisten(rli_news *news);
/* Whether there was such a reason since the last call. */
bool rli_news_take(rli_news *news);
/* As rli_operation_sleep: until there may be such a reason. */
bool rli_news_sleep(rli_news *news, rli_operation *op, int64_t until_ms);
/* The wait goes to sleep. RLOCK_OK; RLOCK_SERVER: the server refuses the subscription. */
rlock_status rli_news_await(rli_news *news);

/* Whether nothing can be missed from now on: the subscription stands, or signals arrive. */
bool rli_news_is_confirmed(const rli_news *news);
/* By when a wait without another end must have its subscription confirmed; RLI_NEVER: it need not. */
int64_t rli_news_confirm_by(const rli_news *news);
/* RLOCK_UNAVAILABLE: it was not confirmed by then. */
rlock_status rli_news_unconfirmed(const rli_news *news);

#endif
