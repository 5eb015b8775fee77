/* Threads: real ones, of which one runs at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/threads.h"

#include "tests/sim/world/events.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/keys.h"
#include "tests/sim/world/threads_parts.h"
#include "tests/support/dice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 1024 /* at a time */
#define STACK (1 << 20)
/* A thread that goes on for so many steps without sleeping gives way, whatever its priority: it may look again and again
 * for what another thread has yet to do, as a thread does that polls a connection while another reads from it. */
#define PATIENCE 20000

static struct {
    bool on, calm;
    schedule schedule;
    dice turns, chance; /* who runs next; what happens */
    int64_t now_ns, steps, next_change, next_turn, next_stall;
    int64_t sleepers_due_ns; /* no sleeper's instant is earlier */
    int changes_left;
    uint64_t trace;
    int count;         /* made so far */
    bool taken[THREADS]; /* stacks in use */
    thread *alive[THREADS];
    int alive_count;
    thread *made;      /* the latest */
    thread *ending;    /* its real thread is on its way out */
    bool woken;        /* somebody may have a higher priority than who runs */
    char *stacks;
} world;

static _Thread_local thread *self;

/* --- chance --- */

static uint64_t roll(dice *rolled, uint64_t sides)
{
    return (uint64_t)dice_roll(rolled, (int)(sides < INT32_MAX ? sides : INT32_MAX));
}

uint64_t world_chance(uint64_t sides)
{
    return roll(&world.chance, sides);
}

bool world_happens(int one_in)
{
    return one_in > 0 && !world.calm && world_chance((uint64_t)one_in) == 0;
}

void world_calm(void)
{
    world.calm = true;
}

bool world_is_calm(void)
{
    return world.calm;
}

bool world_is_on(void)
{
    return world.on && self;
}

int64_t world_now_ns(void)
{
    return world.now_ns;
}

int64_t world_steps(void)
{
    return world.steps;
}

uint64_t world_trace(void)
{
    return world.trace;
}

void world_note(uint64_t what)
{
    world.trace = (world.trace ^ what) * UINT64_C(0x100000001b3);
    world.trace ^= world.trace >> 29;
}

/* --- who may run --- */

static bool may_run(const thread *one)
{
    return one->state == READY && !one->held && one->not_before_ns <= world.now_ns && one->machine->stopped_until_ns <= world.now_ns;
}

static void wake(thread *one, bool timed_out)
{
    one->state = READY;
    one->timed_out = timed_out;
    one->on = NULL;
    world.woken = true;
}

/* Those whose time is up wake, and what is planned is done. */
static void do_what_is_due(void)
{
    event due;
    while (event_take(world.now_ns, &due))
        due.run(due.argument);
    if (world.now_ns < world.sleepers_due_ns)
        return;
    world.sleepers_due_ns = WORLD_NEVER;
    for (int i = 0; i < world.alive_count; i++) {
        thread *one = world.alive[i];
        if (one->state != ASLEEP)
            continue;
        if (one->until_ns <= world.now_ns)
            wake(one, true);
        else if (one->until_ns < world.sleepers_due_ns)
            world.sleepers_due_ns = one->until_ns;
    }
}

/* When there is something to do next, as nobody may run now. */
static int64_t next_instant(void)
{
    int64_t next_ns = event_next_ns();
    for (int i = 0; i < world.alive_count; i++) {
        const thread *one = world.alive[i];
        int64_t at_ns = one->state == ASLEEP ? one->until_ns : one->not_before_ns;
        if (one->held)
            continue;
        if (one->state == READY && one->machine->stopped_until_ns > at_ns)
            at_ns = one->machine->stopped_until_ns;
        if (at_ns < next_ns)
            next_ns = at_ns;
    }
    return next_ns;
}

static thread *choose_by_priority(void)
{
    thread *best = NULL;
    for (int i = 0; i < world.alive_count; i++) {
        thread *one = world.alive[i];
        if (may_run(one) && (!best || one->priority > best->priority))
            best = one;
    }
    return best;
}

static thread *choose_at_random(void)
{
    thread *ready[THREADS];
    int count = 0;
    for (int i = 0; i < world.alive_count; i++) {
        if (may_run(world.alive[i]))
            ready[count++] = world.alive[i];
    }
    return count ? ready[roll(&world.turns, (uint64_t)count)] : NULL;
}

