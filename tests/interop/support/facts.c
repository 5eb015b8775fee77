/* Facts: what a real Redisson left behind, step by step, as noted in tests/interop/golden/. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/facts.h"

#include "tests/support/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "tests/interop/golden/redisson-4.7.0.txt"
#define OWNERS 32
#define UUID_LENGTH 36

/* The length of the wire owner that `text` begins with, 0 when with none: the notes have CLIENT
 * in the place of the client id. */
static size_t owner_length(const char *text)
{
    size_t id = strncmp(text, "CLIENT:", 7) == 0 ? 6 : strspn(text, "0123456789abcdef-");
    if ((id != 6 || *text != 'C') && id != UUID_LENGTH)
        return 0;
    size_t digits = text[id] == ':' ? strspn(text + id + 1, "0123456789") : 0;
    return digits ? id + 1 + digits : 0;
}

/* Which of the owners seen so far it is, from 1; a new one is kept. */
static int owner_index(char *owners[OWNERS], int *known, const char *text, size_t length)
{
    for (int i = 0; i < *known; i++) {
        if (strlen(owners[i]) == length && strncmp(owners[i], text, length) == 0)
            return i + 1;
    }
    cr_assert(*known < OWNERS, "too many owners in one keyspace");
    owners[*known] = strndup(text, length);
    return ++*known;
}

/* Digits of a time in ms since 1970, as long as this century. */
#define EPOCH_DIGITS 13

/* The length of the permit id that `text` begins with, any 16 bytes as server_keyspace writes them. */
static size_t id_length(const char *text)
{
    size_t at = 0;
    for (int bytes = 0; bytes < 16 && text[at]; bytes++)
        at += text[at] == '\\' && text[at + 1] == 'x' ? 4 : 1;
    return at;
}

static size_t write_number(FILE *out, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == EPOCH_DIGITS)
        fputs("TIME", out);
    else
        fprintf(out, "%.*s", (int)digits, text);
    return digits;
}

/* A set whose members are permit ids, each with a score behind it; 0: it is none. An id may begin with any byte, also
 * with a bracket: what follows a score tells the end. */
static size_t write_permits(FILE *out, const char *text)
{
    static const char head[] = ":timeout zset [";
    if (strncmp(text, head, strlen(head)) != 0)
        return 0;
    const char *at = text + strlen(head);
    fputs(head, out);
    bool more = true;
    while (more) {
        at += id_length(at);
        fputs("ID, ", out);
        at += strncmp(at, ", ", 2) == 0 ? 2 : 0;
        at += write_number(out, at);
        more = strncmp(at, ", ", 2) == 0;
        if (more)
            at += fprintf(out, ", ");
    }
    return (size_t)(at - text);
}

char *without_owners(const char *keyspace)
{
    char *owners[OWNERS], *text = NULL;
    int known = 0;
    size_t size = 0, length;
    FILE *out = open_memstream(&text, &size);
    for (const char *at = keyspace; *at; at += length ? length : 1) {
        if ((length = owner_length(at)))
            fprintf(out, "OWNER%d", owner_index(owners, &known, at, length));
        else if ((length = write_number(out, at)) || (length = write_permits(out, at)))
            continue;
        else
            fputc(*at, out);
    }
    fclose(out);
    while (known)
        free(owners[--known]);
    return text;
}

static void append(char **text, const char *line, const char *end)
{
    char *both = NULL;
    cr_assert(asprintf(&both, "%s%s%s", *text, line, end) >= 0);
    free(*text);
    *text = both;
}

static void take_step(facts *self, const char *name)
{
    cr_assert(self->count < sizeof self->steps / sizeof *self->steps);
    self->steps[self->count++] = (fact){.step = strdup(name), .keys = strdup("")};
}

/* `key type [members] pttl=N` */
static void take_key(facts *self, char *line)
{
    char *pttl = strstr(line, "pttl=");
    cr_assert(pttl && self->count, "not a key of a step: %s", line);
    fact *step = &self->steps[self->count - 1];
    cr_assert(step->key_count < FACT_KEYS);
    step->pttl_ms[step->key_count++] = atoll(pttl + strlen("pttl="));
    *pttl = 0;
    append(&step->keys, line, "\n");
}

/* `PUBLISH channel "message"` */
static void take_message(facts *self, char *line)
{
    char *plain = line;
    for (const char *c = line; *c; c++) {
        if (*c != '"')
            *plain++ = *c;
    }
    *plain = 0;
    append(&self->messages, line, "\n");
}

static void take_line(facts *self, char *line)
{
    if (strncmp(line, "## ", 3) == 0)
        take_step(self, line + 3);
    else if (strncmp(line, "   ~ ", 5) == 0)
        take_message(self, line + 5);
    else if (strncmp(line, "   ", 3) == 0)
        take_key(self, line + 3);
}

facts *facts_read(const char *section)
{
    FILE *file = fopen(FILE_NAME, "re");
    cr_assert(file != NULL, "no %s: run the tests from the top of the tree", FILE_NAME);
    facts *self = calloc(1, sizeof *self);
    self->messages = strdup("");
    char *line = NULL;
    size_t size = 0;
    bool inside = false, found = false;
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "=== ", 4) == 0)
            inside = strcmp(line + 4, section) == 0;
        else if (inside)
            take_line(self, line);
        found |= inside;
    }
    cr_assert(found, "no section %s in %s", section, FILE_NAME);
    for (size_t i = 0; i < self->count; i++) {
        char *keys = without_owners(self->steps[i].keys);
        free(self->steps[i].keys);
        self->steps[i].keys = keys;
    }
    char *messages = without_owners(self->messages);
    free(self->messages);
    self->messages = messages;
    free(line);
    fclose(file);
    return self;
}

void facts_free(facts *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free(self->steps[i].step);
        free(self->steps[i].keys);
    }
    free(self->messages);
    free(self);
}
