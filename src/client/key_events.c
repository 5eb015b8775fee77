/* Key events: the program's listeners for keys that are deleted or expire, and the thread that calls them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/key_events.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/thread.h"
#include "client/client.h"
#include "engine/news.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a listener looks for the node of a key that none serves at present. */
#define UNSERVED_MS 200

struct rlock_listener {
    rlock_listener *next, *previous;
    rlock_client *client; /* referenced */
    rlock_event_fn *fn;
    void *arg;
    unsigned slot;
    rli_news news;           /* from the node that serves the key; without a node: not subscribed */
    rli_channel_events told; /* of the events that the channel there has counted, those that `fn` was told of */
    bool confirmed;
    bool attended;    /* in the thread's present round through the list */
    bool ends;        /* it is being removed: its function is not called any more */
    char *refusal;    /* on the heap; NULL: none */
    const char *name; /* in `channel`, as the program gave it */
    size_t channel_length;
    char channel[];
};

void rli_key_events_init(rli_key_events *events)
{
    *events = (rli_key_events){.running = false};
    pthread_mutex_init(&events->mutex, NULL);
    rli_cond_init_monotonic(&events->changed);
}

void rli_key_events_destroy(rli_key_events *events)
{
    pthread_mutex_destroy(&events->mutex);
    pthread_cond_destroy(&events->changed);
}

/* --- the thread; mutex held --- */

/* Subscribes at the node that serves the key, if that is another one than before. Returns when to look again. */
static int64_t follow(rlock_listener *listener, rli_parker *parker)
{
    rli_node *node = rli_topology_ref_server(&listener->client->topology, listener->slot);
    if (node && node == listener->news.node) {
        rli_node_unref(node);
        return RLI_NEVER;
    }
    if (!node)
        return rli_after_ms(UNSERVED_MS);
    const rli_source source = {.name = listener->channel, .length = listener->channel_length};
    rli_news news = {0};
    if (rli_news_join(&news, node, &source) != RLOCK_OK)
        return rli_after_ms(UNSERVED_MS);
    if (listener->news.node)
        rli_news_leave(&listener->news, RLI_LEAVE_AT_ONCE);
    listener->news = news;
    rli_news_listen(&listener->news, parker);
    rli_subscriber_read_on(&news.node->subscriber);
    listener->told = rli_channel_events_of(&news.node->subscriber, news.channel);
    return RLI_NEVER;
}

/* Notes whether the subscription stands, for the thread that waits for that. */
static void note_confirmed(rli_key_events *events, rlock_listener *listener)
{
    if (listener->confirmed || listener->refusal || !listener->news.node)
        return;
    listener->confirmed = rli_news_is_confirmed(&listener->news);
    if (!listener->confirmed && rli_news_await(&listener->news) != RLOCK_OK)
        listener->refusal = strdup(rlock_last_error());
    if (listener->confirmed || listener->refusal)
        pthread_cond_broadcast(&events->changed);
}

static void discard(rlock_listener *listener)
{
    rli_gate_unref(&listener->client->gate);
    free(listener->refusal);
    free(listener);
}

/* Calls the function, without the mutex. Returns whether the listener is still there. One that its own function has
 * ended is freed here: until then the function may read the event's name, which is the listener's. */
static bool tell(rli_key_events *events, rlock_listener *listener, rlock_event_kind kind)
{
    const rlock_event event = {.size = sizeof event, .name = listener->name, .kind = kind};
    events->calling = listener;
    pthread_mutex_unlock(&events->mutex);
    listener->fn(&event, listener->arg);
    if (rli_gate_is_forked(&listener->client->gate))
        _exit(0); /* the function has forked: the child has nothing to go on with, and no exit handlers of its own */
    pthread_mutex_lock(&events->mutex);
    bool there = events->calling == listener;
    events->calling = NULL;
    pthread_cond_broadcast(&events->changed);
    if (!there)
        discard(listener);
    return there;
}

/* Tells of what has happened since the last call. Returns whether the mutex was released: then the list may be
 * another. */
