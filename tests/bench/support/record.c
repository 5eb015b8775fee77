/* A record of what a program sends to the server, word for word, so that another can send the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/record.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THE_END "the end of the record"

static void die(const char *what)
{
    fprintf(stderr, "bench: MONITOR: %s\n", what);
    exit(1);
}

redisContext *record_begin(bench_redis *redis)
{
    redisContext *heard = redis_connect(redis, "control");
    redisReply *reply = redisCommand(heard, "MONITOR");
    if (!reply || reply->type != REDIS_REPLY_STATUS)
        die("refused");
    freeReplyObject(reply);
    return heard;
}

static int hex_digit(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0';
}

/* One character of a quoted word; *at moves on. */
static char unescape(const char **at)
{
    static const char letters[] = "nrtab", meant[] = "\n\r\t\a\b";
    char c = *(*at)++;
    if (c != '\\')
        return c;
    c = *(*at)++;
    const char *letter = strchr(letters, c);
    if (c == 'x') {
        c = (char)(hex_digit((*at)[0]) * 16 + hex_digit((*at)[1]));
        *at += 2;
    } else if (letter) {
        c = meant[letter - letters];
    }
    return c;
}

/* The words of `time [db address] "word" "word"…`. */
static void read_words(bench_request *request, const char *line)
{
    for (const char *at = strstr(line, "] \""); at && (at = strchr(at, '"'));) {
        char *word = malloc(strlen(at)), *to = word;
        if (!word || request->count == RECORD_WORDS)
            die("a request of too many words");
        for (at++; *at && *at != '"';)
            *to++ = unescape(&at);
        request->words[request->count] = word;
        request->lengths[request->count++] = (size_t)(to - word);
        at += *at == '"';
    }
}

void record_end(bench_redis *redis, redisContext *heard, bench_record *record)
{
    *record = (bench_record){0};
    freeReplyObject(redis_ask(redis, "ECHO %s", THE_END));
    for (bool more = true; more;) {
        redisReply *reply;
        if (redisGetReply(heard, (void **)&reply) != REDIS_OK)
            die(heard->errstr);
        more = !strstr(reply->str, THE_END);
        if (more && !strstr(reply->str, " lua] ")) {
            if (record->count == RECORD_REQUESTS)
                die("too many requests");
            read_words(&record->requests[record->count++], reply->str);
        }
        freeReplyObject(reply);
    }
    redisFree(heard);
}

void record_free(bench_record *record)
{
    for (int i = 0; i < record->count; i++) {
        for (int word = 0; word < record->requests[i].count; word++)
            free(record->requests[i].words[word]);
    }
    record->count = 0;
}
