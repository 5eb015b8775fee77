/* Plans as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const topology_words[TOPOLOGIES] = {"single", "replicated", "sentinel", "cluster"};
static const char *const object_words[OBJECT_KINDS] = {
    "reentrant", "spin", "fair", "fenced", "non_reentrant", "non_reentrant_fair", "token", "signal", "group", "read", "write", "multi", "red", "sharded",
    "semaphore", "permits", "latch", "guarded", "flight"};
static const char *const step_words[STEP_KINDS] = {
    "pause", "lock", "lock_token", "unlock", "force", "is_locked", "is_held", "count", "ttl", "valid_for", "get_token",
    "inspect", "within", "sem_set", "sem_acquire", "sem_release", "sem_add", "sem_drain", "sem_available", "permit_set",
    "permit_acquire", "permit_release", "permit_update", "permit_state", "latch_set", "latch_down", "latch_await",
    "latch_count", "guarded_set", "flight_do", "leave", "close", "fork", "starve", "forget",
    "extend", "listen", "object_ask", "object_change", "look", "hear_no_more"};
static const char *const fault_words[FAULT_KINDS] = {
    "reset", "silence", "stop_server", "restart", "stop_client", "refuse", "server_error", "scripts_flushed",
    "key_deleted", "key_shortened", "key_forced", "field_odd", "all_deleted", "clients_killed", "failover",
    "replicas_silent", "slot_moves", "name_changes", "memory_short", "garbage_published", "key_persisted", "key_renamed",
    "key_taken", "queue_odd", "helpers_deleted", "server_paused", "overheard"};
static const char *const moment_words[MOMENTS] = {"none", "script_takes", "script_gives_back", "script_renews",
                                                   "message_sent", "call_takes", "call_gives_back"};

const char *topology_word(topology_kind kind)
{
    return topology_words[kind];
}

const char *object_word(object_kind kind)
{
    return object_words[kind];
}

const char *fault_word(fault_kind kind)
{
    return fault_words[kind];
}

const char *step_word(step_kind kind)
{
    return step_words[kind];
}

bool step_is_expirable(step_kind kind)
{
    return kind == OBJECT_ASK || kind == OBJECT_CHANGE;
}

const char *moment_word(moment kind)
{
    return moment_words[kind];
}

bool object_is_lock(object_kind kind)
{
    return kind < SEMAPHORE;
}

bool object_is_expirable(object_kind kind)
{
    return kind == SEMAPHORE || kind == PERMITS || kind == LATCH;
}

const char *object_called(const plan_object *object)
{
    return object->name + (object->kind == SIGNAL_LOCK ? strlen("lock:") : 0);
}

bool object_is_composite(object_kind kind)
{
    return kind == MULTI || kind == RED;
}

/* --- writing --- */

static void write_moment(moment which, int after_us, FILE *to)
{
    if (which != NO_MOMENT)
        fprintf(to, " meets %s after %d", moment_words[which], after_us);
    fprintf(to, "\n");
}

void plan_write(const plan *self, FILE *to)
{
    fprintf(to, "world %s seed %" PRIu64 " period %d changes %d stalls %d version %d latency %" PRId64 " jitter %" PRId64
            " splits %d named %d\n", topology_words[self->topology], self->seed, self->period, self->changes, self->stalls,
            self->version, self->latency_us, self->jitter_us, self->splits, self->named);
    for (int i = 0; i < self->client_count; i++) {
        const plan_client *one = &self->clients[i];
        fprintf(to, "client rate %d reports %d options %s\n", one->rate_ppm, one->reports, *one->options ? one->options : "-");
    }
    for (int i = 0; i < self->object_count; i++) {
        const plan_object *one = &self->objects[i];
        fprintf(to, "object %s %s", object_words[one->kind], one->name);
        for (int k = 0; k < one->member_count; k++)
            fprintf(to, " %d", one->members[k]);
        fprintf(to, "\n");
    }
    for (int i = 0; i < self->thread_count; i++) {
        const plan_thread *one = &self->threads[i];
        fprintf(to, "thread %d\n", one->client);
        for (int k = 0; k < one->step_count; k++) {
            const plan_step *step = &one->steps[k];
            fprintf(to, "  %s object %d owner %d count %d wait %" PRId64 " lease %" PRId64 " pause %" PRId64
                    " cancel %" PRId64, step_words[step->kind], step->object, step->owner, step->count, step->wait_ms,
                    step->lease_ms, step->pause_ms, step->cancel_ms);
            if (step->async)
                fprintf(to, " async %d", step->async);
            write_moment(step->meets, step->after_us, to);
        }
    }
    for (int i = 0; i < self->fault_count; i++) {
        const plan_fault *one = &self->faults[i];
        fprintf(to, "fault %s at %" PRId64 " span %" PRId64 " who %d count %d", fault_words[one->kind], one->at_ms,
                one->span_ms, one->who, one->count);
        write_moment(one->meets, one->after_us, to);
    }
}

/* --- reading --- */

static int index_of(const char *word, const char *const *words, int count)
{
    int i = 0;
    while (i < count && strcmp(words[i], word) != 0)
        i++;
    return i < count ? i : -1;
}

