/* Words of commands, and replies as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/pair.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void words_add(word_list *to, const char *at, size_t length)
{
    if (to->count == to->room) {
        to->room = to->room * 2 + 4;
        to->at = realloc(to->at, (size_t)to->room * sizeof *to->at);
        to->lengths = realloc(to->lengths, (size_t)to->room * sizeof *to->lengths);
        cr_assert(to->at && to->lengths);
    }
    char *copy = malloc(length + 1);
    cr_assert(copy != NULL);
    memcpy(copy, at, length);
    copy[length] = 0;
    to->lengths[to->count] = length;
    to->at[to->count++] = copy;
}

word_list words_divide(const char *line)
{
    word_list words = {0};
    for (const char *at = line; *at;) {
        size_t length = strcspn(at, " ");
        bool empty = length == 1 && *at == '~';
        if (length)
            words_add(&words, at, empty ? 0 : length);
        at += length + (at[length] == ' ');
    }
    return words;
}

void words_free(word_list *own)
{
    for (int i = 0; i < own->count; i++)
        free(own->at[i]);
    free(own->at);
    free(own->lengths);
    *own = (word_list){0};
}

static void show_bytes(FILE *out, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)at[i];
        if (byte >= ' ' && byte < 0x7f)
            fputc(byte, out);
        else
            fprintf(out, "\\x%02x", byte);
    }
}

char *words_show(const word_list *own)
{
    char *shown = NULL;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    cr_assert(out != NULL);
    for (int i = 0; i < own->count; i++) {
        fputs(i ? " " : "", out);
        fputs(own->lengths[i] && !strchr(own->at[i], ' ') ? "" : "\"", out);
        show_bytes(out, own->at[i], own->lengths[i]);
        fputs(own->lengths[i] && !strchr(own->at[i], ' ') ? "" : "\"", out);
    }
    fclose(out);
    return shown;
}

int reply_groups(const word_list *words)
{
    static const struct {
        const char *name;
        int groups;
    } open[] = {{"HGETALL", 2}, {"HKEYS", 1}, {"HVALS", 1}, {"SMEMBERS", 1}, {"KEYS", 1}, {"SCAN", -1}, {"HSCAN", -1}, {"EXEC", -2}};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        if (strcasecmp(words->at[0], open[i].name) == 0)
            return open[i].groups;
    }
    if (strcasecmp(words->at[0], "PUBSUB") == 0 && words->count > 1 && strcasecmp(words->at[1], "CHANNELS") == 0)
        return 1;
    return words->count > 2 && strstr(words->at[0], "EVAL") && strcmp(words->at[2], "5") == 0 ? -1 : 0;
}

static int by_text(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static void show_groups(FILE *out, const redisReply *reply, size_t groups)
{
    size_t count = reply->elements / groups;
    char **parts = calloc(count + 1, sizeof *parts);
    cr_assert(parts != NULL);
    for (size_t i = 0; i < count; i++) {
        size_t size;
        FILE *part = open_memstream(&parts[i], &size);
        for (size_t k = 0; k < groups; k++) {
            char *one = reply_show(reply->element[i * groups + k], 0);
            fprintf(part, "%s%s", k ? " " : "", one);
            free(one);
        }
        fclose(part);
    }
    qsort(parts, count, sizeof *parts, by_text);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%s", i ? ", " : "", parts[i]);
        free(parts[i]);
    }
    free(parts);
}

/* -1: the parts of its parts are sorted, in groups of four where they are of holders; -2: of all its parts. */
char *reply_show(const redisReply *reply, int sorted)
{
    char *shown = NULL;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    cr_assert(out != NULL);
    if (!reply) {
        fputs("(nothing)", out);
    } else if (reply->type == REDIS_REPLY_ARRAY) {
        fputc('[', out);
        if (sorted > 0 && reply->elements % (size_t)sorted == 0 && reply->elements)
            show_groups(out, reply, (size_t)sorted);
        for (size_t i = 0; sorted <= 0 && i < reply->elements; i++) {
            bool holders = sorted < 0 && reply->elements == 7 && i == 2;
            int within = sorted == -2 ? 1 : holders ? 4 : sorted < 0 && reply->elements == 2;
            char *one = reply_show(reply->element[i], within);
            fprintf(out, "%s%s", i ? ", " : "", one);
            free(one);
        }
        fputc(']', out);
    } else if (reply->type == REDIS_REPLY_INTEGER) {
        fprintf(out, "(integer) %lld", reply->integer);
    } else if (reply->type == REDIS_REPLY_NIL) {
        fputs("(nil)", out);
    } else {
        fputs(reply->type == REDIS_REPLY_ERROR ? "(error) " : reply->type == REDIS_REPLY_STATUS ? "(status) " : "\"", out);
        show_bytes(out, reply->str, reply->len);
        fputs(reply->type == REDIS_REPLY_STRING ? "\"" : "", out);
    }
    fclose(out);
    return shown;
}
