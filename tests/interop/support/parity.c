/* Parity: the same steps by C and by Java, and what each left on the server and said there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/parity.h"

#include "tests/integration/support/traffic.h"
#include "tests/interop/support/facts.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 16
#define CLOSE_MS 100 /* how near TTLs that were given at the same time are */
#define PAUSE_MS 1500 /* by which the notes are late in all, where their script paused */

struct seen {
    char *keys; /* as in a fact */
    int64_t pttl_ms[FACT_KEYS];
    int64_t at_ms; /* since the first step began */
};

struct walk {
    struct seen seen[STEPS];
    char *messages;
};

/* "NUMBER MS", of an offer, becomes the `0` of a release. */
static void hide_offer(char *payload)
{
    size_t number = strspn(payload, "0123456789"), rest = strcspn(payload, "\n");
    if (number > 0 && number < rest && payload[number] == ' ') {
        *payload = '0';
        memmove(payload + 1, payload + rest, strlen(payload + rest) + 1);
    }
}

void parity_hide_own_channels(char *messages)
{
    for (char *at = messages; (at = strchr(at, ':'));) {
        size_t id = strspn(at + 1, "0123456789abcdef-");
        bool own = id == 36 && at[15] == '8';
        if (own && at[37] == ':') /* a fair waiter's has a number behind it, and is as Redisson's */
            at += 38 + strspn(at + 38, "0123456789");
        else if (own)
            memmove(at, at + 37, strlen(at + 37) + 1);
        else
            at++;
        if (own && *at == ' ')
            hide_offer(at + 1);
    }
}

/* Ours have a registry of waiters beside Redisson's keys. */
static char *without_registry(const char *keyspace)
{
    static const char registry[] = "rlock_waiters:";
    char *kept = strdup(keyspace);
    cr_assert(kept != NULL);
    for (char *line = kept; *line;) {
        char *next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        if (strncmp(line, registry, sizeof registry - 1) == 0)
            memmove(line, next, strlen(next) + 1);
        else
            line = next;
    }
    return kept;
}

/* The PTTL of each key, in the order of the lines, which begin with the keys. */
static void look(struct seen *seen, int64_t since_ms)
{
    char *all = server_keyspace(stage.server), *keyspace = without_registry(all), *rest = keyspace;
    free(all);
    size_t key = 0;
    seen->keys = without_owners(keyspace);
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        cr_assert(key < FACT_KEYS, "too many keys");
        seen->pttl_ms[key++] = server_integer(stage.server, "PTTL %b", line, strcspn(line, " "));
    }
    seen->at_ms = now_ms() - since_ms;
    free(keyspace);
}

static void walk(struct walk *self, bool in_java, const parity_step *steps, size_t count)
{
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    monitor *tap = monitor_open();
    int64_t since_ms = now_ms();
    for (size_t i = 0; i < count; i++) {
        steps[i].run(in_java);
        look(&self->seen[i], since_ms);
    }
    char *messages = monitor_messaging(tap);
    parity_hide_own_channels(messages);
    self->messages = without_owners(messages);
    free(messages);
    monitor_close(tap);
}

static void assert_near(int64_t value, int64_t other, int64_t less_ms, int64_t more_ms, const char *what)
{
    bool endless = value < 0 || other < 0;
    cr_assert(endless ? value == other : other - less_ms <= value && value <= other + more_ms,
              "%s: the PTTL is %lld, the other's %lld", what, (long long)value, (long long)other);
}

static void compare(const struct seen *ours, const struct seen *theirs, const parity_step *step, size_t number)
{
    char what[128];
    snprintf(what, sizeof what, "step %zu (%s)", number, step->noted ? step->noted : "not noted");
    cr_assert_str_eq(ours->keys, theirs->keys, "%s: C left\n%s\nJava left\n%s", what, ours->keys, theirs->keys);
    int64_t apart_ms = CLOSE_MS + (ours->at_ms > theirs->at_ms ? ours->at_ms : theirs->at_ms);
    for (size_t i = 0; i < FACT_KEYS; i++)
        assert_near(ours->pttl_ms[i], theirs->pttl_ms[i], apart_ms, step->ttl == LONGER ? INT32_MAX : apart_ms, what);
}

static void compare_noted(const struct seen *theirs, const fact *noted, const char *step)
{
    cr_assert_str_eq(noted->step, step, "the notes have \"%s\" next, not \"%s\"", noted->step, step);
    cr_assert_str_eq(theirs->keys, noted->keys, "%s: Java left\n%s\nnoted is\n%s", step, theirs->keys, noted->keys);
    for (size_t i = 0; i < noted->key_count; i++)
        assert_near(theirs->pttl_ms[i], noted->pttl_ms[i], CLOSE_MS + theirs->at_ms, CLOSE_MS + PAUSE_MS, step);
}

/* OWNER1, OWNER2… become OWNER. */
static void drop_numbers(char *keys)
{
    for (char *at = keys; (at = strstr(at, "OWNER"));) {
        at += strlen("OWNER");
        size_t digits = strspn(at, "0123456789");
        memmove(at, at + digits, strlen(at + digits) + 1);
    }
}

/* The lines with an S before each; to be freed. */
static char *with_s(const char *messages)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out != NULL);
    for (const char *line = messages; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "S%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fclose(out);
    return text;
}

static void assert_said(const char *who, const char *said, const char *expected)
{
    cr_assert_str_eq(said, expected, "%s said\n%s\nexpected is\n%s", who, said, expected);
}

void assert_parity(const char *section, const parity_step *steps, size_t count, const parity_difference *difference)
{
    static struct walk ours, theirs;
    cr_assert(count <= STEPS);
    facts *noted = section ? facts_read(section) : calloc(1, sizeof *noted);
    cr_assert(noted != NULL);
    walk(&ours, false, steps, count);
    walk(&theirs, true, steps, count);
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (difference && difference->number_a_name) {
            drop_numbers(ours.seen[i].keys);
            drop_numbers(theirs.seen[i].keys);
            drop_numbers(i < noted->count ? noted->steps[i].keys : (char[]){""});
        }
        compare(&ours.seen[i], &theirs.seen[i], &steps[i], i);
        if (!steps[i].noted)
            continue;
        cr_assert(next < noted->count, "the notes have no \"%s\"", steps[i].noted);
        compare_noted(&theirs.seen[i], &noted->steps[next++], steps[i].noted);
    }
    cr_assert(next == noted->count, "the notes also have \"%s\"", noted->steps[next].step);
    char *sharded = with_s(section ? noted->messages : "");
    if (section)
        assert_said("Java", theirs.messages, difference && difference->sharded ? sharded : noted->messages);
    free(sharded);
    bool otherwise = difference && difference->messages;
    assert_said("C", ours.messages, otherwise ? difference->messages : theirs.messages);
    facts_free(noted);
    for (size_t i = 0; i < count; i++) {
        free(ours.seen[i].keys);
        free(theirs.seen[i].keys);
    }
    free(ours.messages);
    free(theirs.messages);
}
