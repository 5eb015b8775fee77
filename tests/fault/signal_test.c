/* Signal locks: a server that ends the wait for a signal before its time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/support/test.h"

#include <string.h>

TestSuite(signal);

/* The notes. */
enum { BLOCKED, AGAIN };

/* It is held until it has been waited for three times. */
static bool waits_for_nothing(impostor_peer *peer, const char *request)
{
    static _Thread_local bool blocked; /* over this connection */
    if (strstr(request, "EVAL"))
        return impostor_say(peer, impostor_noted(peer->of, BLOCKED) < 3 ? ":600000\r\n" : "$-1\r\n");
    if (!strstr(request, "BLPOP"))
        return impostor_answer(peer, request);
    impostor_note(peer->of, BLOCKED, 1);
    impostor_note(peer->of, AGAIN, blocked);
    blocked = true;
    return impostor_say(peer, "*-1\r\n");
}

/* To ask it again at once, over and over, would keep a processor and the network busy. */
Test(signal, wait_that_ends_at_once_ends_its_connection)
{
    impostor *server = impostor_start(waits_for_nothing, NULL);
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, impostor_url(server, "timeout=30000")));
    rlock *lock = rlock_get_signal_lock(client, "order");
    assert_ok(rlock_try_lock(lock, 60000, 60000));
    assert_between(impostor_noted(server, BLOCKED), 3, INT64_MAX);
    assert_between(impostor_noted(server, AGAIN), 0, 0);
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(server);
}
