/* rlock run: runs a command while holding a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/hold.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/run_options.h"
#include "cli/server.h"
#include "cli/signals.h"
#include "cli/supervise.h"
#include "cli/waiting.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the environment of the command --- */

/* rlock's own environment with `more`, for example RLOCK_TOKEN=7, unless that is "". It is a copy because setenv() is
 * not safe in a process with threads; the other strings are shared with the environment. NULL: out of memory. The
 * caller frees it. Allocates one block: the pointers, followed by the text. */
static char **environment_with(const char *more)
{
    size_t count = 0;
    while (environ[count])
        count++;
    size_t pointers = (count + 2) * sizeof(char *);
    char **environment = malloc(pointers + strlen(more) + 1);
    if (!environment)
        return NULL;
    memcpy(environment, environ, count * sizeof(char *));
    if (*more)
        environment[count++] = strcpy((char *)environment + pointers, more);
    environment[count] = NULL;
    return environment;
}

/* --- taking and giving back --- */

#define GIVE_BACK_MS 3000 /* how long a release is tried */
#define AGAIN_MS     250  /* pause between two tries */

static const char *permits(const cli_hold *hold)
{
    return hold->permits == 1 ? "permit" : "permits";
}

static int not_there(const cli_hold *hold)
{
    complain("the semaphore \"%s\" does not exist; --set-permits N creates it", hold->shown);
    return EXIT_REFUSED;
}

static int was_deleted(const cli_hold *hold)
{
    complain("the semaphore \"%s\" was deleted during the wait; once no command runs under it any more, --set-permits N "
             "creates it anew",
             hold->shown);
    return EXIT_REFUSED;
}

/* Creates the semaphore, unless it exists. Returns EXIT_DONE; otherwise the exit status, after a message on stderr. */
static int create_semaphore(cli_hold *hold, int permits)
{
    rlock_status status = hold_set_permits(hold, permits);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    return exit_for(status);
}

/* Writes what is stored under the name of a lock of which the server has said WRONGTYPE. */
static void complain_of_type(rlock_client *client, const cli_hold *hold, const char *name)
{
    static const char other[] = "neither a lock nor a number but a ";
    char why[512];
    snprintf(why, sizeof why, "%s", rlock_last_error());
    rlock_inspection *found = NULL;
    bool there = rlock_inspect(client, name, &found) == RLOCK_OK && found->ttl_ms != RLOCK_NOT_THERE;
    bool string = there && strcmp(found->kind, "token") == 0;
    bool number = there && strcmp(found->kind, "semaphore-or-latch") == 0;
    const char *type = found ? NULL : strstr(rlock_last_error(), other);
    rlock_inspection_free(found);
    if (string)
        complain("\"%s\" is a string, such as a lock of redis-py: use --kind token, or another name", hold->shown);
    else if (number)
        complain("\"%s\" is a number, such as a semaphore or a latch: use --kind semaphore, or another name",
                 hold->shown);
    else if (type)
        complain("\"%s\" is a %.*s, no lock: use another name", hold->shown, (int)strcspn(type + strlen(other), ";"),
                 type + strlen(other));
    else
        complain("%s", why);
}

/* Whether what stands under the name of a lock is not a lock, so that a wait for it is in vain; then a message says it.
 * A hash of another program looks like a held lock to an acquire. Nothing stands under the name of a sharded lock. */
static bool is_no_lock(rlock_client *client, const cli_hold *hold, const char *name)
{
    rlock_inspection *found = NULL;
    if (!hold->lock || hold->kind->sharded)
        return false;
    bool no_lock = rlock_inspect(client, name, &found) == RLOCK_SERVER &&
                   strstr(rlock_last_error(), "it is not a lock");
    rlock_inspection_free(found);
    if (no_lock)
        complain("%s; use another name", rlock_last_error());
    return no_lock;
}

