/* Called: what the function of an async call was called with; and the program's loop, which waits for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/called.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <poll.h>
#include <stdio.h>

#define LIMIT_MS 60000

void called_note(const rlock_result *result, void *arg)
{
    called *self = arg;
    self->status = result->status;
    snprintf(self->error, sizeof self->error, "%s", result->error);
    self->answer = result->answer;
    self->token = result->token;
    self->times++;
}

/* One turn of the loop. */
static void turn(rlock_client *client, int wait_ms)
{
    struct pollfd ready = {.fd = rlock_client_fd(client), .events = POLLIN};
    cr_assert(ready.fd >= 0, "%s", rlock_last_error());
    if (poll(&ready, 1, wait_ms) > 0)
        assert_ok(rlock_client_process(client));
}

void called_await_count(rlock_client *client, const int *count, int least)
{
    int64_t until_ms = limit_end_ms(LIMIT_MS);
    while (*count < least && now_ms() < until_ms)
        turn(client, 1000);
    cr_assert(*count >= least, "%d functions were called, expected %d", *count, least);
}

rlock_status called_await(rlock_client *client, const called *done)
{
    called_await_count(client, &done->times, 1);
    return done->status;
}

void called_process_for(rlock_client *client, int64_t ms)
{
    for (int64_t until_ms = now_ms() + ms, left_ms; (left_ms = until_ms - now_ms()) > 0;)
        turn(client, (int)left_ms);
}

rlock_lock_options called_options(int64_t owner, int64_t wait_ms)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = owner;
    options.wait_ms = wait_ms;
    return options;
}

rlock_status called_lock(rlock_client *client, rlock *lock, int64_t owner, int64_t wait_ms)
{
    called done = {0};
    rlock_lock_options options = called_options(owner, wait_ms);
    assert_ok(rlock_lock_async(lock, &options, called_note, &done));
    return called_await(client, &done);
}

rlock_status called_unlock(rlock_client *client, rlock *lock, int64_t owner)
{
    called done = {0};
    assert_ok(rlock_unlock_async(lock, &(rlock_owner){owner}, called_note, &done));
    return called_await(client, &done);
}
