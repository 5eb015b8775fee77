/* Distortion: turns a server's right answer into a hostile one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/distort.h"

#include "tests/fault/support/resp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void past_add(past *self, const char *answer, size_t length)
{
    if (length > 65536)
        return;
    bytes *place = &self->answers[self->next];
    place->length = 0;
    bytes_add(place, answer, length);
    self->next = (self->next + 1) % PAST_ANSWERS;
    self->count += self->count < PAST_ANSWERS;
}

static void add_past(dice *by, const past *self, bytes *to)
{
    const bytes *one = self->count ? &self->answers[dice_roll(by, self->count)] : NULL;
    if (one)
        bytes_add(to, one->data, one->length);
}

/* --- the parts of an answer --- */

/* A value within an answer. */
typedef struct part {
    size_t at, line, end; /* where it begins, where its first line ends, where it ends */
} part;

enum { PARTS = 64 };

static int parts_of(const char *answer, size_t at, part *parts, int count)
{
    ssize_t length = resp_length(answer + at, strlen(answer + at));
    const char *line = strstr(answer + at, "\r\n");
    if (count == PARTS || length <= 0)
        return count;
    parts[count] = (part){at, (size_t)(line - answer) + 2, at + (size_t)length};
    size_t inner = parts[count].line, end = parts[count].end;
    count++;
    while (answer[at] == '*' && inner < end && count < PARTS) {
        ssize_t element = resp_length(answer + inner, end - inner);
        if (element <= 0)
            break;
        count = parts_of(answer, inner, parts, count);
        inner += (size_t)element;
    }
    return count;
}

/* Any of them; the whole is one. `answer` is terminated. */
static part any_part(dice *by, const char *answer)
{
    part parts[PARTS];
    int count = parts_of(answer, 0, parts, 0);
    size_t length = strlen(answer);
    return count ? parts[dice_roll(by, count)] : (part){0, length, length};
}

static void add_with(bytes *to, const char *answer, size_t length, size_t from, size_t until, const bytes *instead)
{
    bytes_add(to, answer, from);
    if (instead->length)
        bytes_add(to, instead->data, instead->length);
    bytes_add(to, answer + until, length - until);
}

/* --- ways to distort it that leave one value of it, well-formed or not --- */

static void replace_part(dice *by, const hostile_ports *ports, const char *answer, size_t length, bytes *to)
{
    part found = any_part(by, answer);
    bytes instead = {0};
    add_value(by, ports, 4, &instead);
    add_with(to, answer, length, found.at, found.end, &instead);
    bytes_free(&instead);
}

/* Another number where a length, a count or a number stands. */
static void renumber(dice *by, const char *answer, size_t length, bytes *to)
{
    part found = any_part(by, answer);
    bytes instead = {0};
    if (dice_roll(by, 3) == 0)
        add_format(&instead, "%lld\r\n", strtoll(answer + found.at + 1, NULL, 10) + dice_roll(by, 5) - 2);
    else {
        add_integer_text(by, &instead);
        add_text(&instead, "\r\n");
    }
    add_with(to, answer, length, found.at + 1, found.line, &instead);
    bytes_free(&instead);
}

static void retype(dice *by, const char *answer, size_t length, bytes *to)
{
    static const char types[] = "+-:$*%~#,_(=>!|x\n";
    part found = any_part(by, answer);
    char type = types[dice_roll(by, (int)sizeof types)];
    bytes_add(to, answer, found.at);
    bytes_add(to, &type, 1);
    bytes_add(to, answer + found.at + 1, length - found.at - 1);
}

static void flip(dice *by, const char *answer, size_t length, bytes *to)
{
    size_t before = to->length;
    bytes_add(to, answer, length);
    for (int times = 1 + dice_roll(by, 4); times > 0; times--)
        to->data[before + (size_t)dice_roll(by, (int)length)] = (char)dice_roll(by, 256);
}

/* An array with one element less or one twice, and a count that says so. */
static void recount(dice *by, const char *answer, size_t length, bytes *to)
{
    part parts[PARTS];
    int count = parts_of(answer, 0, parts, 0);
    long long elements = strtoll(answer + 1, NULL, 10);
    if (*answer != '*' || count < 2 || elements < 1) {
        renumber(by, answer, length, to);
        return;
    }
    part found = parts[1 + dice_roll(by, count - 1)];
    bool twice = dice_roll(by, 2);
    add_format(to, "*%lld\r\n", elements + (twice ? 1 : -1));
    bytes_add(to, answer + parts[0].line, found.at - parts[0].line);
    for (int times = twice ? 2 : 0; times > 0; times--)
        bytes_add(to, answer + found.at, found.end - found.at);
    bytes_add(to, answer + found.end, length - found.end);
}

