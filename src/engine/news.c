/* News: what a wait listens to at one server, a channel or a signal list. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/news.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static rli_subscriber *subscriber_of(const rli_news *news)
{
    return &news->node->subscriber;
}

static rli_signals *signals_of(const rli_news *news)
{
    return &news->node->signals;
}

rlock_status rli_news_join(rli_news *news, rli_node *node, const rli_source *source)
{
    rlock_status status = source->list_of
                              ? rli_signals_join(&node->signals, source->name, source->length, source->list_of,
                                                 source->list_of_length, &news->list)
                              : rli_subscriber_join(&node->subscriber, source->name, source->length, &news->channel);
    if (status == RLOCK_OK && (news->list || news->channel))
        news->node = node;
    else
        rli_node_unref(node);
    return status;
}

bool rli_news_rejoin(rli_news *news, rli_node *node, const rli_source *source)
{
    news->channel = rli_subscriber_rejoin(&node->subscriber, source->name, source->length);
    if (news->channel)
        news->node = node;
    return news->channel;
}

static rlock_status join_guards(rli_news *news, const rli_source *common)
{
    static const char behind[] = ":guards";
    char *name = malloc(common->length + sizeof behind);
    if (!name)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a channel's name");
    memcpy(name, common->name, common->length);
    memcpy(name + common->length, behind, sizeof behind);
    rlock_status status = rli_subscriber_join(subscriber_of(news), name, common->length + sizeof behind - 1,
                                              &news->guards);
    free(name);
    if (status == RLOCK_OK && news->parker)
        rli_channel_listen(subscriber_of(news), news->guards, &news->guards_listener, news->parker, 0);
    return status;
}

rlock_status rli_news_join_common(rli_news *news, const rli_source *common, bool guard)
{
    rlock_status status = RLOCK_OK;
    if (!news->common) {
        status = rli_subscriber_join(subscriber_of(news), common->name, common->length, &news->common);
        if (status == RLOCK_OK && news->parker)
            rli_channel_listen(subscriber_of(news), news->common, &news->common_listener, news->parker, 0);
    }
    if (status == RLOCK_OK && guard && !news->guards)
        status = join_guards(news, common);
    return status;
}

bool rli_news_hears_common(const rli_news *news)
{
    return news->common && rli_channel_is_asked_for(subscriber_of(news), news->common);
}

void rli_news_leave(rli_news *news, rli_leaving how)
{
    rli_news_unlisten(news);
    bool guards = news->guards && rli_subscriber_leave(subscriber_of(news), news->guards, RLI_LEAVE_LINGER);
    /* Either both linger or neither does. The server subtracts the guards from the listeners: if the channel lingered
     * alone, it would count one of another library too many; if the guards' did, one too few. */
    if (news->common)
        rli_subscriber_leave(subscriber_of(news), news->common, guards ? RLI_LEAVE_TOO : RLI_LEAVE_AT_ONCE);
    if (news->channel)
        rli_subscriber_leave(subscriber_of(news), news->channel, how);
    if (news->list)
        rli_signals_leave(signals_of(news), news->list, news->unused);
    rli_node_unref(news->node);
    *news = (rli_news){0};
}

rli_source rli_news_source(const rli_news *news)
{
    if (news->list)
        return (rli_source){news->list->name, news->list->length, news->list->lock, news->list->lock_length};
    if (news->channel)
        return (rli_source){.name = news->channel->name, .length = news->channel->length};
    return (rli_source){0};
}

void rli_news_listen(rli_news *news, rli_parker *parker)
{
    news->parker = parker;
    if (news->common)
        rli_channel_listen(subscriber_of(news), news->common, &news->common_listener, parker, 0);
    if (news->guards)
        rli_channel_listen(subscriber_of(news), news->guards, &news->guards_listener, parker, 0);
    if (news->channel)
        rli_channel_listen(subscriber_of(news), news->channel, &news->listener, parker, news->number);
    if (news->list)
        rli_signal_listen(signals_of(news), news->list, &news->listener, parker);
}

void rli_news_unlisten(rli_news *news)
{
    if (!news->parker)
        return;
    news->parker = NULL;
    if (news->common)
        rli_channel_unlisten(subscriber_of(news), news->common, &news->common_listener);
    if (news->guards)
        rli_channel_unlisten(subscriber_of(news), news->guards, &news->guards_listener);
    if (news->channel)
        rli_channel_unlisten(subscriber_of(news), news->channel, &news->listener);
    if (news->list)
        rli_signal_unlisten(signals_of(news), news->list, &news->listener);
}

bool rli_news_take(rli_news *news)
{
    if (news->channel) {
        bool heard = news->common && rli_listener_take(subscriber_of(news), &news->common_listener, &news->told);
        bool guards = news->guards && rli_listener_take(subscriber_of(news), &news->guards_listener, &news->told);
        heard |= guards && news->told.others_first; /* not when only that channel's subscription has changed */
        return rli_listener_take(subscriber_of(news), &news->listener, &news->told) || heard;
    }
    bool signalled = false;
    bool reason = news->list && rli_signal_take(signals_of(news), news->list, &news->listener, &signalled);
    news->unused = news->unused || signalled;
    return reason;
}

bool rli_news_sleep(rli_news *news, rli_operation *op, int64_t until_ms)
{
    bool listens = news->channel && news->parker;
    int own = 1 + (news->common != NULL) + (news->guards != NULL);
    return listens ? rli_subscriber_sleep(subscriber_of(news), op, own, until_ms) : rli_operation_sleep(op, until_ms);
}

rlock_status rli_news_await(rli_news *news)
{
    if (news->list)
        rli_signal_want(signals_of(news), news->list);
    rlock_status status = news->channel ? rli_channel_check(subscriber_of(news), news->channel) : RLOCK_OK;
    return status == RLOCK_OK && news->common ? rli_channel_check(subscriber_of(news), news->common) : status;
}

bool rli_news_is_confirmed(const rli_news *news)
{
    if (news->channel)
        return rli_channel_is_confirmed(subscriber_of(news), news->channel) &&
               (!news->common || rli_channel_is_confirmed(subscriber_of(news), news->common));
    return news->list && rli_signal_works(signals_of(news), news->list);
}

/* Waiters for a list ask with a back-off until it works. */
int64_t rli_news_confirm_by(const rli_news *news)
{
    return news->channel ? rli_after_ms(subscriber_of(news)->settings->subscription_timeout_ms) : RLI_NEVER;
}

rlock_status rli_news_unconfirmed(const rli_news *news)
{
    char trouble[200];
    rli_subscriber_trouble(subscriber_of(news), trouble, sizeof trouble);
    return rli_fail(RLOCK_UNAVAILABLE, "could not subscribe within %lld ms%s%s",
                    (long long)subscriber_of(news)->settings->subscription_timeout_ms, *trouble ? ": " : "", trouble);
}