/* Writes that the wait was over; the parts of a sharded lock have names of their own. */
static void complain_of_time(const cli_hold *hold, const run_options *options)
{
    char shown[DURATION_SHOWN];
    bool waited = options->wait_ms > 0;
    duration_show_given(options->wait_ms, shown);
    if (options->kind->sharded && waited)
        complain("no part of the sharded lock \"%s\" became free within %s; rlock ls '%s:*' shows the holders",
                 hold->shown, shown, hold->shown);
    else if (options->kind->sharded && options->shards == 1)
        complain("the only part of the sharded lock \"%s\" is held by another; rlock ls '%s:*' shows by whom",
                 hold->shown, hold->shown);
    else if (options->kind->sharded)
        complain("all %d parts of the sharded lock \"%s\" are held by others; rlock ls '%s:*' shows by whom",
                 options->shards, hold->shown, hold->shown);
    else if (waited)
        complain("the lock \"%s\" did not become free within %s; rlock inspect %s shows its holder", hold->shown, shown,
                 hold->typed);
    else if (options->kind->lock == rlock_get_fair_lock)
        complain("the lock \"%s\" is held by another, or others wait for it; rlock inspect %s shows who", hold->shown,
                 hold->typed);
    else
        complain("the lock \"%s\" is held by another; rlock inspect %s shows by whom", hold->shown, hold->typed);
}

/* Writes a message after a failed acquire. */
static void complain_of_acquire(rlock_client *client, const cli_hold *hold, rlock_status status,
                                const run_options *options)
{
    if (status == RLOCK_TIMEOUT && hold->lock)
        complain_of_time(hold, options);
    else if (status == RLOCK_TIMEOUT)
        complain("the semaphore \"%s\" did not have %d %s in time; rlock inspect %s shows how many it has", hold->shown,
                 hold->permits, permits(hold), hold->typed);
    else if (status == RLOCK_UNKNOWN)
        complain("%d %s may have been acquired, although the command did not run: %s", hold->permits, permits(hold),
                 rlock_last_error());
    else if (status == RLOCK_LOST && hold->leased)
        complain("the permit of the semaphore \"%s\" was lost before the command began", hold->shown);
    else if (status == RLOCK_SERVER && hold->lock && strstr(rlock_last_error(), "WRONGTYPE"))
        complain_of_type(client, hold, options->name);
    else
        complain("%s", rlock_last_error());
}

/* Whether an acquire found no semaphore, and said it in these words. */
static bool is_missing(const cli_hold *hold, rlock_status status, const char *said)
{
    return status == RLOCK_INVALID && hold->must_exist && strstr(rlock_last_error(), said);
}

/* Writes a message after a failed acquire, and returns the exit status. `signal`: the signal that ended the wait; 0:
 * none. */
static int not_held(rlock_client *client, const cli_hold *hold, rlock_status status, int signal,
                    const run_options *options)
{
    if (signal && status != RLOCK_UNKNOWN) {
        complain("a signal ended the wait for the %s \"%s\": %s", hold_word(hold), hold->shown, strsignal(signal));
        return EXIT_SIGNAL + signal;
    }
    if (is_missing(hold, status, "does not exist"))
        return not_there(hold);
    if (status == RLOCK_CANCELLED /* cli/waiting.h has found so */ || is_missing(hold, status, "was deleted"))
        return was_deleted(hold);
    if (status == RLOCK_TIMEOUT && is_no_lock(client, hold, options->name))
        return EXIT_REFUSED;
    if (status != RLOCK_TIMEOUT || !options->quiet)
        complain_of_acquire(client, hold, status, options);
    return status == RLOCK_TIMEOUT ? options->timeout_exit : exit_for(status);
}

/* If the server refuses PUBLISH, the lock may be free although the release failed: the script deletes the key first. */
static bool is_free(const cli_hold *hold)
{
    bool locked = true;
    return (!hold->kind->sharded || hold->part) &&
           rlock_is_locked(hold->part ? hold->part : hold->lock, &locked) == RLOCK_OK && !locked;
}

static void complain_of_lock(const cli_hold *hold, rlock_status status)
{
    char why[512];
    snprintf(why, sizeof why, "%s", rlock_last_error());
    if (status == RLOCK_LOST)
        complain("the lock \"%s\" was lost before the command ended: %s", hold->shown, why);
    else if (status == RLOCK_SERVER && is_free(hold))
        complain(
            "the lock \"%s\" is free, but waiters were not notified and may wait until its TTL would have ended: %s",
            hold->shown, why);
    else
        complain(
            "could not release the lock \"%s\", so others wait until its TTL ends or rlock force-unlock frees it: %s",
            hold->shown, why);
}

static bool was_refused(rlock_status status, const char *advice)
{
    return status == RLOCK_SERVER && strstr(rlock_last_error(), advice);
}

