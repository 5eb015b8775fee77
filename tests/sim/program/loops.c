/* Loops: the thread of a process that runs an event loop over its client. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/loops.h"

#include "tests/sim/world/finding.h"
#include "tests/sim/world/memory.h"
#include "tests/sim/world/os.h"

#include <rlock/async.h>
#include <sys/eventfd.h>

#define MS INT64_C(1000000)
/* The descriptor is readable until a thread that calls and blocks has read its own answer: that thread must have a turn,
 * whatever its priority. */
#define BREATH_NS INT64_C(20000)
#define MOST_BREATHS 100000 /* without ever having to wait */
#define WITHOUT_FD_MS 20 /* there was no memory for it */

typedef struct loop {
    process *of;
    thread *thread;
    task *first;
    int own_fd; /* readable when a task is posted */
    int64_t forgets_until_ns, forgotten_ns;
    bool over;
} loop;
static loop loops[PLAN_CLIENTS];

static bool any_step(int client, bool (*is)(const plan_step *step))
{
    bool any = false;
    for (int i = 0; i < run_of->thread_count; i++) {
        const plan_thread *of = &run_of->threads[i];
        for (int k = 0; k < of->step_count && of->client == client; k++)
            any |= is(&of->steps[k]);
    }
    return any;
}

static bool is_async(const plan_step *step)
{
    return step->async || step->kind == FORGET;
}

static bool is_forget(const plan_step *step)
{
    return step->kind == FORGET;
}

bool loop_is_planned(int client)
{
    return any_step(client, is_async);
}

bool loop_forgets(int client)
{
    return any_step(client, is_forget);
}

/* --- its thread --- */

static void act_on_tasks(loop *self)
{
    uint64_t count;
    ssize_t got = os_read(self->own_fd, &count, sizeof count);
    (void)got;
    for (task *one; (one = self->first);) {
        self->first = one->next;
        one->act(one);
    }
}

static void process_client(loop *self)
{
    rlock_status status = rlock_client_process(self->of->client);
    bool may_be = status == RLOCK_OK || (status == RLOCK_CLOSED && self->of->closed) ||
                  (status == RLOCK_NO_MEMORY && memory_failures() > 0);
    if (!may_be)
        finding("rlock_client_process answered %s: %s", rlock_strstatus(status), rlock_last_error());
}

/* Until there is something to do. */
static void wait_for_any(loop *self)
{
    bool forgets = self->of->closed || world_now_ns() < self->forgets_until_ns;
    int fd = forgets ? -1 : rlock_client_fd(self->of->client);
    int64_t left_ms = (self->forgets_until_ns - world_now_ns()) / MS + 1;
    int wait_ms = self->of->closed || fd >= 0 ? -1 : forgets ? (int)left_ms : WITHOUT_FD_MS;
    struct pollfd polled[] = {{.fd = self->own_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    os_poll(polled, 2, wait_ms);
}

/* A machine that stood still while its program forgot goes on forgetting for as long when it runs again. */
static void note_overrun(loop *self, int64_t since_ns)
{
    if (since_ns < self->forgets_until_ns && world_now_ns() > self->forgets_until_ns)
        self->forgotten_ns += world_now_ns() - self->forgets_until_ns;
}

static void *turn(void *argument)
{
    loop *self = argument;
    int breaths = 0;
    while (!self->over) {
        int64_t from_ns = world_now_ns();
        wait_for_any(self);
        note_overrun(self, from_ns);
        breaths = world_now_ns() - from_ns < BREATH_NS ? breaths + 1 : 0;
        if (breaths == MOST_BREATHS)
            finding("the descriptor of %s stays readable", self->of->machine->name);
        act_on_tasks(self);
        if (!self->of->closed && world_now_ns() >= self->forgets_until_ns)
            process_client(self);
        thread_sleep(self, world_now_ns() + BREATH_NS, 0, "a breath");
    }
    return NULL;
}

static void ring(const loop *self)
{
    ssize_t written = os_write(self->own_fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
}

void loop_begin(process *of)
{
    loop *self = &loops[of->index];
    if (!loop_is_planned(of->index))
        return;
    *self = (loop){.of = of, .own_fd = os_eventfd(0, EFD_NONBLOCK)};
    self->thread = thread_start(of->machine, "loop", turn, self);
}

void loop_end(process *of)
{
    loop *self = &loops[of->index];
    if (!self->thread)
        return;
    self->over = true;
    ring(self);
    thread_join(self->thread);
    os_close(self->own_fd);
    self->thread = NULL;
}

void loop_post(process *of, task *to_do)
{
    loop *self = &loops[of->index];
    task **place = &self->first;
    to_do->next = NULL;
    while (*place)
        place = &(*place)->next;
    *place = to_do;
    ring(self);
}

/* --- programs that forget --- */

void loop_forget(process *of, int64_t span_ms)
{
    loop *self = &loops[of->index];
    int64_t from_ns = self->forgets_until_ns > world_now_ns() ? self->forgets_until_ns : world_now_ns();
    int64_t until_ns = world_now_ns() + span_ms * MS;
    if (until_ns <= from_ns)
        return;
    self->forgotten_ns += until_ns - from_ns;
    self->forgets_until_ns = until_ns;
    ring(self);
}

int64_t loop_forgotten_ns(const process *of)
{
    const loop *self = &loops[of->index];
    int64_t to_come_ns = self->forgets_until_ns - world_now_ns();
    return self->forgotten_ns - (to_come_ns > 0 ? to_come_ns : 0);
}
