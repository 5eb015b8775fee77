/* Parkers: who sleeps there is woken, with the news, however many sleep. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bell.h"
#include "base/clock.h"
#include "base/park.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <unistd.h>

TestSuite(park);

#define CROWD 400
#define MORE 1200 /* than the kernel is to keep in the lists of one process */
#define SOON_MS 20000
#define PLACE (RLI_PLACES - CROWD / 2) /* of the first; there are no more than so many, and they begin again */

typedef struct sleeper {
    pthread_t thread;
    rli_parker parker;
    event *woken;
    int64_t deadline_ms;
    unsigned wanted; /* news */
    void (*park)(rli_parker *parker, int64_t deadline_ms);
    unsigned place;
} sleeper;

static void *sleep_there(void *argument)
{
    sleeper *self = argument;
    while (!rli_parker_take(&self->parker, self->wanted) && rli_now_ms() < self->deadline_ms) {
        if (self->park)
            self->park(&self->parker, self->deadline_ms);
        else
            rli_park_in_group(&self->parker, self->place, self->deadline_ms);
    }
    event_set(self->woken);
    return NULL;
}

static bool is_asleep(const sleeper *self)
{
    return atomic_load(&self->parker.state) & (RLI_ASLEEP | RLI_GROUPED);
}

/* In all ways that there are, by turns, or in the first of them alone. */
enum { AMONG_MANY_ALONE = 1, ALL_WAYS = 3 };

static void lay_down(sleeper *all, int count, int ways, event *woken, int64_t deadline_ms)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (int i = 0; i < count; i++) {
        all[i] = (sleeper){.woken = woken, .deadline_ms = deadline_ms, .wanted = RLI_NEWS,
                           .park = i % ways == 0   ? rli_park_among_many
                                   : i % ways == 1 ? rli_park
                                                   : NULL,
                           .place = PLACE + (unsigned)i};
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

/* Each where it lies: the kernel keeps some of those among many apart from the others. */
static void wake_each(sleeper *all, int count, int ways)
{
    event woken;
    event_init(&woken);
    lay_down(all, count, ways, &woken, RLI_NEVER);
    await_asleep(all, count);
    for (int i = 0; i < count; i++) {
        rli_unpark_flags(&all[i].parker, RLI_NEWS);
        cr_assert(event_wait_count(&woken, i + 1, SOON_MS), "sleeper %d", i);
        cr_assert(event_count(&woken) == i + 1);
    }
    end(all, count);
    event_destroy(&woken);
}

Test(park, each_of_a_crowd_is_woken_alone)
{
    static sleeper all[CROWD];
    wake_each(all, CROWD, ALL_WAYS);
}

Test(park, each_of_more_than_a_thousand_is_woken_alone)
{
    static sleeper all[MORE];
    wake_each(all, MORE, AMONG_MANY_ALONE);
}

Test(park, deadlines_end_the_sleep_of_a_crowd)
{
    static sleeper all[CROWD];
    event woken;
    event_init(&woken);
    lay_down(all, CROWD, ALL_WAYS, &woken, rli_after_ms(500));
    cr_assert(event_wait_count(&woken, CROWD, SOON_MS), "%d", event_count(&woken));
    end(all, CROWD);
    event_destroy(&woken);
}

/* What comes before the sleep is not slept through. */
Test(park, news_from_before_keep_it_awake)
{
    rli_parker parker;
    rli_parker_init(&parker);
    rli_unpark_flags(&parker, RLI_NEWS);
    rli_park(&parker, RLI_NEVER);
    cr_assert(rli_parker_take(&parker, RLI_NEWS) && !rli_parker_has(&parker, RLI_NEWS));
    rli_unpark(&parker);
    rli_park_among_many(&parker, RLI_NEVER);
    cr_assert(atomic_load(&parker.state) == 0);
    rli_unpark(&parker);
    rli_park_in_group(&parker, PLACE, RLI_NEVER);
    cr_assert(atomic_load(&parker.state) == 0);
}

/* Who sleeps at a place is woken when the ring ends, together with the others that were told before, and nobody else. */
Test(park, a_ring_wakes_all_who_were_told)
{
    static sleeper all[CROWD];
    event woken;
    event_init(&woken);
    lay_down(all, CROWD, ALL_WAYS, &woken, RLI_NEVER);
    await_asleep(all, CROWD);
    for (int half = 0; half < 2; half++) {
        rli_wake_batch ring = {0};
        for (int i = half; i < CROWD; i += 2)
            rli_unpark_batched(&all[i].parker, RLI_NEWS, &ring);
        rli_wake_batch_end(&ring);
        cr_assert(event_wait_count(&woken, (half + 1) * CROWD / 2, SOON_MS), "%d", event_count(&woken));
        cr_assert(event_count(&woken) == (half + 1) * CROWD / 2);
    }
    end(all, CROWD);
    event_destroy(&woken);
}

/* One of two threads that tell each other by turns, mostly while the other lies down. */
typedef struct partner {
    rli_parker parker, *other;
    unsigned place;
    bool begins, alone;
} partner;

#define ROUNDS 20000

static void await_news(partner *self)
{
    while (!rli_parker_take(&self->parker, RLI_NEWS)) {
        if (self->alone)
            rli_park_among_many(&self->parker, RLI_NEVER);
        else
            rli_park_in_group(&self->parker, self->place, RLI_NEVER);
    }
}

static void *play(void *argument)
{
    partner *self = argument;
    for (int i = 0; i < ROUNDS; i++) {
        rli_wake_batch ring = {0};
        if (!self->begins)
            await_news(self);
        rli_unpark_batched(self->other, RLI_NEWS, &ring);
        rli_wake_batch_end(&ring);
        if (self->begins)
            await_news(self);
    }
    return NULL;
}

/* With two pairs at the same two places, which wake each other for nothing; a third pair sleeps among many. */
Test(park, no_ring_is_missed_by_who_is_about_to_sleep)
{
    partner partners[6];
    pthread_t threads[6];
    for (unsigned i = 0; i < 6; i++) {
        rli_parker_init(&partners[i].parker);
        partners[i].place = PLACE + i % 2;
        partners[i].begins = i % 2;
        partners[i].alone = i >= 4;
        partners[i].other = &partners[i ^ 1].parker;
    }
    for (int i = 0; i < 6; i++)
        cr_assert(pthread_create(&threads[i], NULL, play, &partners[i]) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}

/* --- at a socket --- */

typedef struct reader {
    rli_parker parker;
    rli_bell bell;
    int ends[2]; /* of a pipe */
    int64_t deadline_ms;
    bool ready; /* what the park answered */
    atomic_bool done;
} reader;

static void *read_there(void *argument)
{
    reader *self = argument;
    self->ready = rli_park_polling(&self->parker, self->bell.fd, self->ends[0], self->deadline_ms);
    return NULL;
}

static void open_reader(reader *self)
{
    *self = (reader){.deadline_ms = RLI_NEVER};
    rli_parker_init(&self->parker);
    rli_bell_init(&self->bell);
    cr_assert(rli_bell_take(&self->bell) && pipe(self->ends) == 0);
}

static void close_reader(reader *self)
{
    rli_bell_give_back(&self->bell);
    rli_bell_destroy(&self->bell);
    close(self->ends[0]);
    close(self->ends[1]);
}

/* Lets it lie down, does `wake`, and returns what it answered. */
static bool sleep_until(reader *self, void (*wake)(reader *))
{
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, read_there, self) == 0);
    while (!(atomic_load(&self->parker.state) & RLI_POLLING))
        pass_ms(1);
    wake(self);
    pthread_join(thread, NULL);
    return self->ready;
}