/* Whether the server refuses all writes for now, so that the release did nothing and may be repeated. */
static bool is_refused_for_now(rlock_status status)
{
    return was_refused(status, "the server is at its maxmemory") || was_refused(status, "the server cannot save");
}

/* Whether only the waiters were not told: the message comes last. */
static bool is_untold(rlock_status status)
{
    return was_refused(status, "allow the ACL user all channels");
}

/* Of a right to a command it is not known whether the release needs it, or its message. */
static bool is_uncertain(rlock_status status)
{
    return status == RLOCK_UNKNOWN || was_refused(status, "allow the ACL user") ||
           was_refused(status, "rename-command");
}

/* Permits of a plain semaphore have no lease, so the user must know that they are still taken. */
static void complain_of_permits(const cli_hold *hold, rlock_status status)
{
    const char *why = rlock_last_error();
    if (status == RLOCK_LOST)
        complain("the permit of the semaphore \"%s\" was lost before the command ended", hold->shown);
    else if (is_untold(status))
        complain("%d %s came back, but waiters were not notified: %s", hold->permits, permits(hold), why);
    else if (hold->leased && status != RLOCK_UNKNOWN)
        complain("could not release %d %s, which will expire: %s", hold->permits, permits(hold), why);
    else if (is_uncertain(status))
        complain("it is unknown whether %d %s came back: %s", hold->permits, permits(hold), why);
    else
        complain("could not release %d %s; redis-cli incrby %s %d makes up for that: %s", hold->permits, permits(hold),
                 hold->typed, hold->permits, why);
}

/* Tries for some seconds with permits that would never be available again. */
static rlock_status try_to_give_back(cli_hold *hold, const cli_signals *signals)
{
    char last_words[SHOWN_SIZE + 100];
    cli_interruption interruption;
    snprintf(last_words, sizeof last_words,
             hold->semaphore && !hold->leased ? "it is unknown whether the %s of the semaphore \"%s\" came back"
                                              : "the %s \"%s\" may stay until it expires: its release was interrupted",
             hold->semaphore && !hold->leased ? permits(hold) : hold_word(hold), hold->shown);
    bool listens = interruption_start_releasing(&interruption, signals, last_words);
    int64_t until_ms = rli_now_ms() + GIVE_BACK_MS;
    rlock_status status = hold_give_back(hold);
    while (hold->semaphore && is_refused_for_now(status) && rli_now_ms() < until_ms) {
        poll(NULL, 0, AGAIN_MS);
        status = hold_give_back(hold);
    }
    if (listens)
        interruption_stop(&interruption);
    return status;
}

/* Releases the hold. `code`: the exit status of the command, or of what prevented it. Returns the exit status for
 * rlock, after a message on stderr if the release failed. The command's exit status is kept, unless another owner may
 * have held the lock while the command ran, or it is 0 and permits may never be available again. */
static int give_back(cli_hold *hold, const cli_signals *signals, int code)
{
    bool lost = code == EXIT_LOST && hold_valid_for(hold) <= 0;
    if (lost && hold->leased)
        hold_give_back(hold); /* of several permits, releases those that are left */
    if (lost)
        return code;
    rlock_status status = try_to_give_back(hold, signals);
    if (status == RLOCK_OK)
        return code;
    if (hold->lock)
        complain_of_lock(hold, status);
    else
        complain_of_permits(hold, status);
    bool missing = hold->semaphore && !is_untold(status);
    return status == RLOCK_LOST ? EXIT_LOST : missing && code == EXIT_DONE ? exit_for(status) : code;
}

/* --- the command --- */

/* Writes what the command is told of a fenced or sharded lock; "" of others. RLOCK_LOST: the lock was lost already. */
#define TOLD_SIZE sizeof "RLOCK_TOKEN=18446744073709551615"
static rlock_status tell(const cli_hold *hold, char told[TOLD_SIZE])
{
    uint64_t token = 0;
    int shard = 0;
    *told = 0;
    if ((hold->kind->fenced && rlock_get_token(hold->lock, &token) != RLOCK_OK) ||
        (hold->kind->sharded && rlock_get_shard(hold->lock, &shard) != RLOCK_OK))
        return RLOCK_LOST;
    if (hold->kind->fenced)
        snprintf(told, TOLD_SIZE, "RLOCK_TOKEN=%" PRIu64, token);
    if (hold->kind->sharded)
        snprintf(told, TOLD_SIZE, "RLOCK_SHARD=%d", shard);
    return RLOCK_OK;
}

