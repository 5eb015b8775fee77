/* The fault proxy itself: what it keeps, cuts and counts is what the other tests believe. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/stage.h"
#include "tests/support/certificates.h"
#include "tests/support/event.h"
#include "tests/support/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static proxy *between;

static void open_between(void)
{
    stage.server = server_start();
    between = proxy_start(stage.server);
}

static void close_between(void)
{
    proxy_stop(between);
    stage_close();
}

TestSuite(proxy, .init = open_between, .fini = close_between);

static void open_on_port(void)
{
    stage.server = server_start();
    between = proxy_start_port(stage.server);
}

static redisContext *reach(void)
{
    redisContext *context = redisConnectUnixWithTimeout(proxy_socket(between), (struct timeval){.tv_sec = 5});
    cr_assert(context && !context->err, "no connection: %s", context ? context->errstr : "");
    redisSetTimeout(context, (struct timeval){.tv_sec = 5});
    return context;
}

static redisContext *reach_port(void)
{
    redisContext *context = redisConnectWithTimeout("127.0.0.1", proxy_port(between), (struct timeval){.tv_sec = 5});
    cr_assert(context && !context->err, "no connection: %s", context ? context->errstr : "");
    redisSetTimeout(context, (struct timeval){.tv_sec = 5});
    return context;
}

static void send_text(redisContext *context, const char *command)
{
    char *bytes = NULL;
    int length = redisFormatCommand(&bytes, command);
    cr_assert(write(context->fd, bytes, (size_t)length) == length);
    free(bytes);
}

/* All that comes until the connection ends. */
static size_t read_to_end(redisContext *context, char *to, size_t size)
{
    size_t got = 0;
    ssize_t n;
    while (got < size && (n = recv(context->fd, to + got, size - got, 0)) > 0)
        got += (size_t)n;
    return got;
}

Test(proxy, passes_commands_and_answers)
{
    redisContext *context = reach();
    redisReply *reply = redisCommand(context, "ECHO %s", "hello");
    cr_assert_str_eq(reply->str, "hello");
    freeReplyObject(reply);
    redisFree(context);
    cr_assert(proxy_accepted(between) == 1);
}

/* Kept bytes outlive their sender's connection. */
Test(proxy, runs_a_kept_request_after_its_client_has_hung_up)
{
    int rule = proxy_add(between, &(proxy_rule){.act = PROXY_HOLD_REQUEST, .text = "late"});
    redisContext *context = reach();
    send_text(context, "SET late yes");
    send_text(context, "SET behind yes");
    cr_assert(proxy_await(between, rule, PROXY_SEEN, 1, 5000));
    redisFree(context);
    cr_assert(server_integer(stage.server, "EXISTS late behind") == 0);
    proxy_release(between, rule);
    cr_assert(proxy_await(between, rule, PROXY_LATE, 1, 5000));
    cr_assert(server_wait_exists(stage.server, "behind", true, 5000));
    cr_assert(server_integer(stage.server, "EXISTS late behind") == 2);
}

Test(proxy, keeps_an_answer_until_it_is_released)
{
    int rule = proxy_add(between, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "INCR"});
    redisContext *context = reach();
    send_text(context, "INCR n");
    cr_assert(proxy_await(between, rule, PROXY_ANSWERED, 1, 5000));
    char byte;
    cr_assert(recv(context->fd, &byte, 1, MSG_DONTWAIT) < 0);
    proxy_release(between, rule);
    redisReply *reply = NULL;
    cr_assert(redisGetReply(context, (void **)&reply) == REDIS_OK && reply->integer == 1);
    freeReplyObject(reply);
    redisFree(context);
}

Test(proxy, cuts_before_and_after_the_server_ran_a_request)
{
    proxy_add(between, &(proxy_rule){.act = PROXY_CUT_BEFORE, .text = "SET", .and_text = "before"});
    proxy_add(between, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = "SET", .and_text = "after", .skip = 1});
    char answer[64];
    redisContext *context = reach();
    send_text(context, "SET before yes");
    cr_assert(read_to_end(context, answer, sizeof answer) == 0);
    redisFree(context);
    context = reach();
    send_text(context, "SET after once");
    send_text(context, "SET after twice");
    cr_assert(read_to_end(context, answer, sizeof answer) == strlen("+OK\r\n"));
    redisFree(context);
    cr_assert(server_integer(stage.server, "EXISTS before") == 0);
    char *value = server_text(stage.server, "GET after");
    cr_assert_str_eq(value, "twice");
    free(value);
}

