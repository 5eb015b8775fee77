/* The keyspace that a model expects, and how the server's differs from it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/keyspace.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLIENTS 8
#define BINDINGS 1024
#define ID_LENGTH 36
#define MEMBERS 64
#define MOST_LOOKS 5000 /* at what settles */
#define NO_EXPIRY INT64_C(922337203685477) /* a permit's: docs/internals/wire.md */

/* What the server has, and what the model calls it. */
static struct binding {
    char observed[80], label[LABEL];
} bindings[BINDINGS];
static size_t binding_count, client_count;
static char client_ids[CLIENTS][ID_LENGTH + 1];

void expect_key(expected *self, span end, const char *format, ...)
{
    cr_assert(self->count < EXPECTED_KEYS, "too many keys in a model");
    expected_key *key = &self->keys[self->count++];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(key->text, sizeof key->text, format, arguments);
    va_end(arguments);
    cr_assert(length >= 0 && (size_t)length < sizeof key->text, "a key too long for a model");
    key->end = end;
}

void keyspace_begin(const char *const *ids, size_t count)
{
    cr_assert(count <= CLIENTS);
    for (size_t i = 0; i < count; i++)
        snprintf(client_ids[i], sizeof client_ids[i], "%s", ids[i]);
    client_count = count;
    binding_count = 0;
}

static void bind(const char *observed, const char *label)
{
    cr_assert(binding_count < BINDINGS, "too many labels in one sequence");
    struct binding *made = &bindings[binding_count++];
    snprintf(made->observed, sizeof made->observed, "%s", observed);
    snprintf(made->label, sizeof made->label, "%s", label);
}

static const char *label_of(const char *observed)
{
    for (size_t i = 0; i < binding_count; i++) {
        if (strcmp(bindings[i].observed, observed) == 0)
            return bindings[i].label;
    }
    return NULL;
}

static bool is_bound(const char *label)
{
    for (size_t i = 0; i < binding_count; i++) {
        if (strcmp(bindings[i].label, label) == 0)
            return true;
    }
    return false;
}

void keyspace_call_permit(const char *hex, const char *label)
{
    bind(hex, label);
}

/* --- what the server has, in the model's words --- */

/* The length of the wire owner that `text` begins with, and whose it is; 0: it begins with none. */
static size_t owner_length(const char *text, size_t *client)
{
    for (*client = 0; *client < client_count; ++*client) {
        if (strncmp(text, client_ids[*client], ID_LENGTH) == 0 && text[ID_LENGTH] == ':')
            return ID_LENGTH + 1 + strspn(text + ID_LENGTH + 1, "0123456789");
    }
    return 0;
}

/* With labels for wire owners; one that is seen for the first time must be the newest. To be freed. */
static char *with_labels(const char *text, const char *newest)
{
    char *labelled = NULL, *whole;
    size_t size, client, length;
    FILE *out = open_memstream(&labelled, &size);
    for (const char *at = text; *at; at += length) {
        char owner[80];
        length = owner_length(at, &client);
        if (length == 0) {
            fputc(*at, out);
            length = 1;
            continue;
        }
        snprintf(owner, sizeof owner, "%.*s", (int)length, at);
        if (!label_of(owner) && *newest && !is_bound(newest) &&
            strcmp(client_ids[*newest - 'A'], client_ids[client]) == 0)
            bind(owner, newest);
        const char *label = label_of(owner);
        fprintf(out, "%s", label ? label : owner);
    }
    fclose(out);
    whole = strdup(labelled);
    free(labelled);
    return whole;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The members of a line's value "[a, b, c, d] ", two by two as "a, b". */
static size_t read_pairs(char *value, char *pairs[MEMBERS])
{
    size_t count = 0;
    value[strcspn(value, "]")] = 0;
    for (char *at = value + 1; *at && count < MEMBERS;) {
        char *middle = strstr(at, ", "), *end = middle ? strstr(middle + 2, ", ") : NULL;
        pairs[count++] = at;
        if (end)
            *end = 0;
        at = end ? end + 2 : "";
    }
    return count;
}

/* A hash has no order that means anything. */
static void observe_hash(expected *out, const char *key, char *value, span end)
{
    char *pairs[MEMBERS], text[400] = "";
    size_t count = read_pairs(value, pairs), length = 0;
    qsort(pairs, count, sizeof *pairs, by_text);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? ", " : "", pairs[i]);
    expect_key(out, end, "%s hash [%s]", key, text);
}

