/* Parkers: who sleeps there is woken, with the news, however many sleep. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"
#include "park.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <pthread.h>

TestSuite(park, .timeout = 60);

#define CROWD 400
#define SOON_MS 20000

typedef struct sleeper {
    pthread_t thread;
    rli_parker parker;
    event *woken;
    int64_t deadline_ms;
    unsigned wanted; /* news */
    void (*park)(rli_parker *parker, int64_t deadline_ms);
} sleeper;

static void *sleep_there(void *argument)
{
    sleeper *self = argument;
    while (!rli_parker_take(&self->parker, self->wanted) && rli_now_ms() < self->deadline_ms)
        self->park(&self->parker, self->deadline_ms);
    event_set(self->woken);
    return NULL;
}

static bool is_asleep(const sleeper *self)
{
    return atomic_load(&self->parker.state) & RLI_ASLEEP;
}

static void lay_down(sleeper *all, int count, event *woken, int64_t deadline_ms)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (int i = 0; i < count; i++) {
        all[i] = (sleeper){.woken = woken, .deadline_ms = deadline_ms, .wanted = RLI_NEWS,
                           .park = i % 2 ? rli_park_among_many : rli_park};
        rli_parker_init(&all[i].parker);
        cr_assert(pthread_create(&all[i].thread, &small, sleep_there, &all[i]) == 0);
    }
    pthread_attr_destroy(&small);
}

static void await_asleep(const sleeper *all, int count)
{
    int64_t until_ms = now_ms() + SOON_MS;
    for (int i = 0; i < count; i++) {
        while (!is_asleep(&all[i]) && now_ms() < until_ms)
            pass_ms(1);
        cr_assert(is_asleep(&all[i]), "sleeper %d", i);
    }
}

static void end(sleeper *all, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(all[i].thread, NULL);
}

/* Each where it lies: the kernel keeps those among many apart from the others. */
Test(park, each_of_a_crowd_is_woken_alone)
{
    static sleeper all[CROWD];
    event woken;
    event_init(&woken);
    lay_down(all, CROWD, &woken, RLI_NEVER);
    await_asleep(all, CROWD);
    for (int i = 0; i < CROWD; i++) {
        rli_unpark_with(&all[i].parker, RLI_NEWS);
        cr_assert(event_wait_count(&woken, i + 1, SOON_MS), "sleeper %d", i);
        cr_assert(event_count(&woken) == i + 1);
    }
    end(all, CROWD);
    event_destroy(&woken);
}

Test(park, deadlines_end_the_sleep_of_a_crowd)
{
    static sleeper all[CROWD];
    event woken;
    event_init(&woken);
    lay_down(all, CROWD, &woken, rli_after_ms(500));
    cr_assert(event_wait_count(&woken, CROWD, SOON_MS), "%d", event_count(&woken));
    end(all, CROWD);
    event_destroy(&woken);
}

/* What comes before the sleep is not slept through. */
Test(park, news_from_before_keep_it_awake)
{
    rli_parker parker;
    rli_parker_init(&parker);
    rli_unpark_with(&parker, RLI_NEWS);
    rli_park(&parker, RLI_NEVER);
    cr_assert(rli_parker_take(&parker, RLI_NEWS) && !rli_parker_has(&parker, RLI_NEWS));
    rli_unpark(&parker);
    rli_park_among_many(&parker, RLI_NEVER);
    cr_assert(atomic_load(&parker.state) == 0);
}
