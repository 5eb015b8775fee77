/* Sequences: random steps carried out on an object and on a model of it, side by side. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/sequence.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 256
#define FIRST_SEED 1000
#define SOON_MS 1000 /* what ends within that may be waited for */
#define ROOM_MS 20   /* a step that what it meets has so long to live is not overtaken by its end */
#define ATTEMPTS 400 /* at shortening, … */
#define SHORTEN_MS 60000 /* … and for how long */

typedef struct sequence {
    move steps[STEPS];
    int length;
} sequence;

typedef enum verdict { AGREED, DIFFERED, OVERTAKEN } verdict;

static int steps_judged, steps_drawn;

/* --- one run --- */

/* The next end of anything, one that is not surely past included. */
static span next_end(const subject *of, int64_t since_ms)
{
    return of->next_end(since_ms - SPAN_BLUR_MS);
}

static bool ends_within(const subject *of, int64_t ms)
{
    return next_end(of, now_ms()).least_ms - SPAN_BLUR_MS < now_ms() + ms;
}

/* Waits until the next end is past, for the object and for the model. */
static void let_pass(const subject *of)
{
    int64_t until_ms = next_end(of, now_ms()).most_ms + SPAN_BLUR_MS;
    while (now_ms() <= until_ms)
        pass_ms(1);
    of->pass(now_ms() - SPAN_BLUR_MS);
}

/* False: something may have ended in the middle of it, and who knows whether before or after. */
static bool undisturbed(const subject *of, int64_t since_ms)
{
    return next_end(of, since_ms).least_ms - SPAN_BLUR_MS > now_ms();
}

static void write_outcome(FILE *out, outcome said)
{
    fprintf(out, "%s", rlock_strstatus(said.status));
    if (said.status == RLOCK_OK && (said.least || said.most))
        fprintf(out, said.least == said.most ? ", %lld" : ", %lld…%lld", (long long)said.least, (long long)said.most);
}

static bool agree(outcome got, outcome want)
{
    return got.status == want.status && want.least <= got.least && got.least <= want.most;
}

/* Carries a step out on both sides. `out`: where to show it, or NULL. */
static verdict carry_out(const subject *of, const move *step, FILE *out)
{
    expected keys = {.count = 0};
    int64_t began_ms = now_ms();
    outcome got = of->act(step);
    span when = {began_ms, now_ms()};
    if (!undisturbed(of, began_ms))
        return OVERTAKEN;
    outcome want = of->predict(step, when);
    of->expect(&keys);
    char *difference = keyspace_difference(&keys, next_end(of, began_ms).least_ms - SPAN_BLUR_MS);
    if (!undisturbed(of, began_ms)) {
        free(difference);
        return OVERTAKEN;
    }
    verdict is = agree(got, want) && !difference ? AGREED : DIFFERED;
    if (out) {
        fprintf(out, " → ");
        write_outcome(out, got);
        if (!agree(got, want)) {
            fprintf(out, "\n    the model answers: ");
            write_outcome(out, want);
        }
        fprintf(out, "\n%s", difference ? difference : "");
    }
    free(difference);
    return is;
}

static verdict run_step(const subject *of, const move *step, FILE *out)
{
    while (ends_within(of, ROOM_MS))
        let_pass(of);
    bool fits = step->operation == MOVE_PASS ? ends_within(of, SOON_MS) : !of->fits || of->fits(step);
    if (!fits)
        return AGREED;
    if (out) {
        fprintf(out, "  ");
        of->say(out, step);
    }
    if (step->operation == MOVE_PASS)
        let_pass(of);
    steps_judged++;
    return carry_out(of, step, out);
}

static verdict run(const subject *of, const sequence *played, FILE *out)
{
    verdict is = AGREED;
    of->begin();
    for (int i = 0; i < played->length && is == AGREED; i++)
        is = run_step(of, &played->steps[i], out);
    of->end();
    return is;
}

/* --- one that fails --- */

typedef struct shortening {
    sequence shortest;
    int attempts;
    int64_t until_ms;
} shortening;

/* Whether it still fails without these steps; then they are left out. */
static bool without(const subject *of, shortening *self, int from, int count)
{
    sequence shorter = self->shortest;
    int behind = shorter.length - from - count;
    if (behind < 0 || self->attempts++ >= ATTEMPTS || now_ms() >= self->until_ms)
        return false;
    memmove(&shorter.steps[from], &shorter.steps[from + count], (size_t)behind * sizeof(move));
    shorter.length -= count;
    if (run(of, &shorter, NULL) != DIFFERED)
        return false;
    self->shortest = shorter;
    return true;
}

/* Leaves out what can be left out, from the end: many steps at a time, then fewer, then one, as long as
 * that gets on. */
static void shorten(const subject *of, shortening *self)
{
    for (int count = self->shortest.length / 2; count > 0; count /= 2) {
        bool shorter;
        do {
            shorter = false;
            for (int from = self->shortest.length - count; from >= 0; from--)
                shorter |= without(of, self, from, count);
        } while (shorter && count == 1);
    }
}

/* A run, and what is to be shown of it; to be freed. */
static verdict run_shown(const subject *of, const sequence *played, char **text)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    verdict is = run(of, played, out);
    fclose(out);
    return is;
}

/* `first`: how it went when it failed, in case it never does so again. */
static void show(const subject *of, const sequence *found, uint64_t seed, const char *first)
{
    shortening self = {.shortest = *found, .until_ms = now_ms() + SHORTEN_MS};
    static char *text; /* no leak, though the test ends here */
    shorten(of, &self);
    bool again = run_shown(of, &self.shortest, &text) == DIFFERED;
    cr_assert_fail("the %s does not do as its model. RLOCK_MODEL_SEED=%llu repeats it; %d of its %d steps %s:\n%s",
                   of->name, (unsigned long long)seed, again ? self.shortest.length : found->length, found->length,
                   again ? "are left" : "failed once, but not when they were run again", again ? text : first);
}

/* --- many --- */

static void play(const subject *of, uint64_t seed, int length)
{
    static sequence played;
    dice rolled = dice_seeded(seed);
    bool timed = seed % 4 == 0;
    played.length = length;
    for (int i = 0; i < length; i++)
        played.steps[i] = of->draw(&rolled, timed);
    steps_drawn += length;
    static char *text;
    if (run_shown(of, &played, &text) == DIFFERED)
        show(of, &played, seed, text);
    free(text);
}

void assert_as_modelled(const subject *of, int count, int length)
{
    const char *given = getenv("RLOCK_MODEL_SEED");
    uint64_t fresh = (uint64_t)time(NULL) * 1000;
    cr_assert(length <= STEPS);
    if (given) {
        play(of, strtoull(given, NULL, 10), length);
        return;
    }
    for (int i = 0; i < count; i++)
        play(of, i % 2 ? fresh + (uint64_t)i / 2 : FIRST_SEED + (uint64_t)i / 2, length);
    /* Some do not fit, and on a slow machine some sequences are overtaken by their own leases. */
    cr_assert(steps_judged * 3 > steps_drawn, "only %d of %d steps were judged", steps_judged, steps_drawn);
}
