/* rlock doctor: checks whether locks are safe with the servers as they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/server.h"
#include "cli/trial.h"

#include <rlock/inspect.h>
#include <stdio.h>

static const char help[] = "rlock doctor [OPTION…] [NAME] - check whether locks are safe with your servers\n"
                           "\n"
                           "Asks the server, or all masters of a cluster, for version, eviction policy, persistence,\n"
                           "replicas, clock and output-buffer limits, and says what each means for locks. Then takes\n"
                           "and frees locks of several kinds as your programs do, to see whether the user has all\n"
                           "rights. Their names begin with NAME, if given: name one that the user may use. They are\n"
                           "freed at once; if rlock is killed, they end within half a minute.\n"
                           "\n"
                           "Each line begins with ok, note, warning (locks may be lost when a server fails) or\n"
                           "problem (locks are not safe, or do not work).\n"
                           "\n"
                           "  --strict    a warning counts as a problem\n" SERVER_HELP "\n"
                           "Exit status: 0 no problem was found; 1 there is at least one; 64 usage; 69 no server;\n"
                           "74 standard output could not be written; 76 the server refused to serve rlock at all.\n";

static void check(const rlock_server *server, void *arg)
{
    check_server(arg, server);
}

static int examine(rlock_client *client, const char *name, bool strict)
{
    cli_findings findings = {0};
    rlock_status status = rlock_examine(client, check, &findings);
    if (status != RLOCK_OK) {
        complain("%s", rlock_last_error());
        return exit_for(status);
    }
    trial_run(&findings, client, name);
    return findings.problems || (strict && findings.warnings) ? EXIT_PROBLEM : EXIT_DONE;
}

int doctor_command(char **argv)
{
    cli_server server = {0};
    bool strict = false;
    const cli_option options[] = {SERVER_OPTIONS(server), {.name = "--strict", .flag = &strict}, {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] [NAME]", .help = help, .name_is_optional = true};
    int code;
    if (!options_read(&words, options, argv, &code))
        return code;
    if (words.rest)
        return usage_error(words.command, "nothing may follow NAME, not even --");
    rlock_client *client;
    code = server_open(&client, &server);
    if (code != EXIT_DONE)
        return code;
    code = examine(client, words.name, strict);
    rlock_client_close(client);
    return code;
}
