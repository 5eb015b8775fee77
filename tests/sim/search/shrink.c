/* Shrinking: the least of a plan that still leads to a finding. What is left out changes the order of all that follows, so
 * a smaller plan is tried with several seeds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/search/shrink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEEDS 12

typedef struct shrinking {
    plan best;
    attempt last;
    const char *gist;
    time_t until;
} shrinking;

static bool is_same(const attempt *tried, const char *gist)
{
    return tried->found && strncmp(tried->gist, gist, 24) == 0;
}

/* Keeps the smaller plan if it still leads there. */
static bool try(shrinking *self, const plan *smaller)
{
    plan tried = *smaller;
    for (int i = 0; i < SEEDS && time(NULL) < self->until; i++) {
        attempt one = attempt_run(&tried);
        if (is_same(&one, self->gist)) {
            free(self->last.report);
            self->last = one;
            self->best = tried;
            return true;
        }
        free(one.report);
        tried.seed = tried.seed * 6364136223846793005u + 1442695040888963407u;
    }
    return false;
}

/* --- what can be left out --- */

static bool drop_steps(shrinking *self, int of_thread, int from, int count)
{
    plan smaller = self->best;
    plan_thread *of = &smaller.threads[of_thread];
    memmove(&of->steps[from], &of->steps[from + count], (size_t)(of->step_count - from - count) * sizeof *of->steps);
    of->step_count -= count;
    return try(self, &smaller);
}

static void shrink_steps(shrinking *self)
{
    for (int i = 0; i < self->best.thread_count; i++) {
        for (int count = self->best.threads[i].step_count; count > 0; count /= 2) {
            for (int from = self->best.threads[i].step_count - count; from >= 0; from -= count) {
                if (from + count <= self->best.threads[i].step_count)
                    drop_steps(self, i, from, count);
            }
        }
    }
}

static void shrink_threads(shrinking *self)
{
    for (int i = self->best.thread_count - 1; i >= 0; i--) {
        plan smaller = self->best;
        memmove(&smaller.threads[i], &smaller.threads[i + 1], (size_t)(--smaller.thread_count - i) * sizeof *smaller.threads);
        try(self, &smaller);
    }
}

static void shrink_faults(shrinking *self)
{
    for (int count = self->best.fault_count; count > 0; count /= 2) {
        for (int from = self->best.fault_count - count; from >= 0; from -= count) {
            plan smaller = self->best;
            if (from + count > smaller.fault_count)
                continue;
            memmove(&smaller.faults[from], &smaller.faults[from + count],
                    (size_t)(smaller.fault_count - from - count) * sizeof *smaller.faults);
            smaller.fault_count -= count;
            try(self, &smaller);
        }
    }
}

/* The last client, when no thread is of it. */
static void shrink_clients(shrinking *self)
{
    for (;;) {
        plan smaller = self->best;
        bool used = smaller.client_count == 1;
        for (int i = 0; i < smaller.thread_count; i++)
            used |= smaller.threads[i].client == smaller.client_count - 1;
        if (used)
            return;
        smaller.client_count--;
        if (!try(self, &smaller))
            return;
    }
}

static void shrink_options(shrinking *self)
{
    for (int i = 0; i < self->best.client_count; i++) {
        char words[PLAN_TEXT], *rest = words, *word;
        snprintf(words, sizeof words, "%s", self->best.clients[i].options);
        while ((word = strsep(&rest, "&"))) {
            plan smaller = self->best;
            char *own = strstr(smaller.clients[i].options, word);
            size_t length = strlen(word);
            if (!own || !length)
                continue;
            if (own[length] == '&')
                length++;
            else if (own > smaller.clients[i].options)
                own--, length++;
            memmove(own, own + length, strlen(own + length) + 1);
            try(self, &smaller);
        }
    }
}

/* Whether it needs async calls at all. */
static void shrink_async(shrinking *self)
{
    for (int i = 0; i < self->best.thread_count; i++) {
        plan smaller = self->best;
        int calls = 0;
        for (int k = 0; k < smaller.threads[i].step_count; k++) {
            calls += smaller.threads[i].steps[k].async != 0;
            smaller.threads[i].steps[k].async = 0;
        }
        if (calls)
            try(self, &smaller);
    }
}

static void shrink_world(shrinking *self)
{
    plan smaller = self->best;
    smaller.stalls = 0;
    try(self, &smaller);
    smaller = self->best;
    smaller.splits = 0;
    smaller.named = false;
    try(self, &smaller);
    smaller = self->best;
    smaller.latency_us = smaller.jitter_us = 100;
    try(self, &smaller);
    smaller = self->best;
    smaller.version = 70;
    for (int i = 0; i < smaller.client_count; i++)
        smaller.clients[i].rate_ppm = 0;
    try(self, &smaller);
}

attempt shrink(plan *of, const char *gist, int seconds)
{
    shrinking self = {.best = *of, .gist = gist, .until = time(NULL) + seconds};
    self.last = attempt_run(of);
    for (int pass = 0; pass < 3 && time(NULL) < self.until; pass++) {
        shrink_threads(&self);
        shrink_faults(&self);
        shrink_steps(&self);
        shrink_async(&self);
        shrink_clients(&self);
        shrink_world(&self);
        shrink_options(&self);
    }
    *of = self.best;
    return self.last;
}