static bool attend(rli_key_events *events, rlock_listener *listener)
{
    note_confirmed(events, listener);
    if (!listener->news.node)
        return false;
    rli_channel_events now = rli_channel_events_of(&listener->news.node->subscriber, listener->news.channel);
    rli_channel_events before = listener->told;
    listener->told = now;
    bool deleted = now.deleted != before.deleted, expired = now.expired != before.expired;
    if (expired && !tell(events, listener, RLOCK_EVENT_EXPIRED))
        return true;
    if (deleted && !events->stopping && !listener->ends)
        (void)tell(events, listener, RLOCK_EVENT_DELETED);
    return deleted || expired;
}

/* Returns the first listener from that one on which is still to be attended to in this round; NULL: none is. */
static rlock_listener *next_unattended(rlock_listener *listener)
{
    while (listener && (listener->attended || listener->ends))
        listener = listener->next;
    return listener;
}

/* A round: goes through all listeners, each once, so that one whose key never rests does not keep the others waiting.
 * Returns when to do so again without being woken. */
static int64_t attend_all(rli_key_events *events)
{
    int64_t again_ms = RLI_NEVER;
    for (rlock_listener *listener = events->first; listener; listener = listener->next)
        listener->attended = false;
    for (rlock_listener *listener = events->first; !events->stopping && (listener = next_unattended(listener));) {
        listener->attended = true;
        again_ms = rli_earlier(again_ms, follow(listener, events->parker));
        listener = attend(events, listener) ? events->first : listener->next;
    }
    return again_ms;
}

static void *run(void *argument)
{
    rlock_client *client = argument;
    rli_key_events *events = &client->key_events;
    rli_operation op;
    if (rli_operation_begin(&op, &client->gate, NULL) != RLOCK_OK)
        return NULL;
    pthread_mutex_lock(&events->mutex);
    events->parker = op.parker;
    while (!events->stopping) {
        int64_t again_ms = attend_all(events);
        pthread_mutex_unlock(&events->mutex);
        (void)rli_operation_sleep(&op, again_ms);
        pthread_mutex_lock(&events->mutex);
    }
    for (rlock_listener *listener = events->first; listener; listener = listener->next) {
        if (listener->news.node)
            rli_news_leave(&listener->news, RLI_LEAVE_AT_ONCE);
    }
    events->parker = NULL;
    pthread_mutex_unlock(&events->mutex);
    rli_operation_end(&op);
    return NULL;
}

/* Mutex held. */
static bool is_self(const rli_key_events *events)
{
    return events->running && pthread_equal(events->thread, pthread_self());
}

bool rli_key_events_is_self(rli_key_events *events)
{
    pthread_mutex_lock(&events->mutex);
    bool self = is_self(events);
    pthread_mutex_unlock(&events->mutex);
    return self;
}

void rli_key_events_stop(rli_key_events *events)
{
    pthread_mutex_lock(&events->mutex);
    bool running = events->running;
    events->stopping = true;
    if (events->parker)
        rli_unpark(events->parker);
    pthread_cond_broadcast(&events->changed);
    pthread_mutex_unlock(&events->mutex);
    if (running)
        pthread_join(events->thread, NULL);
    pthread_mutex_lock(&events->mutex);
    events->running = false;
    pthread_mutex_unlock(&events->mutex);
}

/* --- adding and removing --- */

static rlock_listener *make(rlock_client *client, const char *key, size_t length, size_t prefix_length)
{
    char before[40];
    int size = snprintf(before, sizeof before, "__keyspace@%d__:", client->settings.database);
    rlock_listener *listener = malloc(sizeof *listener + (size_t)size + length + 1);
    if (!listener)
        return NULL;
    *listener = (rlock_listener){.client = client,
                                 .slot = rli_topology_slot(&client->topology, key, length),
                                 .name = listener->channel + size + prefix_length,
                                 .channel_length = (size_t)size + length};
    memcpy(listener->channel, before, (size_t)size);
    memcpy(listener->channel + size, key, length);
    listener->channel[listener->channel_length] = 0;
    rli_gate_ref(&client->gate);
    return listener;
}