static void nest(dice *by, const char *answer, size_t length, bytes *to)
{
    static const int depths[] = {1, 2, 3, 6, 7, 8, 9, 100, 100000};
    for (int depth = depths[dice_roll(by, 9)]; depth > 0; depth--)
        add_text(to, "*1\r\n");
    bytes_add(to, answer, length);
}

/* --- ways to distort it that need more room --- */

static void add_times(bytes *to, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        add_text(to, text);
}

static void add_block(bytes *to, size_t length)
{
    static char block[65536];
    memset(block, 'x', sizeof block);
    for (; length > sizeof block; length -= sizeof block)
        bytes_add(to, block, sizeof block);
    bytes_add(to, block, length);
}

static void enlarge(dice *by, bytes *to)
{
    switch (dice_roll(by, 40)) {
    case 0: /* a whole one that is too long */
        add_text(to, "$70000000\r\n");
        add_block(to, 70000000);
        add_text(to, "\r\n");
        return;
    case 1: /* a whole one that has too many elements */
        add_text(to, "*3000000\r\n");
        add_times(to, ":1\r\n", 3000000);
        return;
    default:
        break;
    }
    switch (dice_roll(by, 6)) {
    case 0:
        add_text(to, "$1000000\r\n");
        add_block(to, 1000000);
        add_text(to, "\r\n");
        break;
    case 1:
        add_text(to, "*20000\r\n");
        add_times(to, dice_roll(by, 2) ? ":1\r\n" : "*1\r\n$1\r\na\r\n", 20000);
        break;
    case 2:
        add_text(to, "+");
        add_block(to, 100000);
        break;
    case 3:
        add_text(to, "*2097152\r\n");
        break;
    case 4:
        add_text(to, "$60000000\r\nx");
        break;
    default:
        add_text(to, "*100000000000000000\r\n");
    }
}

/* --- all of them --- */

typedef enum way {
    REPLACE, RENUMBER, RETYPE, FLIP, RECOUNT, NEST, REPLAY, ERROR, ANYTHING, EXTRA_BEFORE, EXTRA_BEHIND, PUSH, ENLARGE,
    TRUNCATE, NOTHING, DELAY, DRIP, WAYS
} way;

static const int weights[WAYS] = {
    [REPLACE] = 20, [RENUMBER] = 24, [RETYPE] = 4, [FLIP] = 3, [RECOUNT] = 10, [NEST] = 2, [REPLAY] = 20, [ERROR] = 14,
    [ANYTHING] = 8, [EXTRA_BEFORE] = 1, [EXTRA_BEHIND] = 1, [PUSH] = 2, [ENLARGE] = 1, [TRUNCATE] = 2, [NOTHING] = 1,
    [DELAY] = 3, [DRIP] = 1,
};

static fate any_end(dice *by)
{
    static const fate ends[] = {FATE_HANGS_UP, FATE_RESETS, FATE_FALLS_SILENT, FATE_GOES_ON};
    return ends[dice_roll(by, 4)];
}

distortion distort(dice *by, const hostile_ports *ports, const past *earlier, const char *channel, const char *answer,
                   size_t length, bytes *to)
{
    distortion result = {FATE_GOES_ON, 0};
    char *text = strndup(answer, length); /* for searches; it ends at the first 0 byte */
    if (!text)
        abort();
    way chosen = (way)dice_weighted(by, weights, WAYS);
    if (strlen(text) < length && chosen <= RECOUNT)
        chosen = FLIP;
    switch (chosen) {
    case REPLACE:
        replace_part(by, ports, text, length, to);
        break;
    case RENUMBER:
        renumber(by, text, length, to);
        break;
    case RETYPE:
        retype(by, text, length, to);
        break;
    case FLIP:
        flip(by, answer, length, to);
        break;
    case RECOUNT:
        recount(by, text, length, to);
        break;
    case NEST:
        nest(by, answer, length, to);
        break;
    case REPLAY:
        add_past(by, earlier, to);
        break;
    case ERROR:
        add_error(by, ports, to);
        break;
    case ANYTHING:
        add_value(by, ports, 6, to);
        break;
    case EXTRA_BEFORE:
        add_past(by, earlier, to);
        bytes_add(to, answer, length);
        break;
    case EXTRA_BEHIND:
        bytes_add(to, answer, length);
        add_value(by, ports, 2, to);
        break;
    case PUSH:
        add_push(by, channel, to);
        bytes_add(to, answer, length);
        break;
    case ENLARGE:
        enlarge(by, to);
        break;
    case TRUNCATE:
        bytes_add(to, answer, (size_t)dice_roll(by, (int)length));
        result.fate = any_end(by);
        break;
    case NOTHING:
        result.fate = any_end(by);
        break;
    case DELAY:
        bytes_add(to, answer, length);
        result.delay_ms = 1 + dice_roll(by, 400);
        break;
    case DRIP:
        bytes_add(to, answer, length);
        result.fate = FATE_DRIPS;
        break;
    case WAYS:
        break;
    }
    free(text);
    return result;
}
