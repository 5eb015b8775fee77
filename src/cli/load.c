/* Load: threads that take and release locks for some time, and how long that took them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/load.h"

#include "base/clock.h"
#include "cli/message.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- latency: a histogram of durations, exact to 3 % --- */

/* The highest bit gives the power of two, the LATENCY_FINE bits below it the step. Below 64 ns each value has
 * its own step. */
static unsigned step_of(uint64_t ns)
{
    unsigned power = 0;
    while (ns >> power >> (LATENCY_FINE + 1))
        power++;
    return (power << LATENCY_FINE) + (unsigned)(ns >> power);
}

static double step_ns(unsigned step)
{
    unsigned power = step >> LATENCY_FINE;
    if (power < 2)
        return step;
    power--;
    uint64_t from = (uint64_t)(step - (power << LATENCY_FINE)) << power;
    return (double)from + (double)(UINT64_C(1) << power) / 2;
}

static void latency_add(cli_latency *latency, uint64_t ns)
{
    latency->counts[step_of(ns)]++;
    latency->total++;
}

static void latency_merge(cli_latency *into, const cli_latency *from)
{
    for (unsigned i = 0; i < LATENCY_STEPS; i++)
        into->counts[i] += from->counts[i];
    into->total += from->total;
}

double latency_quantile_us(const cli_latency *latency, double share)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < LATENCY_STEPS; i++) {
        seen += latency->counts[i];
        if (seen && (double)seen >= share * (double)latency->total)
            return step_ns(i) / 1000;
    }
    return 0;
}

/* --- the threads --- */

#define STACK_SIZE (512 * 1024)

typedef struct run {
    const cli_load *load;
    const cli_signals *signals;
    /* eventfds that count the threads that are ready, and those that have ended. */
    int ready_fd, ended_fd;
    int stop_fd; /* eventfd: readable once the run ends */
    atomic_bool stopped;
    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t begins;
    bool begun;
    int failed;        /* exit status of the first thread that failed; 0: none */
    char trouble[512]; /* its message */
} run;

/* Counts the threads that hold one lock, to detect violations of mutual exclusion. */
typedef struct room {
    atomic_int inside;
} room;

typedef struct worker {
    run *run;
    pthread_t thread;
    rlock *lock;
    room *room;
    uint64_t violations;
    int64_t ended_ns;
    cli_latency turns;
} worker;

static void stop(run *self)
{
    atomic_store(&self->stopped, true);
    eventfd_write(self->stop_fd, 1);
}

/* --- a thread --- */

static void fail(run *self, rlock_status status)
{
    pthread_mutex_lock(&self->mutex);
    if (!self->failed) {
        self->failed = exit_for(status);
        snprintf(self->trouble, sizeof self->trouble, "%s", rlock_last_error());
    }
    pthread_mutex_unlock(&self->mutex);
    stop(self);
}

static rlock_status hold(worker *self)
{
    rlock_status status = rlock_lock(self->lock);
    if (status != RLOCK_OK)
        return status;
    if (atomic_fetch_add(&self->room->inside, 1) != 0)
        self->violations++;
    if (self->run->load->hold_ms > 0)
        poll(&(struct pollfd){self->run->stop_fd, POLLIN, 0}, 1, (int)self->run->load->hold_ms);
    atomic_fetch_sub(&self->room->inside, 1);
    return rlock_unlock(self->lock);
}

static rlock_status ask(worker *self)
{
    bool locked;
    return rlock_is_locked(self->lock, &locked);
}

static bool turn(worker *self)
{
    rlock_status status = self->run->load->asks ? ask(self) : hold(self);
    if (status != RLOCK_OK)
        fail(self->run, status);
    return status == RLOCK_OK;
}

static void await_begin(run *self)
{
    eventfd_write(self->ready_fd, 1);
    pthread_mutex_lock(&self->mutex);
    while (!self->begun)
        pthread_cond_wait(&self->begins, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

/* The first turn opens connections and loads the scripts into the server, so it is not measured. */
static void *work(void *argument)
{
    worker *self = argument;
    bool goes_on = turn(self);
    await_begin(self->run);
    for (int64_t began = rli_now_ns(); goes_on && !atomic_load(&self->run->stopped); began = self->ended_ns) {
        goes_on = turn(self);
        self->ended_ns = rli_now_ns();
        if (goes_on)
            latency_add(&self->turns, (uint64_t)(self->ended_ns - began));
    }
    eventfd_write(self->run->ended_fd, 1);
    return NULL;
}

/* --- the whole run --- */

/* Returns the signal that came; 0: none. */
static int take_signal(const run *self)
{
    cli_signal_note note;
    while (signals_next(self->signals, &note)) {
        if (note.number != SIGCHLD)
            return note.number;
    }
    return 0;
}

/* Waits until `threads` threads have raised `fd`. `signal`: a signal that came before; 0: none. Returns the
 * signal that came first; 0: none. A second signal ends the process. */
static int await_all(run *self, int fd, int threads, int signal)
{
    struct pollfd fds[] = {{fd, POLLIN, 0}, {self->signals->fd, POLLIN, 0}};
    for (eventfd_t raised = 0, more; raised < (eventfd_t)threads;) {
        poll(fds, 2, -1);
        if (fds[0].revents && eventfd_read(fd, &more) == 0)
            raised += more;
        int came = fds[1].revents ? take_signal(self) : 0;
        if (came && signal) {
            complain("%s: exiting now; locks that are still held expire", strsignal(came));
            _exit(EXIT_SIGNAL + came);
        }
        if (came) {
            signal = came;
            stop(self);
        }
    }
    return signal;
}

/* Waits for the load's time, or until a signal or a failure ends the run. Returns that signal; 0: none. */
static int pass_time(run *self)
{
    struct pollfd fds[] = {{self->stop_fd, POLLIN, 0}, {self->signals->fd, POLLIN, 0}};
    int64_t until = rli_now_ns() + (int64_t)self->load->time_ms * 1000000;
    for (int64_t now; (now = rli_now_ns()) < until;) {
        poll(fds, 2, (int)((until - now + 999999) / 1000000));
        int signal = fds[1].revents ? take_signal(self) : 0;
        if (signal || fds[0].revents)
            return signal;
    }
    return 0;
}

static void begin(run *self)
{
    pthread_mutex_lock(&self->mutex);
    self->begun = true;
    pthread_cond_broadcast(&self->begins);
    pthread_mutex_unlock(&self->mutex);
}

static double cpu_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int load_sockets(void)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat found;
        count += fstatat(dirfd(folder), entry->d_name, &found, 0) == 0 && S_ISSOCK(found.st_mode);
    }
    closedir(folder);
    return count;
}

