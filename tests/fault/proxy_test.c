/* The fault proxy itself: what it keeps, cuts and counts is what the other tests believe. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

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

TestSuite(proxy, .init = open_between, .fini = close_between, .timeout = 30);

static redisContext *reach(void)
{
    redisContext *context = redisConnectUnixWithTimeout(proxy_socket(between), (struct timeval){.tv_sec = 5});
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
