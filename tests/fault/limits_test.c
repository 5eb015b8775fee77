/* Limits: a server whose answers have no end, or are no answers, costs its clients a connection and nothing more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/bytes.h"
#include "tests/fault/support/impostor.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

TestSuite(limits);

#define NAME "order"
#define ONE_ATTEMPT "timeout=30000&retryAttempts=0"
#define SEVERAL_ATTEMPTS "timeout=30000&retryAttempts=5&retryBaseDelay=10&retryMaxDelay=20&subscriptionTimeout=30000"

#define MEGABYTE (INT64_C(1) << 20)

/* The notes. */
enum { CONNECTED, ASKED, SUBSCRIBED, TAKEN, CUT_SHORT };

/* An odd answer: `start`, then `piece` over and over, `most` bytes of it. */
typedef struct oddity {
    const char *start, *piece;
    int64_t most;
} oddity;

static const oddity deep = {"", "*1\r\n", 4 * MEGABYTE};
static const oddity wide = {"*2000000000\r\n", ":1\r\n", 512 * MEGABYTE};
static const oddity endless_bulk = {"$2000000000\r\n", "xxxxxxxx", 512 * MEGABYTE};
static const oddity endless_line = {"+", "xxxxxxxx", 512 * MEGABYTE};
static const oddity other_protocol = {"HTTP/1.1 400 Bad Request\r\n\r\n", "", 0};
static const oddity unasked = {"$-1\r\n:1\r\n", "", 0};

static void say_odd(impostor_peer *peer)
{
    const oddity *odd = peer->context;
    bool said = impostor_say(peer, odd->start);
    if (!odd->most)
        return;
    int64_t taken = said ? impostor_flood(peer, odd->piece, odd->most) : 0;
    impostor_note(peer->of, TAKEN, taken);
    impostor_note(peer->of, CUT_SHORT, taken < odd->most);
}

static int64_t count(impostor_peer *peer, int which)
{
    impostor_note(peer->of, which, 1);
    return impostor_noted(peer->of, which);
}

static bool is_script(const char *request)
{
    return strstr(request, "EVAL") != NULL;
}

static rlock_client *open_at(impostor *server, const char *query)
{
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, impostor_url(server, query)));
    return client;
}

/* The third number of a file that says how large the buffers of sockets are: the most that one grows to. */
static int64_t greatest_buffer(const char *path)
{
    long long most = 0;
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL && fscanf(file, "%*d %*d %lld", &most) == 1, "%s does not say how large buffers are", path);
    fclose(file);
    return most;
}

/* How much the client and the sockets of both sides hold at most when the client refuses an answer at its first bytes:
 * 10 MB on some systems, 36 MB on others. */
static int64_t in_flight(void)
{
    return greatest_buffer("/proc/sys/net/ipv4/tcp_rmem") + greatest_buffer("/proc/sys/net/ipv4/tcp_wmem") + MEGABYTE;
}

/* --- instead of an answer --- */

static bool first_answer_is_odd(impostor_peer *peer, const char *request)
{
    if (!*request)
        count(peer, CONNECTED);
    if (!is_script(request) || count(peer, ASKED) > 1)
        return impostor_answer(peer, request);
    say_odd(peer);
    return true;
}

/* The message describes the odd answer, and the next call is answered over a new connection. */
static int64_t refused_as(const oddity *odd, const char *words)
{
    impostor *server = impostor_start(first_answer_is_odd, odd);
    rlock_client *client = open_at(server, ONE_ATTEMPT);
    rlock *lock = rlock_get_lock(client, NAME);
    assert_status(rlock_try_lock(lock, 0, 60000), RLOCK_UNAVAILABLE);
    assert_error(words, "127.0.0.1");
    assert_ok(rlock_try_lock(lock, 0, 60000));
    if (odd->most)
        cr_assert(impostor_await(server, CUT_SHORT, 1, 20000), "all of it was taken");
    int64_t taken = impostor_noted(server, TAKEN);
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(server);
    return taken;
}

Test(limits, answer_of_arrays_in_arrays_without_end_is_refused)
{
    refused_as(&(oddity){.start = "", .piece = "*1\r\n", .most = 512 * MEGABYTE}, "nested more than");
}

Test(limits, answer_of_more_elements_than_fit_is_refused)
{
    assert_between(refused_as(&wide, "elements"), 0, in_flight());
}