Test(proxy, shortens_an_answer_to_any_length)
{
    static const char whole[] = "$5\r\nhello\r\n";
    for (int64_t length = 0; length < (int64_t)strlen(whole); length++) {
        int rule = proxy_add(between, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = "ECHO", .amount = length});
        char answer[64];
        redisContext *context = reach();
        send_text(context, "ECHO hello");
        cr_assert(read_to_end(context, answer, sizeof answer) == (size_t)length);
        cr_assert(memcmp(answer, whole, (size_t)length) == 0);
        redisFree(context);
        proxy_release(between, rule);
    }
}

Test(proxy, delays_a_request)
{
    proxy_add(between, &(proxy_rule){.act = PROXY_DELAY, .text = "PING", .times = 1, .amount = 200});
    redisContext *context = reach();
    int64_t since_ms = now_ms();
    freeReplyObject(redisCommand(context, "PING"));
    assert_between(now_ms() - since_ms, 199, 200 + at_most_ms(500));
    redisFree(context);
}

Test(proxy, passes_nothing_while_it_is_closed_to_both_sides)
{
    redisContext *context = reach();
    proxy_pass(between, false, false);
    send_text(context, "SET key yes");
    char byte;
    pass_ms(50); /* the time in which it might come */
    cr_assert(server_integer(stage.server, "EXISTS key") == 0);
    proxy_pass(between, true, false);
    cr_assert(server_wait_exists(stage.server, "key", true, 5000));
    cr_assert(recv(context->fd, &byte, 1, MSG_DONTWAIT) < 0);
    proxy_pass(between, true, true);
    cr_assert(recv(context->fd, &byte, 1, 0) == 1 && byte == '+');
    redisFree(context);
}

Test(proxy, refuses_connections_and_accepts_them_again)
{
    proxy_accept(between, false);
    redisContext *context = redisConnectUnix(proxy_socket(between));
    cr_assert(context && context->err);
    redisFree(context);
    proxy_accept(between, true);
    redisFree(reach());
}

/* The one connection that listens is cut at the message, the other one stays. */
Test(proxy, cuts_a_subscription_at_a_message)
{
    int rule = proxy_add(between, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = "news", .messages = true});
    redisContext *context = reach(), *listening = reach();
    freeReplyObject(redisCommand(listening, "SUBSCRIBE channel"));
    freeReplyObject(redisCommand(context, "PUBLISH channel news"));
    char byte;
    cr_assert(recv(listening->fd, &byte, 1, 0) == 0);
    cr_assert(proxy_count(between, rule, PROXY_ACTED) == 1);
    freeReplyObject(redisCommand(context, "PING"));
    cr_assert(proxy_connected(between) == 1);
    redisFree(context);
    redisFree(listening);
}

/* --- on a port --- */

TestSuite(proxy_port, .init = open_on_port, .fini = close_between);

Test(proxy_port, judges_requests_as_on_a_socket)
{
    int rule = proxy_add(between, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = "ECHO", .amount = 3});
    char answer[64];
    redisContext *context = reach_port();
    freeReplyObject(redisCommand(context, "PING"));
    send_text(context, "ECHO hello");
    cr_assert(read_to_end(context, answer, sizeof answer) == 3);
    cr_assert(proxy_count(between, rule, PROXY_ACTED) == 1);
    redisFree(context);
}

/* The port stays the proxy's: nobody can take it between the two. */
Test(proxy_port, refuses_connections_and_accepts_them_on_the_same_port_again)
{
    int port = proxy_port(between);
    proxy_accept(between, false);
    redisContext *context = redisConnect("127.0.0.1", port);
    cr_assert(context && context->err && strstr(context->errstr, "refused"));
    redisFree(context);
    proxy_accept(between, true);
    cr_assert(proxy_port(between) == port);
    redisFree(reach_port());
}

Test(proxy_port, hears_nobody_while_it_is_deaf)
{
    proxy_deafen(between, true);
    struct timeval patience = {.tv_usec = 300000};
    redisContext *context = redisConnectWithTimeout("127.0.0.1", proxy_port(between), patience);
    cr_assert(context && context->err, "it connected");
    redisFree(context);
    proxy_deafen(between, false);
    context = reach_port();
    freeReplyObject(redisCommand(context, "PING"));
    redisFree(context);
    cr_assert(proxy_accepted(between) == 1);
}

