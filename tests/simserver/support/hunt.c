/* A hunt for differences between a real server and the model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/hunt.h"

#include "tests/sim/server/sha1.h"
#include "tests/support/dice.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hunt_step {
    int link;
    int64_t pass_us; /* before it */
    word_list words;     /* count 0: all that is stored is compared */
} hunt_step;

typedef struct hunt_sequence {
    hunt_step *steps;
    int count;
} hunt_sequence;

/* --- making one --- */

static const char *roll_blank(const hunt_plan *hunt, dice *rolled, char name)
{
    for (const hunt_blank *blank = hunt->blanks; blank->name; blank++) {
        if (blank->name != name)
            continue;
        int count = 0;
        while (blank->choices[count])
            count++;
        return blank->choices[dice_roll(rolled, count)];
    }
    cr_assert_fail("no choice for $%c", name);
    return "";
}

/* The phrase with its blanks filled, as far as `to` has room; what is rolled may have blanks of its own. */
static void fill(const hunt_plan *hunt, dice *rolled, const char *phrase, char *to, size_t size, size_t *length)
{
    for (const char *at = phrase; *at && *length + 1 < size; at++) {
        if (*at == '$' && at[1])
            fill(hunt, rolled, roll_blank(hunt, rolled, *++at), to, size, length);
        else
            to[(*length)++] = *at;
    }
    to[*length] = 0;
}

static word_list roll_words(const hunt_plan *hunt, dice *rolled)
{
    static char line[16384];
    int total = 0;
    size_t length = 0;
    for (const hunt_phrase *one = hunt->phrases; one->words; one++)
        total += one->weight;
    int left = dice_roll(rolled, total);
    const hunt_phrase *chosen = hunt->phrases;
    for (; left >= chosen->weight; chosen++)
        left -= chosen->weight;
    fill(hunt, rolled, chosen->words, line, sizeof line, &length);
    return words_divide(line);
}

static int64_t roll_time_us(dice *rolled)
{
    static const int64_t most_us[] = {0, 0, 0, 1500, 20000, 1000000, 40000000};
    int64_t most = most_us[dice_roll(rolled, 7)];
    return most ? dice_roll(rolled, (int)most) : 0;
}

static bool listens(const word_list *words)
{
    return words->count && strstr(words->at[0], "SUBSCRIBE") != NULL;
}

static hunt_sequence roll_sequence(const hunt_plan *hunt, uint64_t seed)
{
    dice rolled = dice_seeded(seed);
    hunt_sequence own = {calloc((size_t)hunt->steps, sizeof(hunt_step)), hunt->steps};
    cr_assert(own.steps != NULL);
    for (int i = 0; i < own.count; i++) {
        hunt_step *step = &own.steps[i];
        step->pass_us = roll_time_us(&rolled);
        if (i % 25 != 24 && i != own.count - 1)
            step->words = roll_words(hunt, &rolled);
        step->link = listens(&step->words) ? PAIR_LISTENER : dice_roll(&rolled, 2);
    }
    return own;
}

static void sequence_free(hunt_sequence *own)
{
    for (int i = 0; i < own->count; i++)
        words_free(&own->steps[i].words);
    free(own->steps);
}

/* --- running it --- */

static void load_scripts(const hunt_plan *hunt, server_pair *pair)
{
    for (int i = 0; hunt->scripts && hunt->scripts[i]; i++) {
        word_list load = {0};
        words_add(&load, "SCRIPT", 6);
        words_add(&load, "LOAD", 4);
        words_add(&load, hunt->scripts[i], strlen(hunt->scripts[i]));
        cr_assert(pair_run(pair, 0, &load), "%s", pair->difference);
        words_free(&load);
    }
}

/* How many of the steps were the same; all: no difference. Steps that are left out have a link below 0. */
static int run(const hunt_plan *hunt, server_pair *pair, const hunt_sequence *sequence, uint64_t seed)
{
    pair_clear(pair, seed);
    load_scripts(hunt, pair);
    for (int i = 0; i < sequence->count; i++) {
        const hunt_step *step = &sequence->steps[i];
        if (step->link < 0)
            continue;
        pair_pass(pair, step->pass_us);
        if (!(step->words.count ? pair_run(pair, step->link, &step->words) : pair_compare_keys(pair)))
            return i;
    }
    return sequence->count;
}

/* Leaves out what is not needed for a difference: ever smaller pieces. */
static void shrink(const hunt_plan *hunt, server_pair *pair, hunt_sequence *sequence, uint64_t seed)
{
    int last = run(hunt, pair, sequence, seed);
    for (int i = last + 1; i < sequence->count; i++)
        sequence->steps[i].link = -1;
    for (int piece = (last + 1) / 2; piece > 0; piece /= 2) {
        for (int first = 0; first < last; first += piece) {
            int links[1024];
            cr_assert(piece <= 1024);
            for (int i = 0; i < piece; i++) {
                links[i] = first + i < last ? sequence->steps[first + i].link : 0;
                if (first + i < last)
                    sequence->steps[first + i].link = -1;
            }
            if (run(hunt, pair, sequence, seed) <= last)
                continue;
            for (int i = 0; i < piece && first + i < last; i++)
                sequence->steps[first + i].link = links[i];
        }
    }
    run(hunt, pair, sequence, seed);
}

/* The script that the command names by its SHA-1; NULL: it names none of the hunt's. */
static const char *script_of(const hunt_plan *hunt, const word_list *words)
{
    for (int i = 0; words->count > 1 && hunt->scripts && hunt->scripts[i]; i++) {
        char sha1[41];
        sha1_hex(hunt->scripts[i], strlen(hunt->scripts[i]), sha1);
        if (strcmp(sha1, words->at[1]) == 0)
            return hunt->scripts[i];
    }
    return NULL;
}

static void report(const hunt_plan *hunt, const server_pair *pair, const hunt_sequence *sequence, uint64_t seed)
{
    char *told = NULL;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    cr_assert(out != NULL);
    for (int i = 0; i < sequence->count; i++) {
        const hunt_step *step = &sequence->steps[i];
        if (step->link < 0)
            continue;
        char *line = words_show(&step->words);
        fprintf(out, "  +%lld us, link %d: %s\n", (long long)step->pass_us, step->link,
                step->words.count ? line : "(compares all keys)");
        free(line);
        const char *script = script_of(hunt, &step->words);
        if (script)
            fprintf(out, "    that is: %s\n", script);
    }
    fclose(out);
    cr_assert_fail("server and model differ, seed %llu:\n%s    %s", (unsigned long long)seed, told,
                   pair->difference ? pair->difference : "(not the second time)");
}

static uint64_t asked_for(const char *name, uint64_t otherwise)
{
    const char *asked = getenv(name);
    uint64_t number = asked ? strtoull(asked, NULL, 10) : 0;
    return number ? number : otherwise;
}

void hunt_run(const hunt_plan *hunt)
{
    server_pair pair;
    pair_start(&pair, NULL);
    uint64_t first = asked_for("RLOCK_HUNT_SEED", 1000), count = (uint64_t)hunt->sequences * asked_for("RLOCK_HUNT", 1);
    for (uint64_t seed = first; seed < first + count; seed++) {
        hunt_sequence sequence = roll_sequence(hunt, seed);
        if (run(hunt, &pair, &sequence, seed) < sequence.count) {
            shrink(hunt, &pair, &sequence, seed);
            report(hunt, &pair, &sequence, seed);
        }
        sequence_free(&sequence);
    }
    pair_stop(&pair);
}