Test(limits, answer_without_end_is_refused)
{
    assert_between(refused_as(&endless_bulk, "longer than"), 0, 64 * MEGABYTE + in_flight());
}

Test(limits, line_without_end_is_refused)
{
    assert_between(refused_as(&endless_line, "line longer than"), 0, in_flight());
}

Test(limits, answer_of_another_protocol_is_refused)
{
    refused_as(&other_protocol, "not Redis's protocol");
}

/* Bytes behind a right answer would be taken for the answer to the next request. */
Test(limits, answer_to_no_request_ends_the_connection)
{
    impostor *server = impostor_start(first_answer_is_odd, &unasked);
    rlock_client *client = open_at(server, SEVERAL_ATTEMPTS);
    rlock *lock = rlock_get_lock(client, NAME), *another = rlock_get_lock(client, "another");
    assert_ok(rlock_try_lock(lock, 0, 60000));
    cr_assert(impostor_noted(server, CONNECTED) == 1);
    assert_ok(rlock_try_lock(another, 0, 60000));
    cr_assert(impostor_noted(server, CONNECTED) == 2);
    rlock_free(lock);
    rlock_free(another);
    rlock_client_close(client);
    impostor_stop(server);
}

/* --- instead of the answer to the greeting --- */

static bool greeting_is_odd(impostor_peer *peer, const char *request)
{
    if (*request)
        say_odd(peer);
    return *request == 0;
}

static void open_refused_as(const oddity *odd, const char *words)
{
    impostor *server = impostor_start(greeting_is_odd, odd);
    rlock_client *client = NULL;
    assert_status(rlock_client_open(&client, impostor_url(server, ONE_ATTEMPT)), RLOCK_UNAVAILABLE);
    assert_error(words, "127.0.0.1");
    impostor_stop(server);
}

Test(limits, greeting_is_answered_within_them)
{
    open_refused_as(&deep, "nested more than");
    open_refused_as(&wide, "elements");
    open_refused_as(&endless_bulk, "longer than");
    open_refused_as(&endless_line, "line longer than");
    open_refused_as(&other_protocol, "not Redis's protocol");
}

/* --- instead of a message --- */

static bool first_message_is_odd(impostor_peer *peer, const char *request)
{
    if (is_script(request) && count(peer, ASKED) == 1)
        return impostor_say(peer, ":600000\r\n"); /* held by another */
    bool subscribes = strstr(request, "\r\nSUBSCRIBE") != NULL;
    /* It is asked again when the channel is confirmed, and is held yet. */
    if (is_script(request) && impostor_noted(peer->of, SUBSCRIBED) == 1)
        return impostor_say(peer, ":600000\r\n");
    bool said = impostor_answer(peer, request);
    if (subscribes && count(peer, SUBSCRIBED) == 1)
        say_odd(peer);
    return said;
}

/* The waiter hears of the end of the connection, and asks again. */
static int64_t survived_by_waiter(const oddity *odd)
{
    impostor *server = impostor_start(first_message_is_odd, odd);
    rlock_client *client = open_at(server, SEVERAL_ATTEMPTS);
    rlock *lock = rlock_get_lock(client, NAME);
    assert_ok(rlock_try_lock(lock, 60000, 60000));
    int64_t taken = impostor_noted(server, TAKEN);
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(server);
    return taken;
}

Test(limits, messages_are_within_them)
{
    survived_by_waiter(&deep);
    survived_by_waiter(&wide);
    assert_between(survived_by_waiter(&endless_bulk), 0, 64 * MEGABYTE + in_flight());
    assert_between(survived_by_waiter(&endless_line), 0, in_flight());
    survived_by_waiter(&other_protocol);
}

/* --- the map of a cluster --- */

static bool answer_with_map(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "\r\nSLOTS"))
        return impostor_answer(peer, request);
    return impostor_say(peer, peer->context);
}

static rlock_status open_with_map(const char *map)
{
    char url[64];
    rlock_client *client = NULL;
    impostor *node = impostor_start(answer_with_map, map);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d/?timeout=20000", impostor_port(node));
    rlock_status status = rlock_client_open(&client, url);
    rlock_client_close(client);
    impostor_stop(node);
    return status;
}

#define RANGE(first, last, port) "*3\r\n:" first "\r\n:" last "\r\n*2\r\n$0\r\n\r\n:" port "\r\n"