/* Adds it to the list, and starts or wakes the thread. Mutex held. */
static rlock_status begin(rli_key_events *events, rlock_listener *listener)
{
    rlock_status status = RLOCK_OK;
    if (events->stopping)
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    if (!events->running)
        status = rli_thread_start(&events->thread, "rlock-listen", run, listener->client);
    if (status != RLOCK_OK)
        return status;
    events->running = true;
    RLI_LIST_ADD(events->first, listener);
    if (events->parker)
        rli_unpark(events->parker);
    return RLOCK_OK;
}

static rlock_status unconfirmed(const rli_key_events *events, const rlock_listener *listener)
{
    if (events->stopping)
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    if (listener->refusal)
        return rli_fail_text(RLOCK_SERVER, listener->refusal);
    if (listener->news.node)
        return rli_news_unconfirmed(&listener->news);
    return rli_topology_fail_unserved(&listener->client->topology, listener->slot, listener->name);
}

/* How often whoever adds a listener looks for the confirmation itself. */
#define LOOK_MS 10

/* Waits until the subscription stands. Does what the thread does for that, too: a function that it calls may take long.
 * Such a function cannot wait for the thread that it runs on. Mutex held. */
static rlock_status await_confirmed(rli_key_events *events, rlock_listener *listener)
{
    int64_t by_ms = rli_after_ms(listener->client->settings.subscription_timeout_ms);
    if (is_self(events))
        return RLOCK_OK;
    while (!listener->confirmed && !listener->refusal && !events->stopping && rli_now_ms() < by_ms) {
        struct timespec at = rli_monotonic_at(rli_earlier(by_ms, rli_after_ms(LOOK_MS)));
        pthread_cond_timedwait(&events->changed, &events->mutex, &at);
        if (events->parker)
            (void)follow(listener, events->parker);
        note_confirmed(events, listener);
    }
    return listener->confirmed ? RLOCK_OK : unconfirmed(events, listener);
}

/* Takes it out of the list. Returns whether the caller is to free it; its own function, which goes on, is not. Mutex
 * held. */
static bool end(rli_key_events *events, rlock_listener *listener)
{
    listener->ends = true;
    while (events->calling == listener && !is_self(events))
        pthread_cond_wait(&events->changed, &events->mutex);
    bool is_called = events->calling == listener;
    if (is_called)
        events->calling = NULL;
    if (listener->news.node)
        rli_news_leave(&listener->news, RLI_LEAVE_AT_ONCE);
    RLI_LIST_REMOVE(events->first, listener);
    return !is_called;
}

rlock_status rli_key_events_add(rlock_client *client, const char *key, size_t length, size_t prefix_length,
                                rlock_event_fn *fn, void *arg, rlock_listener **out)
{
    int cancel_state;
    rli_key_events *events = &client->key_events;
    rlock_listener *listener = make(client, key, length, prefix_length);
    if (!listener)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a listener");
    listener->fn = fn;
    listener->arg = arg;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&events->mutex);
    rlock_status status = begin(events, listener);
    bool begun = status == RLOCK_OK;
    if (begun)
        status = await_confirmed(events, listener);
    if (begun && status != RLOCK_OK)
        (void)end(events, listener); /* a function that is called has not waited, so this is another thread */
    pthread_mutex_unlock(&events->mutex);
    if (status == RLOCK_OK)
        *out = listener;
    else
        discard(listener);
    pthread_setcancelstate(cancel_state, NULL);
    return status;
}

void rlock_remove_listener(rlock_listener *listener)
{
    int cancel_state;
    if (!listener || rli_gate_is_forked(&listener->client->gate))
        return;
    rli_key_events *events = &listener->client->key_events;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&events->mutex);
    bool frees = end(events, listener);
    pthread_mutex_unlock(&events->mutex);
    if (frees)
        discard(listener);
    pthread_setcancelstate(cancel_state, NULL);
}