static thread *choose(void)
{
    for (;;) {
        do_what_is_due();
        world.woken = false;
        thread *next = world.schedule.changes ? choose_by_priority() : choose_at_random();
        if (next)
            return next;
        int64_t at_ns = next_instant();
        if (at_ns == WORLD_NEVER) {
            static char text[8000];
            threads_describe(text, sizeof text);
            finding("deadlock: all threads wait for each other, and nothing else will happen\n%s", text);
        }
        if (at_ns > world.now_ns)
            world.now_ns = at_ns;
    }
}

/* --- taking turns --- */

/* The turn is this thread's again. One that has ended meanwhile is gone before anything else happens: its end would
 * allocate and free beside us. */
static void resume(void)
{
    if (!world.ending)
        return;
    turn_end(&world.ending->turn);
    world.taken[world.ending->place] = false;
    world.ending = NULL;
}

static void note_turn(const thread *next)
{
    world_note((uint64_t)next->index + ((uint64_t)world.now_ns << 10));
}

static void yield(void)
{
    thread *next = choose();
    if (next == self)
        return;
    note_turn(next);
    turn_pass(&self->turn, &next->turn);
    resume();
}

/* The step of the next event of which there is one in `one_in` steps. Drawn once for each event, as a draw at each step
 * took a tenth of a run's time. */
static int64_t draw_step(dice *from, int one_in)
{
    return world.steps + 1 + (int64_t)roll(from, (uint64_t)(2 * one_in - 1));
}

static bool changes_priority(void)
{
    if (world.changes_left == 0 || world.steps < world.next_change)
        return false;
    world.changes_left--;
    world.next_change = world.steps + 1 + (int64_t)roll(&world.turns, (uint64_t)(2 * world.schedule.steps /
                                                                              (world.schedule.changes + 1) + 1));
    self->priority = world.changes_left - world.schedule.changes; /* below all that are unchanged, and below 0 */
    return true;
}

static bool should_yield(void)
{
    if (!may_run(self))
        return true;
    if (world.schedule.changes == 0) {
        if (world.steps < world.next_turn)
            return false;
        world.next_turn = draw_step(&world.turns, world.schedule.period);
        return true;
    }
    if (++self->awake > PATIENCE) {
        self->awake = 0;
        self->priority = -1000 - world.steps;
        return true;
    }
    return changes_priority() || world.woken;
}

static bool should_stall(void)
{
    if (world.steps < world.next_stall || world.calm)
        return false;
    world.next_stall = draw_step(&world.chance, world.schedule.stalls);
    return true;
}

/* Kept from running for some microseconds, or, rarely, some milliseconds. */
static void stall(void)
{
    int64_t span_ns = 1000 + (int64_t)world_chance(200000);
    if (world_chance(10) == 0)
        span_ns *= 1 + (int64_t)world_chance(300);
    self->not_before_ns = world.now_ns + span_ns;
}

void sim_point(void)
{
    if (!world_is_on())
        return;
    if (++world.steps > world.schedule.most_steps)
        finding("the run does not end: %lld steps, and %lld s of its time", (long long)world.steps,
                (long long)(world.now_ns / 1000000000));
    world.now_ns += 100 + (int64_t)(world.turns.state >> 20 & 1023);
    if (event_next_ns() <= world.now_ns || world.sleepers_due_ns <= world.now_ns)
        do_what_is_due();
    if (should_stall())
        stall();
    if (should_yield())
        yield();
}

bool thread_sleep(const void *on, int64_t until_ns, unsigned mask, const char *what)
{
    self->state = ASLEEP;
    self->slept++;
    self->awake = 0;
    self->on = on;
    self->mask = mask;
    self->until_ns = until_ns;
    self->what = what;
    if (until_ns < world.sleepers_due_ns)
        world.sleepers_due_ns = until_ns;
    yield();
    return !self->timed_out;
}

int threads_wake(const void *on, int most, unsigned mask)
{
    thread *asleep[THREADS];
    int count = 0, woken = 0;
    for (int i = 0; i < world.alive_count; i++) {
        thread *one = world.alive[i];
        if (one->state == ASLEEP && one->on == on && one->mask & mask)
            asleep[count++] = one;
    }
    for (; woken < most && count > 0; woken++) {
        int drawn = most < count ? (int)roll(&world.turns, (uint64_t)count) : count - 1;
        wake(asleep[drawn], false);
        asleep[drawn] = asleep[--count];
    }
    return woken;
}

