/* Facts: what a real Redisson left behind, step by step, as noted in tests/interop/golden/. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/facts.h"

#include "tests/support/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "tests/interop/golden/rlock-4.7.0.txt"
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

char *without_owners(const char *keyspace)
{
    char *owners[OWNERS], *text = NULL;
    int known = 0;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (const char *at = keyspace; *at;) {
        size_t length = owner_length(at);
        if (length)
            fprintf(out, "OWNER%d", owner_index(owners, &known, at, length));
        else
            fputc(*at, out);
        at += length ? length : 1;
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
    step->pttl_ms = atoll(pttl + strlen("pttl="));
    *pttl = 0;
    char *key = without_owners(line);
    append(&step->keys, key, "\n");
    free(key);
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
