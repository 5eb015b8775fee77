/* rlock run: runs a command while holding a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/exits.h"
#include "cli/interruption.h"
#include "cli/loss.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/server.h"
#include "cli/supervise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "rlock run [OPTION…] NAME -- COMMAND… - run a command while holding a lock\n"
    "\n"
    "Waits for the lock, runs COMMAND, frees the lock and exits as COMMAND did. When the\n"
    "lock is lost meanwhile, COMMAND and all that it started get SIGTERM, and SIGKILL if\n"
    "they do not end. COMMAND finds the lock's name in RLOCK_NAME.\n"
    "\n"
    "  --wait DUR  give up when the lock is not to be had in DUR; 0: try once.\n"
    "              Without it: wait as long as it takes\n"
    "  --lease DUR the lock ends after DUR at the latest, and COMMAND with it.\n"
    "              Without it: the lock is renewed as long as COMMAND runs\n"
    "  --kill-after DUR\n"
    "              from SIGTERM to SIGKILL when the lock was lost; default 5s\n" SERVER_HELP
    "\n"
    "DUR is such as 500ms, 10s, 1.5m or 1h; a number alone counts seconds.\n"
    "SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to COMMAND;\n"
    "while rlock waits for the lock, they end the wait.\n"
    "\n"
    "Exit status: that of COMMAND, 128+n when signal n ended it or the wait; 64 usage;\n"
    "69 no server; 70 the lock was lost; 71 the system refused something; 75 not to be\n"
    "had in time; 76 the server refused; 126 COMMAND cannot be run; 127 not found.\n";

typedef struct run_options {
    const char *url;
    int64_t wait_ms, lease_ms, kill_after_ms;
} run_options;

static int run_under_lock(rlock_client *client, rlock *lock, char **command, const cli_signals *signals,
                          const run_options *options)
{
    cli_loss loss;
    cli_child child;
    if (!loss_watch(&loss, client, lock)) {
        complain("the lock cannot be watched: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    int code = child_start(&child, command, signals);
    if (code == EXIT_DONE)
        code = supervise(&child, &loss, signals, options->kill_after_ms) ? child_exit(&child) : EXIT_LOST;
    loss_unwatch(&loss, client);
    return code;
}

/* Gives the lock back. What the command did counts, unless it may have run beside another. */
static int release(rlock *lock, int code)
{
    if (code == EXIT_LOST && rlock_valid_for(lock) <= 0)
        return code;
    rlock_status status = rlock_unlock(lock);
    if (status == RLOCK_OK)
        return code;
    complain("%s", rlock_last_error());
    return status == RLOCK_LOST ? EXIT_LOST : code;
}

static int not_held(rlock_status status, const char *name, int signal)
{
    char shown[SHOWN_SIZE];
    shorten(name, shown);
    if (signal) {
        complain("%s ended the wait for the lock \"%s\"", strsignal(signal), shown);
        return EXIT_SIGNAL + signal;
    }
    if (status == RLOCK_TIMEOUT)
        complain("the lock \"%s\" was not to be had in time; rlock inspect shows its holder", shown);
    else
        complain("%s", rlock_last_error());
    return exit_for(status);
}

static int take_and_run(rlock_client *client, const char *name, char **command, const cli_signals *signals,
                        cli_interruption *interruption, const run_options *options)
{
    rlock *lock = rlock_get_lock(client, name);
    rlock_lock_options how = RLOCK_LOCK_OPTIONS_INIT;
    how.wait_ms = options->wait_ms;
    how.lease_ms = options->lease_ms;
    how.cancel = interruption->cancel;
    rlock_status status = RLOCK_NO_MEMORY;
    if (lock) {
        interruption_wait_begins(interruption);
        status = rlock_lock_with(lock, &how);
    }
    int signal = interruption_stop(interruption), code;
    if (status != RLOCK_OK)
        code = not_held(status, name, signal);
    else if (signal) /* it came at the same moment as the lock */
        code = release(lock, EXIT_SIGNAL + signal);
    else
        code = release(lock, run_under_lock(client, lock, command, signals, options));
    rlock_free(lock);
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
    if (setenv("RLOCK_NAME", name, 1) != 0) /* before there are threads that might read it */
        return no_start("the environment cannot be extended");
    if (!signals_open(&signals))
        return no_start("signals cannot be listened to");
    rlock_cancel *cancel = rlock_cancel_new();
    if (!cancel || !interruption_start(&interruption, &signals, cancel))
        return no_start("signals cannot be listened to");
    int code = server_open(&client, options->url);
    if (code == EXIT_DONE) {
        code = take_and_run(client, name, command, &signals, &interruption, options);
        rlock_client_close(client);
    } else {
        interruption_stop(&interruption);
    }
    rlock_cancel_free(cancel);
    return code;
}

int run_command(char **argv)
{
    run_options found = {.wait_ms = RLOCK_FOREVER, .lease_ms = RLOCK_WATCHDOG, .kill_after_ms = 5000};
    const cli_option options[] = {{.name = "--url", .text = &found.url},
                                  {.name = "--wait", .duration_ms = &found.wait_ms},
                                  {.name = "--lease", .duration_ms = &found.lease_ms},
                                  {.name = "--kill-after", .duration_ms = &found.kill_after_ms},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] NAME -- COMMAND…"};
    if (!options_read(&words, options, argv))
        return EXIT_USAGE;
    if (words.help) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (found.lease_ms == 0)
        return usage_error(words.command, "--lease is 0; a lease takes at least 1ms");
    if (!words.rest || !words.rest[0])
        return usage_error(words.command, "the COMMAND is missing; it stands behind NAME and --");
    return run(words.name, words.rest, &found);
}