void thread_hold(thread *one, bool held)
{
    one->held = held;
    world.woken = true;
}

void threads_put_off(machine *of, int64_t span_ns)
{
    for (int i = 0; i < world.alive_count; i++) {
        thread *one = world.alive[i];
        if (one->machine == of && one->state == ASLEEP && one->until_ns < WORLD_NEVER - span_ns)
            one->until_ns += span_ns;
    }
}

/* --- beginning and ending --- */

static thread *make(machine *on, const char *name)
{
    thread *one = calloc(1, sizeof *one);
    if (!one)
        abort();
    one->index = world.count++;
    one->made_before = world.made;
    world.made = one;
    while (world.taken[one->place]) {
        if (++one->place == THREADS)
            finding("there are %d threads at a time", THREADS);
    }
    world.taken[one->place] = true;
    one->machine = on;
    one->number = on ? ++on->last_thread : 0;
    one->priority = 1 + (int64_t)roll(&world.turns, 1000000);
    world.alive[world.alive_count++] = one;
    world.woken = true;
    if (on)
        thread_name(one, name);
    return one;
}

static void bury(thread *one)
{
    one->state = ENDED;
    for (int i = 0; i < world.alive_count; i++) {
        if (world.alive[i] == one) {
            memmove(&world.alive[i], &world.alive[i + 1], (size_t)(--world.alive_count - i) * sizeof one);
            break;
        }
    }
}

/* Its body has returned, or has ended its thread with pthread_exit. */
static void leave(void *unused)
{
    (void)unused;
    keys_end_values(self->values);
    bury(self);
    threads_wake(self, THREADS, ~0u);
    thread *next = choose();
    world.ending = self;
    note_turn(next);
    turn_leave(&next->turn);
}

static void live(void *argument)
{
    self = argument;
    resume();
    pthread_cleanup_push(leave, NULL);
    self->result = self->body(self->argument);
    pthread_cleanup_pop(1);
}

thread *thread_start(machine *on, const char *name, void *(*body)(void *), void *argument)
{
    thread *one = make(on, name);
    one->body = body;
    one->argument = argument;
    turn_start(&one->turn, world.stacks + (size_t)one->place * STACK, STACK, live, one);
    return one;
}

void *thread_join(thread *one)
{
    while (one->state != ENDED)
        thread_sleep(one, WORLD_NEVER, ~0u, one->title);
    return one->result;
}

void world_begin(const schedule *by)
{
    memset(&world, 0, sizeof world);
    world.schedule = *by;
    world.turns = dice_seeded(by->seed);
    world.chance = dice_seeded(by->seed ^ UINT64_C(0x5bd1e995));
    world.now_ns = 1000000000;
    world.sleepers_due_ns = WORLD_NEVER;
    world.changes_left = by->changes;
    world.next_change = by->changes ? (int64_t)roll(&world.turns, (uint64_t)by->steps + 1) : 0;
    world.next_stall = by->stalls > 0 ? draw_step(&world.chance, by->stalls) : INT64_MAX;
    world.stacks = mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (world.stacks == MAP_FAILED)
        abort();
    self = make(NULL, NULL);
    turn_begin(&self->turn);
    world.on = true;
}

void world_place(machine *on)
{
    self->machine = on;
    self->number = ++on->last_thread;
    thread_name(self, "main");
}

void threads_forget_others(void)
{
    world.alive[0] = self;
    world.alive_count = 1;
    world.ending = NULL;
    self->state = READY;
}

void thread_renumber(void)
{
    self->number = self->machine->last_thread += 100;
}

/* --- about a thread --- */

thread *thread_self(void)
{
    return self;
}

machine *thread_machine(const thread *one)
{
    return one->machine;
}

int thread_number(const thread *one)
{
    return one->number;
}

const char *thread_title(const thread *one)
{
    return one->title;
}

void thread_name(thread *one, const char *name)
{
    snprintf(one->title, sizeof one->title, "%s/%s", one->machine->name, name);
}

void **thread_values(void)
{
    return self->values;
}

bool thread_is_alive(const thread *one)
{
    return one->state != ENDED;
}

int threads_alive(void)
{
    return world.alive_count;
}

thread *thread_alive(int index)
{
    return world.alive[index];
}