static void say_a_byte(reader *self)
{
    cr_assert(write(self->ends[1], "x", 1) == 1);
}

static void hear_the_byte(reader *self)
{
    char byte;
    cr_assert(read(self->ends[0], &byte, 1) == 1);
}

static void unpark(reader *self)
{
    rli_unpark(&self->parker);
}

Test(park, bytes_end_a_sleep_at_a_socket)
{
    reader self;
    open_reader(&self);
    cr_assert(sleep_until(&self, say_a_byte));
    hear_the_byte(&self);
    cr_assert(atomic_load(&self.parker.state) == 0);
    close_reader(&self);
}

Test(park, unpark_ends_a_sleep_at_a_socket_and_leaves_nothing)
{
    reader self;
    open_reader(&self);
    for (int i = 0; i < 100; i++)
        cr_assert(!sleep_until(&self, unpark));
    rli_unpark(&self.parker); /* before it */
    cr_assert(!rli_park_polling(&self.parker, self.bell.fd, self.ends[0], RLI_NEVER));
    cr_assert(atomic_load(&self.parker.state) == 0);
    close_reader(&self);
}

Test(park, deadline_ends_a_sleep_at_a_socket)
{
    reader self;
    open_reader(&self);
    int64_t end_ms = rli_after_ms(20);
    while (rli_now_ms() < end_ms) /* a ring that comes late ends the next sleep early */
        cr_assert(!rli_park_polling(&self.parker, self.bell.fd, self.ends[0], end_ms));
    close_reader(&self);
}

static void *unpark_often(void *argument)
{
    reader *self = argument;
    for (int i = 0; i < 20000; i++)
        rli_unpark(&self->parker);
    atomic_store(&self->done, true);
    return NULL;
}

/* Who unparks it may still be looking at the sleep before. */
Test(park, sleep_at_a_socket_may_begin_while_another_thread_wakes_it)
{
    reader self;
    pthread_t thread;
    open_reader(&self);
    say_a_byte(&self);
    cr_assert(pthread_create(&thread, NULL, unpark_often, &self) == 0);
    while (!atomic_load(&self.done))
        rli_park_polling(&self.parker, self.bell.fd, self.ends[0], RLI_NEVER);
    pthread_join(thread, NULL);
    close_reader(&self);
}

/* Nobody else polls with a bell that a thread has. */
Test(park, bell_is_for_one_at_a_time)
{
    rli_bell bell;
    rli_bell_init(&bell);
    cr_assert(rli_bell_take(&bell) && !rli_bell_take(&bell));
    int fd = bell.fd;
    rli_bell_give_back(&bell);
    cr_assert(rli_bell_take(&bell) && bell.fd == fd);
    rli_bell_destroy(&bell);
}
