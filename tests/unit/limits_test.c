/* Limits: the greatest replies that servers have reason to send fit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/limits.h"
#include "tests/fault/support/bytes.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static redisReader *reader;

static void open_reader(void)
{
    reader = redisReaderCreate();
    cr_assert(reader && rli_limits_set(reader));
}

static void close_reader(void)
{
    rli_limits_clear(reader);
    redisReaderFree(reader);
}

TestSuite(limits, .init = open_reader, .fini = close_reader);

#define SLOTS 16384

/* Feeds `length` bytes as a connection does. The last whole reply among them; NULL: there is none, or trouble. */
static redisReply *feed(const char *data, size_t length)
{
    redisReply *last = NULL, *reply;
    while (length > 0 && !rli_limits_trouble(reader)) {
        size_t piece = length < 16384 ? length : 16384;
        cr_assert(redisReaderFeed(reader, data, piece) == REDIS_OK);
        data += piece;
        length -= piece;
        while (rli_limits_next(reader, &reply) && reply) {
            freeReplyObject(last);
            last = reply;
        }
    }
    return last;
}

static void add(bytes *to, const char *text)
{
    bytes_add(to, text, strlen(text));
}

static void add_number(bytes *to, char mark, long long number)
{
    char text[32];
    bytes_add(to, text, (size_t)snprintf(text, sizeof text, "%c%lld\r\n", mark, number));
}

static void add_times(bytes *to, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        add(to, text);
}

/* As Redis 7 says it: address, port, id, and the name of the host. */
#define NODE "*4\r\n$15\r\n255.255.255.255\r\n:65535\r\n$40\r\n0123456789012345678901234567890123456789\r\n" \
             "*2\r\n$8\r\nhostname\r\n$60\r\n012345678901234567890123456789012345678901234567890123456789\r\n"

Test(limits, fit_map_with_a_range_for_each_slot)
{
    bytes map = {0};
    enum { NODES = 11 };
    add_number(&map, '*', SLOTS);
    for (int slot = 0; slot < SLOTS; slot++) {
        add_number(&map, '*', 2 + NODES);
        add_number(&map, ':', slot);
        add_number(&map, ':', slot);
        add_times(&map, NODE, NODES);
    }
    redisReply *reply = feed(map.data, map.length);
    cr_assert(reply, "%s", rli_limits_trouble(reader));
    cr_assert(reply->elements == SLOTS && reply->element[SLOTS - 1]->element[1]->integer == SLOTS - 1);
    freeReplyObject(reply);
    bytes_free(&map);
}

Test(limits, fit_queue_of_half_a_million_waiters)
{
    bytes look = {0};
    enum { WAITERS = 500000 };
    add(&look, "*2\r\n:1000\r\n");
    add_number(&look, '*', 2 * WAITERS);
    add_times(&look, "$56\r\n01234567-0123-4123-8123-0123456789ab:1234567890123456789\r\n:3155760000000\r\n", WAITERS);
    redisReply *reply = feed(look.data, look.length);
    cr_assert(reply, "%s", rli_limits_trouble(reader));
    cr_assert(reply->element[1]->elements == 2 * WAITERS);
    freeReplyObject(reply);
    bytes_free(&look);
}

/* A connection lives for years: earlier answers do not count for the next one. */
Test(limits, are_for_each_reply_alone)
{
    bytes one = {0};
    add_number(&one, '*', RLI_REPLY_ELEMENTS / 2);
    add_times(&one, "$30\r\n012345678901234567890123456789\r\n", RLI_REPLY_ELEMENTS / 2);
    for (int i = 0; i < 4; i++) {
        redisReply *reply = feed(one.data, one.length);
        cr_assert(reply, "reply %d: %s", i, rli_limits_trouble(reader));
        freeReplyObject(reply);
    }
    bytes_free(&one);
}

static void nest(bytes *to, int depth)
{
    add_times(to, "*1\r\n", depth);
    add(to, ":1\r\n");
}

Test(limits, allow_arrays_as_deep_as_they_say_and_no_deeper)
{
    bytes deep = {0};
    nest(&deep, RLI_REPLY_DEPTH);
    redisReply *reply = feed(deep.data, deep.length);
    cr_assert(reply, "%s", rli_limits_trouble(reader));
    freeReplyObject(reply);
    bytes_free(&deep);
    nest(&deep, RLI_REPLY_DEPTH + 1);
    cr_assert(!feed(deep.data, deep.length));
    assert_words(rli_limits_trouble(reader), "nested more than");
    bytes_free(&deep);
}

/* Each array alone would do. */
Test(limits, count_the_elements_of_inner_arrays)
{
    bytes wide = {0};
    add_number(&wide, '*', RLI_REPLY_ELEMENTS / 2);
    add_times(&wide, "*2\r\n:1\r\n:2\r\n", RLI_REPLY_ELEMENTS / 2);
    cr_assert(!feed(wide.data, wide.length));
    assert_words(rli_limits_trouble(reader), "elements");
    bytes_free(&wide);
}

/* Parsed elements count, too. */
Test(limits, count_the_bytes_of_elements_that_have_come)
{
    static char block[1 << 20];
    bytes endless = {0};
    memset(block, 'x', sizeof block);
    add_number(&endless, '*', 1000);
    for (int i = 0; i < 70; i++) {
        add_number(&endless, '$', sizeof block);
        bytes_add(&endless, block, sizeof block);
        add(&endless, "\r\n");
    }
    cr_assert(!feed(endless.data, endless.length));
    assert_words(rli_limits_trouble(reader), "longer than 64 MiB");
    bytes_free(&endless);
}

/* Nothing that follows is believed, though it looks like a reply. */
Test(limits, let_nothing_through_after_trouble)
{
    bytes line = {0};
    redisReply *reply = NULL;
    add(&line, "+");
    add_times(&line, "0123456789", RLI_LINE_BYTES / 10 + 1);
    cr_assert(!feed(line.data, line.length));
    assert_words(rli_limits_trouble(reader), "a line longer than");
    cr_assert(redisReaderFeed(reader, "\r\n:1\r\n", 6) == REDIS_OK);
    cr_assert(!rli_limits_next(reader, &reply) && !reply);
    bytes_free(&line);
}
