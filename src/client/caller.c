/* A caller: one public call under way, from its entry to its return. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/caller.h"

#include "base/error.h"
#include "base/list.h"
#include "client/client.h"

void rli_turn_join(rli_turn **turns, rli_turn *own)
{
    own->next = *turns;
    *turns = own;
}

void rli_turn_leave(rli_turn **turns, rli_turn *own)
{
    while (*turns != own)
        turns = &(*turns)->next;
    *turns = own->next;
}

void rli_turn_wake_all(rli_turn *turns)
{
    for (; turns; turns = turns->next)
        rli_unpark(turns->parker);
}

rlock_status rli_caller_begin(rli_caller *caller, rlock_client *client, rlock_cancel *cancel)
{
    rlock_status status = rli_client_check(client);
    if (status != RLOCK_OK)
        return status;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &caller->cancel_state);
    rli_client_keep(client);
    caller->client = client;
    caller->closed = &client->closed;
    caller->cancel = cancel;
    caller->deadline_ms = caller->attempts_until_ms = RLI_NEVER;
    caller->listed = false;
    rli_parker_init(&caller->parker);
    caller->turn.parker = &caller->parker;
    rli_cancel_enter(cancel, &caller->watch, &caller->parker);
    return RLOCK_OK;
}

static void list(rli_caller *caller)
{
    rlock_client *client = caller->client;
    pthread_mutex_lock(&client->mutex);
    RLI_LIST_ADD(client->callers, caller);
    pthread_mutex_unlock(&client->mutex);
    caller->listed = true;
}

static void unlist(rli_caller *caller)
{
    rlock_client *client = caller->client;
    pthread_mutex_lock(&client->mutex);
    RLI_LIST_REMOVE(client->callers, caller);
    pthread_mutex_unlock(&client->mutex);
}

void rli_caller_end(rli_caller *caller)
{
    if (caller->listed)
        unlist(caller);
    rli_cancel_exit(caller->cancel, &caller->watch);
    pthread_setcancelstate(caller->cancel_state, NULL);
    rli_client_release(caller->client);
}

void rli_caller_sleep(rli_caller *caller, int64_t until_ms)
{
    if (!caller->listed) {
        list(caller);
        /* close may have gone through the list just before; from now on it would find this one */
        if (atomic_load(&caller->client->closed))
            return;
    }
    rli_park_among_many(&caller->parker, until_ms);
}

rlock_status rli_caller_check(rli_caller *caller)
{
    if (atomic_load_explicit(&caller->client->closed, memory_order_acquire))
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    if (rli_cancel_fired(caller->cancel))
        return rli_fail(RLOCK_CANCELLED, "the wait was cancelled by its token");
    return RLOCK_OK;
}
