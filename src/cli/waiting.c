/* Waiting: tells the user who holds the lock while rlock waits for it, and sees to it that a semaphore stays. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/waiting.h"

#include "base/clock.h"
#include "cli/describe.h"
#include "cli/output.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Short waits are not told. */
#define FIRST_MS 500
/* How often the server is asked who holds the lock; and whether the semaphore exists, where nothing is told. */
#define AGAIN_MS  2000
#define EXISTS_MS 5000
/* What a message was about, as far as it is compared with the next one. */
#define TOLD_SIZE 200

/* Whether a release may go unnoticed: a lock that is held as a side of a read-write lock sends its messages on another
 * channel than other kinds. */
static bool is_of_another_kind(const cli_waiting *self, const rlock_inspection *found)
{
    bool side = strcmp(self->hold->kind->name, "read") == 0 || strcmp(self->hold->kind->name, "write") == 0;
    return found->holder_count > 0 && self->hold->lock && side != (found->mode != NULL);
}

static void print_permits(FILE *out, const cli_waiting *self, const rlock_inspection *found)
{
    int wanted = self->hold->permits;
    fprintf(out, "%" PRId64 " %s available, %d needed", found->available, found->available == 1 ? "permit" : "permits",
            wanted);
    /* Permits of a plain semaphore that are taken leave no trace. */
    int64_t taken = (int64_t)found->permit_count, has = found->available < wanted ? found->available + taken : wanted;
    if (self->hold->leased && has < wanted)
        fprintf(out, "; the semaphore has only %" PRId64 ", so the wait does not end unless some are added", has);
}

static void print_state(FILE *out, const cli_waiting *self, const rlock_inspection *found)
{
    if (found->has_permits) {
        print_permits(out, self, found);
    } else if (found->holder_count == 0) {
        fputs("free now", out);
    } else {
        describe_holder(out, found, &found->holders[0]);
        if (found->holder_count > 1)
            fprintf(out, " and %zu more", found->holder_count - 1);
        if (!found->value_counts && (!found->holders[0].side || strcmp(found->holders[0].side, "read") != 0))
            describe_left(out, found->ttl_ms, " unless renewed");
    }
    if (is_of_another_kind(self, found))
        fputs(found->mode ? " (a release will not wake this wait: use -s or -x here, too)"
                          : " (a release will not wake this wait: the holder uses neither -s nor -x)",
              out);
}

/* The holder, or what else the message is about: if it is the same as before, the message is not repeated. */
static void identify(const rlock_inspection *found, char *who, size_t size)
{
    snprintf(who, size, "%s %" PRId64, found->holder_count ? found->holders[0].owner : "",
             found->has_permits ? found->available : (int64_t)found->holder_count);
}

/* Says it, unless the wait is over. */
static void say(cli_waiting *self, const char *state)
{
    pthread_mutex_lock(&self->mutex);
    if (!self->over) {
        char shown[DURATION_SHOWN];
        complain("waiting for the %s \"%s\", %s so far: %s", hold_word(self->hold), self->hold->shown,
                 duration_show(rli_now_ms() - self->since_ms, shown), state);
    }
    pthread_mutex_unlock(&self->mutex);
}

/* Says what the server refuses to tell, such as that the key is not a lock. */
static void say_refusal(cli_waiting *self, char *told, size_t size)
{
    const char *why = rlock_last_error();
    char now[TOLD_SIZE];
    snprintf(now, sizeof now, "%s", why);
    if (strcmp(now, told) != 0)
        say(self, why);
    snprintf(told, size, "%s", now);
}

/* Permits of a semaphore that was deleted, as by FLUSHALL, do not come back. One whose permits have ids can be created
 * anew: those of the old one are not there. To another, whoever still runs would give back permits that it never had.
 * Somebody may be about to create it, so the wait ends only when it is missing twice. */
static void mend(cli_waiting *self)
{
    if (self->hold->leased && self->options->set_permits) {
        if (hold_set_permits(self->hold, self->options->set_permits) == RLOCK_OK && self->tells)
            say(self, "it was deleted, and is created anew");
    } else if (self->was_gone) {
        rlock_cancel_fire(self->cancel);
    }
}

/* Asks, and says what is new. `told`: what the last message was about. That no server answers is not told: the wait
 * meets it, too. */
static void look(cli_waiting *self, char *told, size_t size)
{
    rlock_inspection *found;
    rlock_status answer = rlock_inspect(self->client, self->options->name, &found);
    if (answer == RLOCK_SERVER && self->tells)
        say_refusal(self, told, size);
    if (answer != RLOCK_OK)
        return;
    char who[TOLD_SIZE], *state = NULL;
    size_t length;
    bool gone = !self->hold->lock && !hold_exists(found);
    if (gone)
        mend(self);
    self->was_gone = gone;
    identify(found, who, sizeof who);
    bool tells = self->tells && !gone && strcmp(who, told) != 0;
    FILE *out = tells ? open_memstream(&state, &length) : NULL;
    if (out) {
        rlock_status status = rlock_inspect_processes(self->client, self->options->name, found);
        (void)status; /* without the right to CLIENT LIST the process stays unknown */
        print_state(out, self, found);
        if (fclose(out) == 0)
            say(self, state);
        snprintf(told, size, "%s", who);
    }
    free(state);
    rlock_inspection_free(found);
}

static void *tell(void *argument)
{
    cli_waiting *self = argument;
    char told[TOLD_SIZE] = "";
    struct pollfd stop = {self->stop_fd, POLLIN, 0};
    int pause_ms = FIRST_MS;
    for (bool first = true;; first = false) {
        int ready = poll(&stop, 1, pause_ms);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return NULL;
        if (first && self->options->within && !self->options->quiet)
            say(self, "RLOCK_NAME says that this command runs under it already, so it may wait for itself");
        if (self->tells || !self->hold->lock)
            look(self, told, sizeof told);
        pause_ms = self->tells ? AGAIN_MS : EXISTS_MS;
    }
}

void waiting_begin(cli_waiting *self, rlock_client *client, const run_options *options, cli_hold *hold,
                   rlock_cancel *cancel)
{
    *self = (cli_waiting){.client = client,
                          .options = options,
                          .hold = hold,
                          .cancel = cancel,
                          .since_ms = rli_now_ms(),
                          .stop_fd = -1,
                          .mutex = PTHREAD_MUTEX_INITIALIZER};
    /* Nothing stands under the name of a sharded lock itself. */
    self->tells = options->verbose || (!options->quiet && isatty(STDERR_FILENO));
    bool warns = options->within && !options->quiet;
    if ((!self->tells && !warns && hold->lock) || hold->kind->sharded)
        return;
    self->stop_fd = eventfd(0, EFD_CLOEXEC);
    self->started = self->stop_fd >= 0 && pthread_create(&self->thread, NULL, tell, self) == 0;
}

void waiting_over(cli_waiting *self, bool acquired)
{
    pthread_mutex_lock(&self->mutex);
    self->over = true;
    pthread_mutex_unlock(&self->mutex);
    if (self->started)
        eventfd_write(self->stop_fd, 1);
    if (acquired && self->options->verbose) {
        char shown[DURATION_SHOWN];
        complain("acquired the %s \"%s\" after %s", hold_word(self->hold), self->hold->shown,
                 duration_show(rli_now_ms() - self->since_ms, shown));
    }
}

void waiting_end(cli_waiting *self)
{
    if (self->started)
        pthread_join(self->thread, NULL);
    if (self->stop_fd >= 0)
        close(self->stop_fd);
}