/* Runs the command. */
static int run_under(rlock_client *client, const cli_hold *hold, const cli_signals *signals, const run_options *options)
{
    cli_loss loss;
    cli_child child;
    char told[TOLD_SIZE];
    if (tell(hold, told) != RLOCK_OK) {
        complain("%s", rlock_last_error());
        return EXIT_LOST;
    }
    char **environment = environment_with(told);
    if (!environment)
        complain("could not extend the environment");
    if (!environment || !loss_watch(&loss, client, hold)) {
        free(environment);
        return EXIT_SYSTEM;
    }
    int code = child_start(&child, options->command, environment, signals);
    free(environment);
    if (code == EXIT_NOT_FOUND && options->bare)
        complain("\"%s\" was taken as the name of a lock; the sub-commands are " SUB_COMMANDS, hold->shown);
    if (code == EXIT_DONE)
        code = supervise(&child, &loss, signals, options->kill_after_ms) ? child_exit(&child) : EXIT_LOST;
    loss_unwatch(&loss, client);
    return code;
}

static int take_and_run(rlock_client *client, cli_hold *hold, const cli_signals *signals,
                        cli_interruption *interruption, const run_options *options)
{
    rlock_lock_options how = RLOCK_LOCK_OPTIONS_INIT;
    how.wait_ms = options->wait_ms;
    how.lease_ms = options->lease_ms;
    how.cancel = interruption->cancel;
    cli_waiting waiting;
    waiting_begin(&waiting, client, options, hold, interruption->cancel);
    interruption_wait_begins(interruption);
    rlock_status status = hold_take(hold, client, options->name, &how);
    waiting_over(&waiting, status == RLOCK_OK);
    int signal = interruption_stop(interruption), code;
    if (status != RLOCK_OK)
        code = not_held(client, hold, status, signal, options);
    else if (signal) /* the signal came at the same moment as the lock */
        code = give_back(hold, signals, EXIT_SIGNAL + signal);
    else
        code = give_back(hold, signals, run_under(client, hold, signals, options));
    waiting_end(&waiting);
    return code;
}

static int run_with(rlock_client *client, const cli_signals *signals, cli_interruption *interruption,
                    const run_options *options)
{
    cli_hold hold;
    int count = options->kind->sharded ? options->shards : options->permits ? options->permits : 1;
    rlock_status status = hold_open(&hold, client, options->kind, options->name, count, &options->values);
    int code = exit_for(status);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    else if (!hold.lock && options->set_permits)
        code = create_semaphore(&hold, options->set_permits);
    /* A wait for permits of a semaphore that nobody creates would not end. */
    hold.must_exist = !options->set_permits;
    if (code == EXIT_DONE)
        code = take_and_run(client, &hold, signals, interruption, options);
    else
        interruption_stop(interruption);
    hold_close(&hold);
    return code;
}

static int no_start(const char *what)
{
    complain("%s: %s", what, strerror(errno));
    return EXIT_SYSTEM;
}

static int run(const run_options *options)
{
    cli_signals signals;
    cli_interruption interruption;
    rlock_client *client;
    /* Change the environment before there are threads that might read it. RLOCK_TOKEN and
     * RLOCK_SHARD may come from an rlock command around this one. */
    if (setenv("RLOCK_NAME", options->name, 1) != 0 || unsetenv("RLOCK_TOKEN") != 0 || unsetenv("RLOCK_SHARD") != 0)
        return no_start("could not extend the environment");
    if (!signals_open(&signals))
        return no_start("could not watch for signals");
    rlock_cancel *cancel = rlock_cancel_new();
    if (!cancel || !interruption_start(&interruption, &signals, cancel))
        return no_start("could not watch for signals");
    int code = server_open(&client, &options->server);
    if (code == EXIT_DONE) {
        code = run_with(client, &signals, &interruption, options);
        rlock_client_close(client);
    } else {
        interruption_stop(&interruption);
    }
    rlock_cancel_free(cancel);
    return code;
}

static int read_and_run(char **argv, bool bare)
{
    run_options options;
    int code;
    if (run_options_read(&options, argv, bare, &code))
        code = run(&options);
    run_options_clear(&options);
    return code;
}

int run_command(char **argv)
{
    return read_and_run(argv, false);
}

int bare_command(char **argv)
{
    return read_and_run(argv, true);
}
