/* rlock run: runs a command while holding a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/hold.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/server.h"
#include "cli/signals.h"
#include "cli/supervise.h"

#include <errno.h>
#include <inttypes.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "rlock run [OPTION…] NAME -- COMMAND… - run a command while holding a lock\n"
                           "\n"
                           "Waits for the lock, runs COMMAND, frees the lock and exits as COMMAND did. If the lock\n"
                           "is lost meanwhile, COMMAND and all processes that it started get SIGTERM, and SIGKILL\n"
                           "if they do not end. RLOCK_NAME in the environment of COMMAND has the lock's name.\n"
                           "\n"
                           "  --kind KIND what NAME is: lock (the default); fair: granted in the order of the\n"
                           "              requests; spin; fenced: RLOCK_TOKEN has the token; token: SET NX PX, as\n"
                           "              redis-py and redlock take it; signal: a signal list, as python-redis-lock\n"
                           "              takes it; read, write: a side of a read-write lock;\n"
                           "              non-reentrant; sharded: one of --shards parts; RLOCK_SHARD has its number;\n"
                           "              group: the values of --value in the group NAME, all or none;\n"
                           "              semaphore: as many COMMANDs run at once as it has permits; permit: a\n"
                           "              semaphore whose permits have leases\n"
                           "  --shards N  number of parts of a sharded lock; all its users must name the same\n"
                           "  --value V   a value of the group; once for each\n"
                           "  --codec C   how Java's clients write the values: kryo5 (the default) or string\n"
                           "  --wait DUR  give up if the lock is not acquired within DUR; 0: try once;\n"
                           "              default: wait without limit\n"
                           "  --lease DUR the lock ends after DUR at the latest, and COMMAND with it;\n"
                           "              default: the lock is renewed while COMMAND runs\n"
                           "  --kill-after DUR\n"
                           "              time from SIGTERM to SIGKILL after the lock was lost; default 5s\n"
                           "  --permits N number of permits to acquire; default 1. If rlock is killed, those of\n"
                           "              --kind semaphore stay acquired, and those of --kind permit expire\n"
                           "  --set-permits N\n"
                           "              create the semaphore with N permits if it does not exist\n" SERVER_HELP "\n"
                           "DUR is for example 500ms, 10s, 1.5m or 1h; a number without a unit means seconds.\n"
                           "rlock passes SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 on to COMMAND;\n"
                           "while it waits for the lock, they end the wait.\n"
                           "\n"
                           "Exit status: that of COMMAND; 128+n: signal n ended it or the wait; 64 usage;\n"
                           "69 no server; 70 the lock was lost; 71 the system refused a resource; 75 timeout;\n"
                           "76 the server refused, or the semaphore does not exist; 126 COMMAND could not be\n"
                           "run; 127 COMMAND was not found.\n";

/* --- the environment of the command --- */

/* rlock's own environment with `more`, for example RLOCK_TOKEN=7, unless that is "". It is a copy because setenv() is not
 * safe in a process with threads; the other strings are shared with the environment. NULL: out of memory. The caller frees
 * it. Allocates one block: the pointers, followed by the text. */
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

static const char *permits(const cli_hold *hold)
{
    return hold->permits == 1 ? "permit" : "permits";
}

/* Checks that the semaphore exists, or creates it with set_permits if that is not 0. Returns EXIT_DONE; otherwise the
 * exit status, after a message on stderr. The semaphore must exist: a wait for permits of a semaphore that nobody creates would not end. */
static int find_semaphore(rlock_client *client, cli_hold *hold, const char *name, int set_permits)
{
    rlock_inspection *found = NULL;
    rlock_status status = set_permits ? hold_set_permits(hold, set_permits) : rlock_inspect(client, name, &found);
    bool there = !found || found->ttl_ms != RLOCK_NOT_THERE || found->has_permits;
    rlock_inspection_free(found);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    else if (!there)
        complain("the semaphore \"%s\" does not exist; --set-permits N creates it", hold->shown);
    return there ? exit_for(status) : EXIT_REFUSED;
}

/* Writes a message after a failed acquire, and returns the exit status. `signal`: the signal that ended the wait; 0:
 * none. */