/* The end of a line, where it has one. */
static bool read_moment(const char *line, moment *which, int *after_us)
{
    char word[24];
    const char *at = strstr(line, " meets ");
    if (!at)
        return true;
    int kind = sscanf(at, " meets %23s after %d", word, after_us) == 2 ? index_of(word, moment_words, MOMENTS) : -1;
    *which = (moment)(kind < 0 ? 0 : kind);
    return kind >= 0 && *after_us >= 0;
}

static bool read_world(plan *self, const char *line)
{
    char word[24];
    int named, kind;
    if (sscanf(line, "world %23s seed %" SCNu64 " period %d changes %d stalls %d version %d latency %" SCNd64
               " jitter %" SCNd64 " splits %d named %d", word, &self->seed, &self->period, &self->changes, &self->stalls,
               &self->version, &self->latency_us, &self->jitter_us, &self->splits, &named) != 10)
        return false;
    kind = index_of(word, topology_words, TOPOLOGIES);
    self->topology = (topology_kind)(kind < 0 ? 0 : kind);
    self->named = named;
    return kind >= 0;
}

static bool read_client(plan *self, const char *line)
{
    if (self->client_count == PLAN_CLIENTS)
        return false;
    plan_client *one = &self->clients[self->client_count++];
    int reports = 0;
    bool read = sscanf(line, "client rate %d reports %d options %255s", &one->rate_ppm, &reports, one->options) == 3;
    one->reports = reports;
    if (strcmp(one->options, "-") == 0)
        *one->options = 0;
    return read;
}

static bool read_object(plan *self, const char *line)
{
    char word[24];
    if (self->object_count == PLAN_OBJECTS)
        return false;
    plan_object *one = &self->objects[self->object_count++];
    int *to = one->members;
    int read = sscanf(line, "object %23s %15s %d %d %d %d %d", word, one->name, &to[0], &to[1], &to[2], &to[3], &to[4]);
    int kind = index_of(word, object_words, OBJECT_KINDS);
    if (read < 2 || kind < 0)
        return false;
    one->kind = (object_kind)kind;
    one->member_count = read - 2;
    for (int i = 0; i < one->member_count; i++) {
        if (to[i] < 0 || to[i] >= self->object_count)
            return false;
    }
    return true;
}

static bool read_thread(plan *self, const char *line)
{
    if (self->thread_count == PLAN_THREADS)
        return false;
    plan_thread *one = &self->threads[self->thread_count++];
    *one = (plan_thread){0};
    return sscanf(line, "thread %d", &one->client) == 1 && one->client >= -1 && one->client < self->client_count;
}

static bool read_step(plan *self, const char *line)
{
    char word[24];
    plan_thread *of = self->thread_count ? &self->threads[self->thread_count - 1] : NULL;
    if (!of || of->step_count == PLAN_STEPS)
        return false;
    plan_step *one = &of->steps[of->step_count++];
    if (sscanf(line, "  %23s object %d owner %d count %d wait %" SCNd64 " lease %" SCNd64 " pause %" SCNd64
               " cancel %" SCNd64 " async %d", word, &one->object, &one->owner, &one->count, &one->wait_ms,
               &one->lease_ms, &one->pause_ms, &one->cancel_ms, &one->async) < 8)
        return false;
    int kind = index_of(word, step_words, STEP_KINDS);
    one->kind = (step_kind)(kind < 0 ? 0 : kind);
    return kind >= 0 && one->object >= 0 && one->object < self->object_count && one->owner >= 0 &&
           one->owner < PLAN_OWNERS && read_moment(line, &one->meets, &one->after_us);
}

static bool read_fault(plan *self, const char *line)
{
    char word[24];
    if (self->fault_count == PLAN_FAULTS)
        return false;
    plan_fault *one = &self->faults[self->fault_count++];
    if (sscanf(line, "fault %23s at %" SCNd64 " span %" SCNd64 " who %d count %d", word, &one->at_ms, &one->span_ms,
               &one->who, &one->count) != 5)
        return false;
    int kind = index_of(word, fault_words, FAULT_KINDS);
    one->kind = (fault_kind)(kind < 0 ? 0 : kind);
    return kind >= 0 && read_moment(line, &one->meets, &one->after_us);
}

bool plan_read(plan *self, FILE *from, char why[static PLAN_TEXT])
{
    static const struct {
        const char *start;
        bool (*read)(plan *, const char *);
    } lines[] = {{"world ", read_world}, {"client ", read_client}, {"object ", read_object},
                 {"thread ", read_thread}, {"  ", read_step}, {"fault ", read_fault}};
    char line[512];
    *self = (plan){0};
    while (fgets(line, sizeof line, from)) {
        bool read = *line == '#' || *line == '\n';
        for (size_t i = 0; !read && i < sizeof lines / sizeof *lines; i++) {
            if (strncmp(line, lines[i].start, strlen(lines[i].start)) == 0 && (read = lines[i].read(self, line)))
                break;
        }
        if (!read) {
            snprintf(why, PLAN_TEXT, "this line says nothing of a plan: %.90s", line);
            return false;
        }
    }
    return true;
}

bool plan_read_file(plan *self, const char *path)
{
    char why[PLAN_TEXT];
    FILE *from = fopen(path, "r");
    bool good = from && plan_read(self, from, why);
    if (!good)
        fprintf(stderr, "%s: %s\n", path, from ? why : strerror(errno));
    if (from)
        fclose(from);
    return good;
}