static int64_t epoch_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Asked for anew, since labels belong to ids in hex. */
static void observe_permits(expected *out, const char *key)
{
    redisReply *members = server_command(stage.server, "ZRANGE %s 0 -1 WITHSCORES", key);
    int64_t before_ms = now_ms(), epoch = epoch_ms(), after_ms = now_ms();
    for (size_t i = 0; i + 1 < members->elements; i += 2) {
        const redisReply *id = members->element[i];
        int64_t score = strtoll(members->element[i + 1]->str, NULL, 10);
        span end = {score + before_ms - epoch, score + after_ms - epoch};
        char hex[80] = "";
        for (size_t byte = 0; byte < id->len && byte < 32; byte++)
            snprintf(hex + 2 * byte, 3, "%02x", (unsigned char)id->str[byte]);
        expect_key(out, score >= NO_EXPIRY ? SPAN_NEVER : end, "%s/%s", key, label_of(hex) ? label_of(hex) : hex);
    }
    freeReplyObject(members);
}

static void observe_key(expected *out, char *line, const char *newest)
{
    int64_t asked_ms = now_ms(), pttl_ms = server_integer(stage.server, "PTTL %b", line, strcspn(line, " "));
    span end = pttl_ms < 0 ? SPAN_NEVER : (span){asked_ms + pttl_ms, now_ms() + pttl_ms};
    char *text = with_labels(line, newest), *type = strchr(text, ' ');
    if (strncmp(type, " hash ", 6) == 0) {
        *type = 0;
        observe_hash(out, text, type + 6, end);
    } else if (strncmp(type, " zset ", 6) == 0) {
        *type = 0;
        observe_permits(out, text);
    } else {
        text[strlen(text) - 1] = 0; /* the blank at the end */
        expect_key(out, end, "%s", text);
    }
    free(text);
}

static void observe(expected *out, const char *newest)
{
    char *keyspace = server_keyspace(stage.server), *rest = keyspace;
    out->count = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;)
        observe_key(out, line, newest);
    free(keyspace);
}

/* --- the difference --- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const expected_key *)a)->text, ((const expected_key *)b)->text);
}

static void write_end(FILE *out, span end, int64_t since_ms)
{
    if (end.least_ms == INT64_MAX)
        fprintf(out, "for ever\n");
    else if (end.most_ms - end.least_ms <= 1)
        fprintf(out, "for %lld ms\n", (long long)(end.most_ms - since_ms));
    else
        fprintf(out, "for %lld…%lld ms\n", (long long)(end.least_ms - since_ms), (long long)(end.most_ms - since_ms));
}

static void write_keys(FILE *out, const expected *keys, int64_t since_ms)
{
    if (keys->count == 0)
        fprintf(out, "        nothing\n");
    for (size_t i = 0; i < keys->count; i++) {
        fprintf(out, "        %s, ", keys->keys[i].text);
        write_end(out, keys->keys[i].end, since_ms);
    }
}

/* Both are bounds; they must have something in common. */
static bool ends_alike(span end, span other)
{
    if (end.least_ms == INT64_MAX || other.least_ms == INT64_MAX)
        return end.least_ms == other.least_ms;
    return end.least_ms - SPAN_BLUR_MS <= other.most_ms && other.least_ms <= end.most_ms + SPAN_BLUR_MS;
}

static bool alike(const expected *got, const expected *wanted)
{
    bool same = got->count == wanted->count;
    for (size_t i = 0; same && i < got->count; i++)
        same = strcmp(got->keys[i].text, wanted->keys[i].text) == 0 &&
               ends_alike(wanted->keys[i].end, got->keys[i].end);
    return same;
}

char *keyspace_difference(expected *wanted, int64_t until_ms)
{
    static expected got;
    qsort(wanted->keys, wanted->count, sizeof *wanted->keys, by_key);
    for (int looks = 1;; looks++, pass_ms(1)) {
        observe(&got, wanted->newest);
        qsort(got.keys, got.count, sizeof *got.keys, by_key);
        if (alike(&got, wanted))
            return NULL;
        if (!wanted->settles || looks == MOST_LOOKS || now_ms() >= until_ms)
            break;
    }
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "    the server has\n");
    write_keys(out, &got, now_ms());
    fprintf(out, "    the model has\n");
    write_keys(out, wanted, now_ms());
    fclose(out);
    return text;
}