/* Lets the threads, which were started before, work. Returns the signal that ended the run; 0: none. */
static int conduct(run *self, cli_load_result *result)
{
    int threads = self->load->threads;
    int signal = await_all(self, self->ready_fd, threads, 0);
    double cpu_before = cpu_us();
    int64_t began = rli_now_ns();
    begin(self);
    if (!signal)
        signal = pass_time(self);
    stop(self);
    result->connections = load_sockets();
    signal = await_all(self, self->ended_fd, threads, signal);
    result->cpu_us = cpu_us() - cpu_before;
    result->seconds = (double)(rli_now_ns() - began) / 1e9;
    return signal;
}

/* Starts `count` threads. Returns how many were started; fewer if the system refuses more. */
static int start_all(worker *workers, int count)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    int started = 0, error = 0;
    while (started < count && !error) {
        error = pthread_create(&workers[started].thread, &attributes, work, &workers[started]);
        started += !error;
    }
    pthread_attr_destroy(&attributes);
    if (error)
        complain("could not start %d threads: %s; %d were started", count, strerror(error), started);
    return started;
}

static int judge(run *self, int signal, const cli_load_result *result)
{
    if (result->violations)
        complain("mutual exclusion violations: %" PRIu64, result->violations);
    if (self->failed)
        complain("%s", self->trouble);
    if (result->violations)
        return EXIT_LOST;
    if (self->failed)
        return self->failed;
    if (signal)
        complain("%s ended the measurement", strsignal(signal));
    return signal ? EXIT_SIGNAL + signal : EXIT_DONE;
}

/* Gives each worker its lock and the room that this lock protects. */
static bool furnish(run *self, rlock_client *client, worker *workers, room *rooms)
{
    for (int i = 0; i < self->load->threads; i++) {
        int number = self->load->one_name ? 0 : i;
        char name[128];
        snprintf(name, sizeof name, LOAD_PREFIX "%s:%d", rlock_client_id(client), number);
        workers[i].run = self;
        workers[i].room = &rooms[number];
        workers[i].lock = self->load->kind->lock(client, name);
        if (!workers[i].lock)
            return false;
    }
    return true;
}

static int employ(run *self, worker *workers, cli_load_result *result)
{
    int count = self->load->threads, started = start_all(workers, count), signal = 0;
    if (started == count) {
        signal = conduct(self, result);
    } else {
        stop(self);
        begin(self);
    }
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        latency_merge(&result->turns, &workers[i].turns);
        result->violations += workers[i].violations;
    }
    return started == count ? judge(self, signal, result) : EXIT_SYSTEM;
}

int load_run(rlock_client *client, const cli_load *load, const cli_signals *signals, cli_load_result *result)
{
    run self = {
        .load = load, .signals = signals, .mutex = PTHREAD_MUTEX_INITIALIZER, .begins = PTHREAD_COND_INITIALIZER};
    self.ready_fd = eventfd(0, EFD_CLOEXEC);
    self.ended_fd = eventfd(0, EFD_CLOEXEC);
    self.stop_fd = eventfd(0, EFD_CLOEXEC);
    size_t count = (size_t)load->threads;
    worker *workers = calloc(count, sizeof *workers);
    room *rooms = calloc(count, sizeof *rooms);
    int code = EXIT_SYSTEM;
    memset(result, 0, sizeof *result);
    result->threads = load->threads;
    if (self.ready_fd < 0 || self.ended_fd < 0 || self.stop_fd < 0 || !workers || !rooms)
        complain("could not prepare %d threads: %s", load->threads, strerror(errno));
    else if (!furnish(&self, client, workers, rooms))
        complain("%s", rlock_last_error());
    else
        code = employ(&self, workers, result);
    for (size_t i = 0; workers && i < count; i++)
        rlock_free(workers[i].lock);
    free(workers);
    free(rooms);
    close(self.ready_fd);
    close(self.ended_fd);
    close(self.stop_fd);
    return code;
}
