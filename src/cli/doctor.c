/* rlock doctor: checks whether locks are safe with the servers as they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/server.h"
#include "cli/signals.h"
#include "cli/trial.h"

#include <errno.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "rlock doctor [OPTION…] [NAME] - check whether locks are safe with your servers\n"
                           "\n"
                           "Asks the server, or all masters of a cluster, for version, eviction policy, persistence,\n"
                           "replicas, clock and output-buffer limits, and says what each means for locks. Then takes\n"
                           "and frees locks of several kinds as your programs do, to see whether the user has all\n"
                           "rights. Their names begin with NAME, if given: name one that the user may use. They are\n"
                           "freed at once, also when a signal ends rlock; if it is killed, they end within half a\n"
                           "minute, and the places in the fair lock's queue stay.\n"
                           "\n"
                           "Each line begins with ok, note, warning (locks may be lost when a server fails) or\n"
                           "problem (locks are not safe, or do not work).\n"
                           "\n"
                           "  --strict    a warning counts as a problem\n"
                           "  --json      one JSON object a line: severity, where, subject, text\n" SERVER_HELP "\n"
                           "Exit status: 0 no problem was found; 1 there is at least one; 64 usage; 69 no server;\n"
                           "74 standard output could not be written; 76 the server refused to serve rlock at all;\n"
                           "128+n: signal n ended it.\n";

static void check(const rlock_server *server, void *arg)
{
    check_server(arg, server);
}

typedef struct doctor_options {
    bool strict, json;
} doctor_options;

static int examine(rlock_client *client, const char *name, const doctor_options *options,
                   cli_interruption *interruption)
{
    cli_findings findings = {.json = options->json};
    rlock_status status = rlock_examine(client, check, &findings);
    if (status != RLOCK_OK)
        return complain_failed(status);
    interruption_wait_begins(interruption);
    trial_run(&findings, client, name, interruption->cancel);
    return findings.problems || (options->strict && findings.warnings) ? EXIT_PROBLEM : EXIT_DONE;
}

/* A signal ends the process at once while nothing is taken. */
static int diagnose(const cli_server *server, const char *name, const doctor_options *asked)
{
    cli_signals signals;
    cli_interruption interruption;
    rlock_client *client;
    rlock_cancel *cancel = rlock_cancel_new();
    if (!cancel || !signals_open(&signals) || !interruption_start(&interruption, &signals, cancel)) {
        complain("could not watch for signals: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    int code = server_open(&client, server);
    bool opened = code == EXIT_DONE;
    if (opened)
        code = examine(client, name, asked, &interruption);
    int signal = interruption_stop(&interruption);
    if (opened)
        rlock_client_close(client);
    rlock_cancel_free(cancel);
    return signal ? EXIT_SIGNAL + signal : code;
}

int doctor_command(char **argv)
{
    cli_server server = {0};
    doctor_options asked = {0};
    const cli_option options[] = {SERVER_OPTIONS(server),
                                  {.name = "--strict", .flag = &asked.strict},
                                  {.name = "--json", .flag = &asked.json},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] [NAME]", .help = help, .name_is_optional = true};
    int code;
    if (!options_read(&words, options, argv, &code))
        return code;
    if (words.rest)
        return usage_error(words.command, "nothing may follow NAME, not even --");
    return diagnose(&server, words.name, &asked);
}