static int not_held(const cli_hold *hold, rlock_status status, int signal)
{
    if (signal && status != RLOCK_UNKNOWN) {
        complain("%s ended the wait for the %s \"%s\"", strsignal(signal), hold_word(hold), hold->shown);
        return EXIT_SIGNAL + signal;
    }
    if (status == RLOCK_TIMEOUT && hold->lock)
        complain("could not acquire the lock \"%s\" in time; rlock inspect shows its holder", hold->shown);
    else if (status == RLOCK_TIMEOUT)
        complain("the semaphore \"%s\" did not have %d %s in time; rlock inspect shows how many it has", hold->shown,
                 hold->permits, permits(hold));
    else if (status == RLOCK_UNKNOWN)
        complain("%d %s may have been acquired, although the command did not run: %s", hold->permits, permits(hold),
                 rlock_last_error());
    else if (status == RLOCK_LOST && hold->leased)
        complain("the permit \"%s\" was lost before the command began", hold->shown);
    else
        complain("%s", rlock_last_error());
    return exit_for(status);
}

/* If the server refuses PUBLISH, the lock may be free although the release failed: the script deletes the key first. */
static bool is_free(const cli_hold *hold)
{
    bool locked = true;
    return rlock_is_locked(hold->lock, &locked) == RLOCK_OK && !locked;
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

/* Permits of a plain semaphore have no lease, so the user must know that they are still taken. */
static void complain_of_permits(const cli_hold *hold, rlock_status status)
{
    if (status == RLOCK_LOST)
        complain("the permit \"%s\" was lost before the command ended", hold->shown);
    else if (status == RLOCK_UNKNOWN)
        complain("it is unknown whether %d %s came back: %s", hold->permits, permits(hold), rlock_last_error());
    else
        complain("could not release %d %s%s: %s", hold->permits, permits(hold),
                 hold->leased ? ", which will expire" : "", rlock_last_error());
}

/* Releases the hold. `code`: the exit status of the command, or of what prevented it. Returns the exit status for
 * rlock, after a message on stderr if the release failed. The command's exit status is kept, unless another owner may have held the lock while the command ran. */
static int give_back(cli_hold *hold, int code)
{
    bool lost = code == EXIT_LOST && hold_valid_for(hold) <= 0;
    if (lost && hold->leased)
        hold_give_back(hold); /* of several permits, releases those that are left */
    if (lost)
        return code;
    rlock_status status = hold_give_back(hold);
    if (status == RLOCK_OK)
        return code;
    if (hold->lock)
        complain_of_lock(hold, status);
    else
        complain_of_permits(hold, status);
    return status == RLOCK_LOST ? EXIT_LOST : code;
}

/* --- the command --- */

typedef struct run_options {
    cli_server server;
    const cli_kind *kind;
    int64_t wait_ms, lease_ms, kill_after_ms;
    int permits, set_permits, shards; /* 0: not given */
    cli_values values;
    const char *codec; /* of the values; NULL: not given */
} run_options;

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
static int run_under(rlock_client *client, const cli_hold *hold, char **command, const cli_signals *signals,
                     const run_options *options)
{
    cli_loss loss;
    cli_child child;
    char told[TOLD_SIZE];
    if (tell(hold, told) != RLOCK_OK) {
        complain("%s", rlock_last_error());
        return EXIT_LOST;
    }
    char **environment = environment_with(told);
    if (!environment || !loss_watch(&loss, client, hold)) {
        complain("could not watch the lock: %s", strerror(errno));
        free(environment);
        return EXIT_SYSTEM;
    }
    int code = child_start(&child, command, environment, signals);
    free(environment);
    if (code == EXIT_DONE)
        code = supervise(&child, &loss, signals, options->kill_after_ms) ? child_exit(&child) : EXIT_LOST;
    loss_unwatch(&loss, client);
    return code;
}

static int take_and_run(rlock_client *client, cli_hold *hold, char **command, const cli_signals *signals,
                        cli_interruption *interruption, const run_options *options)
{
    rlock_lock_options how = RLOCK_LOCK_OPTIONS_INIT;
    how.wait_ms = options->wait_ms;
    how.lease_ms = options->lease_ms;
    how.cancel = interruption->cancel;
    interruption_wait_begins(interruption);
    rlock_status status = hold_take(hold, &how);
    int signal = interruption_stop(interruption);
    if (status != RLOCK_OK)
        return not_held(hold, status, signal);
    if (signal) /* the signal came at the same moment as the lock */
        return give_back(hold, EXIT_SIGNAL + signal);
    return give_back(hold, run_under(client, hold, command, signals, options));
}

static int run_with(rlock_client *client, const char *name, char **command, const cli_signals *signals,
                    cli_interruption *interruption, const run_options *options)
{
    cli_hold hold;
    int count = options->kind->sharded ? options->shards : options->permits ? options->permits : 1;
    rlock_status status = hold_open(&hold, client, options->kind, name, count, &options->values);
    int code = exit_for(status);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    else if (!hold.lock)
        code = find_semaphore(client, &hold, name, options->set_permits);
    if (code == EXIT_DONE)
        code = take_and_run(client, &hold, command, signals, interruption, options);
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

static int run(const char *name, char **command, const run_options *options)
{
    cli_signals signals;
    cli_interruption interruption;
    rlock_client *client;
    /* Change the environment before there are threads that might read it. RLOCK_TOKEN and
     * RLOCK_SHARD may come from an rlock command around this one. */
    if (setenv("RLOCK_NAME", name, 1) != 0 || unsetenv("RLOCK_TOKEN") != 0 || unsetenv("RLOCK_SHARD") != 0)
        return no_start("could not extend the environment");
    if (!signals_open(&signals))
        return no_start("could not watch for signals");
    rlock_cancel *cancel = rlock_cancel_new();
    if (!cancel || !interruption_start(&interruption, &signals, cancel))
        return no_start("could not watch for signals");
    int code = server_open(&client, &options->server);
    if (code == EXIT_DONE) {
        code = run_with(client, name, command, &signals, &interruption, options);
        rlock_client_close(client);
    } else {
        interruption_stop(&interruption);
    }
    rlock_cancel_free(cancel);
    return code;
}

/* False: the options of a group lock are wrong, as a message says. */
static bool read_values(const cli_words *words, run_options *found)
{
    bool given = found->values.given.count > 0;
    if (found->kind->grouped != given)
        usage_error(words->command, given ? "--value is for --kind group"
                                          : "--kind group wants the values of the group: --value V, once for each");
    else if (found->codec && !given)
        usage_error(words->command, "--codec is for the values of --kind group");
    else if (!found->codec || strcmp(found->codec, "kryo5") == 0)
        return true;
    else if (strcmp(found->codec, "string") == 0)
        return found->values.codec = RLOCK_CODEC_STRING, true;
    else
        usage_error(words->command, "--codec must be kryo5 or string");
    return false;
}

static int check_options(const cli_words *words, run_options *found)
{
    if (found->lease_ms == 0)
        return usage_error(words->command, "--lease is 0; it must be at least 1ms");
    bool locks = found->kind->lock || found->kind->sharded || found->kind->grouped;
    if (!read_values(words, found))
        return EXIT_USAGE;
    if (found->kind->sharded != (found->shards > 0))
        return usage_error(words->command, found->shards ? "--shards is for --kind sharded"
                                                       : "--kind sharded wants the number of its parts: --shards N");
    if (locks && (found->permits || found->set_permits))
        return usage_error(words->command, "only a semaphore has permits: add --kind semaphore or --kind permit");
    if (!locks && !found->kind->leased && found->lease_ms != RLOCK_WATCHDOG)
        return usage_error(words->command, "--lease: permits of --kind semaphore have no lease; use --kind permit");
    if (!words->rest || !words->rest[0])
        return usage_error(words->command, "the COMMAND is missing; write it after NAME and --");
    return EXIT_DONE;
}

int run_command(char **argv)
{
    run_options found = {
        .kind = &kind_plain, .wait_ms = RLOCK_FOREVER, .lease_ms = RLOCK_WATCHDOG, .kill_after_ms = 5000};
    const cli_option options[] = {SERVER_OPTIONS(found.server),
                                  {.name = "--kind", .kind = &found.kind},
                                  {.name = "--permits", .number = &found.permits},
                                  {.name = "--shards", .number = &found.shards},
                                  {.name = "--value", .list = &found.values.given},
                                  {.name = "--codec", .text = &found.codec},
                                  {.name = "--set-permits", .number = &found.set_permits},
                                  {.name = "--wait", .duration_ms = &found.wait_ms},
                                  {.name = "--lease", .duration_ms = &found.lease_ms},
                                  {.name = "--kill-after", .duration_ms = &found.kill_after_ms},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] NAME -- COMMAND…", .help = help};
    int code;
    bool read = options_read(&words, options, argv, &code);
    if (read)
        code = check_options(&words, &found);
    if (read && code == EXIT_DONE)
        code = run(words.name, words.rest, &found);
    free(found.values.given.items);
    return code;
}