/* A slot has one master. Half a million ranges of all slots would be as many times the work. */
Test(limits, map_in_which_a_slot_stands_twice_is_refused)
{
    assert_status(open_with_map("*2\r\n" RANGE("0", "16383", "7000") RANGE("0", "16383", "7000")), RLOCK_SERVER);
    assert_error("CLUSTER SLOTS");
}

Test(limits, map_with_a_port_that_is_none_is_refused)
{
    assert_status(open_with_map("*1\r\n" RANGE("0", "16383", "4294967296")), RLOCK_SERVER);
    assert_error("CLUSTER SLOTS");
    assert_status(open_with_map("*1\r\n" RANGE("0", "16383", "-1")), RLOCK_SERVER);
    assert_error("CLUSTER SLOTS");
}

/* --- many waiters, many clients --- */

enum { CROWD = 100000, CLIENTS = 500000 };

__attribute__((format(printf, 2, 3))) static void add(bytes *to, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    bytes_add(to, text, (size_t)vsnprintf(text, sizeof text, format, args));
    va_end(args);
}

static bool say_all(impostor_peer *peer, bytes *answer)
{
    bytes_add(answer, "", 1);
    bool said = impostor_say(peer, answer->data);
    bytes_free(answer);
    return said;
}

static bool answer_with_crowd(impostor_peer *peer, const char *request)
{
    bytes list = {0}, answer = {0};
    if (strstr(request, "\r\nLIST")) {
        for (int i = 0; i < CLIENTS; i++)
            add(&list, "id=%d addr=a name=rlock:%d:h:1\n", i, i);
        add(&answer, "$%zu\r\n", list.length);
        bytes_move(&list, &answer, list.length);
        add(&answer, "\r\n");
        bytes_free(&list);
        return say_all(peer, &answer);
    }
    if (!is_script(request))
        return impostor_answer(peer, request);
    add(&answer, "*7\r\n:-2\r\n$-1\r\n*0\r\n*%d\r\n", 2 * CROWD);
    for (int i = 0; i < CROWD; i++)
        add(&answer, "$9\r\n%d:1\r\n:1000\r\n", 1000000 + i);
    add(&answer, "$-1\r\n$-1\r\n$-1\r\n");
    return say_all(peer, &answer);
}

/* As many clients are looked for as there are waiters, among as many connections as the server has. */
Test(limits, inspection_of_a_crowd_ends)
{
    impostor *server = impostor_start(answer_with_crowd, NULL);
    rlock_client *client = open_at(server, ONE_ATTEMPT);
    rlock_inspection *found = NULL;
    assert_ok(rlock_inspect(client, NAME, &found));
    cr_assert(found->waiter_count == CROWD);
    assert_ok(rlock_inspect_processes(client, NAME, found));
    cr_assert(found->process_count == 0); /* none of them is a waiter's */
    rlock_inspection_free(found);
    rlock_client_close(client);
    impostor_stop(server);
}

/* --- many replicas --- */

/* As many as fit into the greatest answer. */
enum { REPLICAS = 8000000 };

static bytes replicas_answer;

static void make_replicas_answer(void)
{
    bytes list = {0};
    add(&list, "role:master\n");
    for (int i = 0; i < REPLICAS; i++)
        bytes_add(&list, "slave1:\n", 8);
    add(&replicas_answer, "$%zu\r\n", list.length);
    bytes_move(&list, &replicas_answer, list.length);
    bytes_add(&replicas_answer, "\r\n", 3);
    bytes_free(&list);
}

static bool answer_with_replicas(impostor_peer *peer, const char *request)
{
    return strstr(request, "\r\nreplication") ? impostor_say(peer, replicas_answer.data) : impostor_answer(peer, request);
}

/* Each is looked for in its own line, however many lines there are: to look through the rest each time takes hours. A busy
 * machine takes seconds for the answer alone. */
Test(limits, count_of_replicas_none_of_which_is_online_ends)
{
    make_replicas_answer();
    impostor *server = impostor_start(answer_with_replicas, NULL);
    rlock_client *client = NULL;
    char url[64];
    snprintf(url, sizeof url, "redis-replicated://127.0.0.1:%d?timeout=100000", impostor_port(server));
    assert_ok(rlock_client_open(&client, url));
    rlock_client_close(client);
    impostor_stop(server);
    bytes_free(&replicas_answer);
}
