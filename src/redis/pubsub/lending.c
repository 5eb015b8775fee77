/* Lending: a thread that waits alone reads the connection for messages itself, and saves the detour over the
 * subscriber's thread: a release then wakes the next owner at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pubsub/subscriber_parts.h"

#include "base/clock.h"

/* When a waiter that was alone has read, nobody waits for messages, and the next one, mostly the same thread in its
 * next turn, reads for itself. So the subscriber's thread is not woken: it reads again when it next wakes by itself,
 * but for so long leaves that to a waiter. If one comes that does not read, the thread reads at once. */
#define NEXT_MS 200
/* The same while the thread is to hear at once which keys others have changed. */
#define NEXT_TRACKED_MS 4

bool rli_subscriber_lends(const rli_subscriber *subscriber, int64_t *until_ms)
{
    bool expects = rli_now_ms() < subscriber->lent_until_ms;
    /* While waiters follow each other the thread looks after it by itself, so that none of them has to wake it. */
    if (expects)
        *until_ms = rli_earlier(*until_ms, subscriber->lent_until_ms);
    return !subscriber->broken && (subscriber->lent || expects);
}

/* Lends the connection to an operation, if it may. NULL: it sleeps without. */
static rli_shared_socket *lend(rli_subscriber *subscriber, rli_operation *op, int own)
{
    if (!subscriber->connection.context || subscriber->connection.tls || subscriber->lent || subscriber->broken ||
        subscriber->listeners != own || subscriber->stopping || rli_subscriber_waits_for_room(subscriber))
        return NULL;
    if (!rli_bell_take(&op->gate->bell))
        return NULL;
    subscriber->lent = rli_connection_share(&subscriber->connection);
    if (!subscriber->lent) {
        rli_bell_give_back(&op->gate->bell);
        return NULL;
    }
    if (subscriber->reads)
        rli_subscriber_wake(subscriber);
    subscriber->reads = false;
    return subscriber->lent;
}

/* An operation waits for messages and does not read them: the thread must, and not leave that to the next reader. */
static void expect_nobody(rli_subscriber *subscriber)
{
    bool polls = subscriber->polls_until_ms != 0;
    subscriber->lent_until_ms = 0;
    if (subscriber->running && !subscriber->lent && polls && !subscriber->reads)
        rli_subscriber_wake(subscriber);
}

static void read_messages(rli_subscriber *subscriber)
{
    if (rli_subscriber_receive(subscriber) == RLI_RECEIVED_END)
        subscriber->broken = true;
    rli_subscriber_tell(subscriber);
}

/* The thread is woken only if it would come too late by itself. */
static void give_back(rli_subscriber *subscriber, int own)
{
    subscriber->lent = NULL;
    bool alone = subscriber->listeners == own && !subscriber->broken, tracks = subscriber->invalidates;
    subscriber->lent_until_ms = alone ? rli_after_ms(tracks ? NEXT_TRACKED_MS : NEXT_MS) : 0;
    bool too_late = tracks && subscriber->polls_until_ms > subscriber->lent_until_ms;
    if (subscriber->running && (!alone || too_late))
        rli_subscriber_wake(subscriber);
}

void rli_subscriber_read_on(rli_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->mutex);
    expect_nobody(subscriber);
    pthread_mutex_unlock(&subscriber->mutex);
}

bool rli_subscriber_sleep(rli_subscriber *subscriber, rli_operation *op, int own, int64_t until_ms)
{
    bool polls = !rli_operation_is_async(op) && op->parker == &op->own;
    pthread_mutex_lock(&subscriber->mutex);
    rli_shared_socket *socket = polls ? lend(subscriber, op, own) : NULL;
    if (!socket)
        expect_nobody(subscriber);
    pthread_mutex_unlock(&subscriber->mutex);
    if (!socket)
        return rli_operation_sleep(op, until_ms);
    bool ready = rli_operation_sleep_polling(op, socket->fd, until_ms);
    pthread_mutex_lock(&subscriber->mutex);
    rli_bell_give_back(&op->gate->bell);
    if (subscriber->lent == socket && ready)
        read_messages(subscriber);
    if (subscriber->lent == socket)
        give_back(subscriber, own);
    pthread_mutex_unlock(&subscriber->mutex);
    rli_shared_socket_release(socket);
    return true;
}