/* A limit counts every byte of a direction, of TLS as of anything else. */
Test(proxy_port, cuts_at_any_byte_of_either_direction)
{
    static const char whole[] = "$5\r\nhello\r\n";
    char answer[64];
    for (int64_t length = 0; length <= (int64_t)strlen(whole); length++) {
        proxy_limit(between, -1, length, false);
        redisContext *context = reach_port();
        send_text(context, "ECHO hello");
        cr_assert(read_to_end(context, answer, sizeof answer) == (size_t)length);
        cr_assert(memcmp(answer, whole, (size_t)length) == 0);
        redisFree(context);
    }
    proxy_limit(between, (int64_t)strlen("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$1\r\n1\r\n") - 1, -1, false);
    redisContext *context = reach_port();
    send_text(context, "SET key 1");
    cr_assert(read_to_end(context, answer, sizeof answer) == 0);
    redisFree(context);
    cr_assert(server_integer(stage.server, "EXISTS key") == 0);
}

Test(proxy_port, stalls_at_a_byte_and_passes_the_rest_later)
{
    proxy_limit(between, -1, 4, true);
    int rule = proxy_add(between, &(proxy_rule){.act = PROXY_NOTE, .text = "ECHO"});
    redisContext *context = reach_port();
    send_text(context, "ECHO hello");
    char answer[64];
    cr_assert(recv(context->fd, answer, 4, MSG_WAITALL) == 4 && memcmp(answer, "$5\r\n", 4) == 0);
    cr_assert(proxy_await(between, rule, PROXY_ANSWERED, 1, 5000));
    cr_assert(recv(context->fd, answer, 1, MSG_DONTWAIT) < 0);
    proxy_limit(between, -1, -1, false);
    cr_assert(recv(context->fd, answer, 7, MSG_WAITALL) == 7 && memcmp(answer, "hello\r\n", 7) == 0);
    redisFree(context);
}

Test(proxy_port, resets_connections_instead_of_ending_them)
{
    redisContext *context = reach_port();
    freeReplyObject(redisCommand(context, "PING"));
    proxy_reset(between, true);
    proxy_cut(between);
    char byte;
    cr_assert(recv(context->fd, &byte, 1, 0) < 0 && errno == ECONNRESET);
    redisFree(context);
}

/* A replica behind it gets its data whatever the test does to clients. */
RealTest(proxy_port, leaves_replication_alone)
{
    server *replica = server_start_with((const char *const[]){"--repl-diskless-sync-delay", "0", NULL});
    freeReplyObject(server_command(stage.server, "CONFIG SET repl-diskless-sync-delay 0"));
    freeReplyObject(server_command(replica, "REPLICAOF 127.0.0.1 %d", proxy_port(between)));
    freeReplyObject(server_command(stage.server, "SET key 1"));
    for (int64_t end_ms = limit_end_ms(10000); server_integer(stage.server, "WAIT 1 100") == 0;)
        cr_assert(now_ms() < end_ms, "the replica does not follow");
    proxy_cut(between);
    proxy_pass(between, false, false);
    proxy_limit(between, 0, 0, false);
    cr_assert(server_integer(stage.server, "INCR key") == 2);
    cr_assert(server_integer(stage.server, "WAIT 1 10000") == 1);
    cr_assert(proxy_connected(between) == 1);
    server_stop(replica);
}

RealTest(proxy_port, passes_tls_and_cuts_or_stalls_it)
{
    texts kept = {0};
    server *own = server_start_with(certificates_args(&kept, CERTIFICATE_SERVER, "no", NULL));
    proxy *before = proxy_start_port(own);
    const char *authority = certificate_file(CERTIFICATE_AUTHORITY);
    int rule = proxy_add(before, &(proxy_rule){.act = PROXY_NOTE});
    char *said = shell("redis-cli -h localhost -p %d --tls --cacert '%s' incr key", proxy_port(before), authority);
    cr_assert_str_eq(said, "1\n");
    free(said);
    cr_assert(proxy_count(before, rule, PROXY_SEEN) == 0 && proxy_accepted(before) >= 1);
    proxy_limit(before, -1, 100, false);
    shell_do("! redis-cli -h localhost -p %d --tls --cacert '%s' incr key", proxy_port(before), authority);
    proxy_limit(before, -1, -1, false);
    proxy_pass(before, true, false);
    shell_do("! timeout 1 redis-cli -h localhost -p %d --tls --cacert '%s' incr key", proxy_port(before), authority);
    cr_assert(server_integer(own, "GET key") == 1);
    proxy_stop(before);
    server_stop(own);
    texts_free(&kept);
}
