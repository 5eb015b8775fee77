/* The keyspace of the test's server as text, in the form of the golden file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists read whole, so they keep their order; scores belong to their members. */
static const struct reading {
    const char *type, *command;
} readings[] = {
    {"string", "GET %b"},
    {"hash", "HGETALL %b"},
    {"list", "LRANGE %b 0 -1"},
    {"zset", "ZRANGE %b 0 -1 WITHSCORES"},
    {"set", "SMEMBERS %b"},
};

static void write_bytes(FILE *out, const redisReply *text)
{
    for (size_t i = 0; i < text->len; i++) {
        unsigned char byte = (unsigned char)text->str[i];
        if (byte >= ' ' && byte < 0x7f && byte != '\\') /* a backslash begins what stands for a byte */
            fputc(byte, out);
        else
            fprintf(out, "\\x%02x", byte);
    }
}

static void write_value(FILE *out, const redisReply *value)
{
    if (value->type != REDIS_REPLY_ARRAY) {
        write_bytes(out, value);
        return;
    }
    fputc('[', out);
    for (size_t i = 0; i < value->elements; i++) {
        if (i)
            fputs(", ", out);
        write_bytes(out, value->element[i]);
    }
    fputc(']', out);
}

static void write_key(FILE *out, server *self, const redisReply *key)
{
    redisReply *type = server_command(self, "TYPE %b", key->str, key->len);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        if (strcmp(type->str, readings[i].type) != 0)
            continue;
        redisReply *value = server_command(self, readings[i].command, key->str, key->len);
        write_bytes(out, key);
        fprintf(out, " %s ", type->str);
        write_value(out, value);
        fputs(" \n", out);
        freeReplyObject(value);
    }
    freeReplyObject(type);
}

static int by_bytes(const void *a, const void *b)
{
    const redisReply *left = *(redisReply *const *)a, *right = *(redisReply *const *)b;
    size_t shared = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->str, right->str, shared);
    return order ? order : (left->len > right->len) - (left->len < right->len);
}

char *server_keyspace(server *self)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out != NULL);
    redisReply *keys = server_command(self, "KEYS *");
    if (keys->elements) /* else there is no array at all */
        qsort(keys->element, keys->elements, sizeof *keys->element, by_bytes);
    for (size_t i = 0; i < keys->elements; i++)
        write_key(out, self, keys->element[i]);
    freeReplyObject(keys);
    fclose(out);
    return text;
}
