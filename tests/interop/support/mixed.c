/* A mixed load: threads of two C clients and of a JVM that take turns under a few locks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/mixed.h"

#include "tests/integration/support/stage.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/ledger.h"
#include "tests/interop/support/several.h"
#include "tests/support/event.h"
#include "tests/support/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX "load-"
#define OURS (2 * MIXED_EACH)
#define ENDS_MS 120000
#define SPLITS 8
#define PAUSE_MS 2 /* between turns: the locks are not fair, and who has one would take it again */

typedef struct member {
    struct mixed *load;
    int number;
    pthread_t thread;
    rlock *locks[MIXED_NAMES];
    char error[160]; /* the last; read when the thread has ended */
} member;

struct mixed {
    ledger *ledger;
    member members[OURS];
    int tags[MIXED_EACH]; /* Java's */
    int64_t split_ns[SPLITS], healthy_ns[SPLITS];
    int splits;
    bool c_rests;
};

/* --- a thread of C --- */

static void failed(member *self, _Atomic int64_t *count)
{
    atomic_fetch_add(count, 1);
    snprintf(self->error, sizeof self->error, "%s", rlock_last_error());
}

static void take_turn(member *self, ledger_page *page, int turn)
{
    int name = turn % MIXED_NAMES;
    rlock *lock = self->locks[name];
    int64_t asked_ns = now_ns();
    if (rlock_lock(lock) != RLOCK_OK) {
        failed(self, &page->locks_failed);
        return;
    }
    int64_t had_ns = now_ns();
    pass_ms(1); /* also, so that no page is full too soon */
    /* Told as lost meanwhile: then it counts as nobody's. */
    int64_t looked_ns = now_ns(), until_ns = rlock_valid_for(lock) > 0 ? looked_ns : had_ns;
    int64_t turns = atomic_load(&page->turns);
    ledger_note *note = &page->notes[turns];
    atomic_store(&note->asked_ns, asked_ns);
    atomic_store(&note->had_ns, had_ns);
    atomic_store(&note->until_ns, until_ns);
    atomic_store(&note->name, name);
    atomic_store(&page->turns, turns + 1);
    if (rlock_unlock(lock) != RLOCK_OK)
        failed(self, &page->unlocks_failed);
    pass_ms(PAUSE_MS);
}

static void *run(void *arg)
{
    member *self = arg;
    ledger *shared = self->load->ledger;
    ledger_page *page = &shared->pages[self->number];
    for (int turn = self->number; !atomic_load(&shared->stop_c) && atomic_load(&page->turns) < LEDGER_TURNS; turn++)
        take_turn(self, page, turn);
    return NULL;
}

/* --- for the test --- */

