/* A record of what a program sends to the server, word for word, so that another can send the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/record.h"

#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THE_END "the end of the record"

bool record_begin(redisContext *heard)
{
    redisReply *reply = redisCommand(heard, "MONITOR");
    bool right = reply && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return right || trouble("MONITOR was refused");
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
static bool read_words(bench_request *request, const char *line)
{
    for (const char *at = strstr(line, "] \""); at && (at = strchr(at, '"'));) {
        char *word = malloc(strlen(at)), *to = word;
        if (!word || request->count == RECORD_WORDS) {
            free(word);
            return trouble("MONITOR: a request of too many words");
        }
        for (at++; *at && *at != '"';)
            *to++ = unescape(&at);
        *to = 0; /* there is room: the quotes are left out */
        request->words[request->count] = word;
        request->lengths[request->count++] = (size_t)(to - word);
        at += *at == '"';
    }
    return true;
}

static bool take_line(bench_record *record, const char *line, const char *about)
{
    if (strstr(line, " lua] ") || !strstr(line, about))
        return true;
    return record->count < RECORD_REQUESTS ? read_words(&record->requests[record->count++], line)
                                           : trouble("MONITOR: too many requests");
}

bool record_end(redisContext *heard, redisContext *control, const char *about, bench_record *record)
{
    bool right = true;
    *record = (bench_record){0};
    freeReplyObject(redisCommand(control, "ECHO %s", THE_END));
    for (bool more = true; right && more;) {
        redisReply *reply = NULL;
        if (redisGetReply(heard, (void **)&reply) != REDIS_OK)
            return trouble("MONITOR: %s", heard->errstr);
        more = !strstr(reply->str, THE_END);
        right = !more || take_line(record, reply->str, about);
        freeReplyObject(reply);
    }
    return right;
}

void record_free(bench_record *record)
{
    for (int i = 0; i < record->count; i++) {
        for (int word = 0; word < record->requests[i].count; word++)
            free(record->requests[i].words[word]);
    }
    record->count = 0;
}