static ledger *open_ledger(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert(file >= 0 && ftruncate(file, sizeof(ledger)) == 0, "%s: %s", path, strerror(errno));
    void *memory = mmap(NULL, sizeof(ledger), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    cr_assert(memory != MAP_FAILED, "%s: %s", path, strerror(errno));
    close(file);
    return memory;
}

static void begin_in_java(mixed *self, const char *path)
{
    for (int i = 0; i < MIXED_EACH; i++) {
        char thread[16], names[16], number[16];
        snprintf(thread, sizeof thread, "load%d", i);
        snprintf(names, sizeof names, "%d", MIXED_NAMES);
        snprintf(number, sizeof number, "%d", OURS + i);
        self->tags[i] = BEGIN(java, thread, "locks", PREFIX, "keep", path, names, number);
    }
}

mixed *mixed_start(rlock_client *client, rlock_client *other)
{
    static mixed only; /* a test runs in a process of its own */
    mixed *self = &only;
    char path[4200];
    snprintf(path, sizeof path, "%s/ledger", scratch_folder());
    self->ledger = open_ledger(path);
    for (int i = 0; i < OURS; i++) {
        member *one = &self->members[i];
        one->load = self;
        one->number = i;
        for (int n = 0; n < MIXED_NAMES; n++) {
            char name[32];
            snprintf(name, sizeof name, PREFIX "%d", n);
            one->locks[n] = lock_of(i % 2 ? other : client, name);
        }
    }
    for (int i = 0; i < OURS; i++)
        cr_assert(pthread_create(&self->members[i].thread, NULL, run, &self->members[i]) == 0);
    begin_in_java(self, path);
    return self;
}

void mixed_split(mixed *self)
{
    cr_assert(self->splits < SPLITS);
    self->healthy_ns[self->splits] = INT64_MAX;
    self->split_ns[self->splits++] = now_ns();
}

void mixed_healthy(mixed *self)
{
    self->healthy_ns[self->splits - 1] = now_ns();
}

static const char *who(int number)
{
    return number < OURS ? "C" : "Java";
}

/* For the log of a test that fails: who has had how many turns, and who holds what. */
static void tell_all(const mixed *self)
{
    for (int i = 0; i < LEDGER_MEMBERS; i++) {
        const ledger_page *page = &self->ledger->pages[i];
        fprintf(stderr, "thread %d (%s): %lld turns, %lld locks and %lld unlocks failed%s%s\n", i, who(i),
                (long long)atomic_load(&page->turns), (long long)atomic_load(&page->locks_failed),
                (long long)atomic_load(&page->unlocks_failed), i < OURS && *self->members[i].error ? ": " : "",
                i < OURS ? self->members[i].error : "");
    }
    for (int n = 0; n < MIXED_NAMES; n++) {
        char name[32];
        snprintf(name, sizeof name, PREFIX "%d", n);
        several_look(name);
        redisReply *fields = server_command(stage.server, "HGETALL %s", name);
        fprintf(stderr, "%s: %lld ms left", name, (long long)server_integer(stage.server, "PTTL %s", name));
        for (size_t i = 0; i + 1 < fields->elements; i += 2)
            fprintf(stderr, ", %s %s", fields->element[i]->str, fields->element[i + 1]->str);
        fprintf(stderr, "; C is %s and %s\n", rlock_client_id(stage.client), rlock_client_id(stage.other));
        freeReplyObject(fields);
    }
}

static void await_turns(mixed *self, int from, int to, int turns, int64_t ms)
{
    int64_t wanted[LEDGER_MEMBERS], until_ms = limit_end_ms(ms);
    for (int i = from; i < to; i++)
        wanted[i] = atomic_load(&self->ledger->pages[i].turns) + turns;
    for (int i = from; i < to; i++) {
        while (atomic_load(&self->ledger->pages[i].turns) < wanted[i] && now_ms() < until_ms)
            pass_ms(1);
        if (atomic_load(&self->ledger->pages[i].turns) >= wanted[i])
            continue;
        tell_all(self);
        cr_assert(false, "thread %d (%s) has not had %d turns more after %lld ms", i, who(i), turns, (long long)ms);
    }
}

void mixed_await_turns(mixed *self, int turns, int64_t ms)
{
    await_turns(self, 0, LEDGER_MEMBERS, turns, ms);
}

void mixed_await_turns_of_c(mixed *self, int turns, int64_t ms)
{
    await_turns(self, 0, OURS, turns, ms);
}

static int64_t turns_of_java(const mixed *self)
{
    int64_t turns = 0;
    for (int i = OURS; i < LEDGER_MEMBERS; i++)
        turns += atomic_load(&self->ledger->pages[i].turns);
    return turns;
}

static void await_turns_of_java(const mixed *self, int turns, int64_t ms)
{
    int64_t wanted = turns_of_java(self) + turns, until_ms = limit_end_ms(ms);
    while (turns_of_java(self) < wanted && now_ms() < until_ms)
        pass_ms(1);
    if (turns_of_java(self) >= wanted)
        return;
    tell_all(self);
    cr_assert(false, "Java's threads have not had %d turns more after %lld ms", turns, (long long)ms);
}

static void rest_c(mixed *self)
{
    atomic_store(&self->ledger->stop_c, 1);
    for (int i = 0; i < OURS; i++)
        pthread_join(self->members[i].thread, NULL);
    self->c_rests = true;
}

void mixed_await_that_all_go_on(mixed *self, int turns, int64_t ms)
{
    mixed_await_turns_of_c(self, turns, ms);
    rest_c(self);
    await_turns_of_java(self, 2 * (LEDGER_MEMBERS - OURS), ms);
}

/* --- who held what when --- */

typedef struct hold {
    int64_t had_ns, until_ns;
    int64_t name;
    int life, member;
} hold;

/* Even: the number of healthy times before; odd: there may be two masters. */
static int life_at(const mixed *self, int64_t ns)
{
    for (int i = 0; i < self->splits; i++) {
        if (ns < self->split_ns[i])
            return 2 * i;
        if (ns < self->healthy_ns[i])
            return 2 * i + 1;
    }
    return 2 * self->splits;
}

static int by_name_and_time(const void *left, const void *right)
{
    const hold *one = left, *other = right;
    if (one->name != other->name)
        return one->name < other->name ? -1 : 1;
    if (one->life != other->life)
        return one->life < other->life ? -1 : 1;
    return one->had_ns < other->had_ns ? -1 : one->had_ns > other->had_ns;
}

static size_t gather(const mixed *self, hold *holds)
{
    size_t count = 0;
    for (int i = 0; i < LEDGER_MEMBERS; i++) {
        ledger_page *page = &self->ledger->pages[i];
        int64_t turns = atomic_load(&page->turns);
        cr_assert(turns < LEDGER_TURNS, "the page of thread %d is full", i);
        for (int64_t turn = 0; turn < turns; turn++) {
            ledger_note *note = &page->notes[turn];
            int64_t had_ns = atomic_load(&note->had_ns);
            int life = life_at(self, had_ns);
            if (life % 2 == 0 && life == life_at(self, atomic_load(&note->asked_ns)))
                holds[count++] = (hold){had_ns, atomic_load(&note->until_ns), atomic_load(&note->name), life, i};
        }
    }
    return count;
}

static void assert_one_at_a_time(const mixed *self)
{
    hold *holds = calloc((size_t)LEDGER_MEMBERS * LEDGER_TURNS, sizeof *holds);
    cr_assert(holds != NULL);
    size_t count = gather(self, holds);
    qsort(holds, count, sizeof *holds, by_name_and_time);
    const hold *last = NULL; /* of those of the name and life so far the one that is held longest */
    for (size_t i = 0; i < count; i++) {
        const hold *next = &holds[i];
        bool same = last && last->name == next->name && last->life == next->life;
        cr_assert(!same || next->had_ns >= last->until_ns,
                  PREFIX "%lld: held by thread %d (%s) for another %lld us when thread %d (%s) had it",
                  (long long)next->name, last->member, who(last->member),
                  (long long)(last->until_ns - next->had_ns) / 1000, next->member, who(next->member));
        if (!same || next->until_ns > last->until_ns)
            last = next;
    }
    fprintf(stderr, "%zu holds compared\n", count);
    free(holds);
}

static void show(const mixed *self, const char *whose, int from, int to, const char *error)
{
    int64_t turns = 0, locks = 0, unlocks = 0, longest_ns = 0;
    for (int i = from; i < to; i++) {
        ledger_page *page = &self->ledger->pages[i];
        turns += atomic_load(&page->turns);
        locks += atomic_load(&page->locks_failed);
        unlocks += atomic_load(&page->unlocks_failed);
        for (int64_t turn = 0; turn < atomic_load(&page->turns); turn++) {
            int64_t took_ns = atomic_load(&page->notes[turn].had_ns) - atomic_load(&page->notes[turn].asked_ns);
            longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
        }
    }
    fprintf(stderr, "%s: %lld turns, the longest wait for one %lld ms; %lld locks and %lld unlocks failed%s%s\n", whose,
            (long long)turns, (long long)longest_ns / 1000000, (long long)locks, (long long)unlocks,
            *error ? ", such as: " : "", error);
}

void mixed_stop(mixed *self)
{
    const char *ours = "", *theirs = "";
    if (!self->c_rests)
        rest_c(self);
    atomic_store(&self->ledger->stop, 1);
    for (int i = 0; i < OURS; i++)
        ours = *self->members[i].error ? self->members[i].error : ours;
    for (int i = 0; i < MIXED_EACH; i++) {
        const answer *ended = agent_await(java, self->tags[i], ENDS_MS);
        cr_assert(!ended->threw, "Java threw %s: %s", ended->text, ended->message);
        theirs = *ended->text ? ended->text : theirs;
    }
    show(self, "C", 0, OURS, ours);
    show(self, "Java", OURS, LEDGER_MEMBERS, theirs);
    assert_one_at_a_time(self);
}

int64_t mixed_failures(const mixed *self)
{
    int64_t failures = 0;
    for (int i = 0; i < LEDGER_MEMBERS; i++)
        failures += atomic_load(&self->ledger->pages[i].locks_failed) +
                    atomic_load(&self->ledger->pages[i].unlocks_failed);
    return failures;
}
