/* Ask: what sub-commands have in common that ask about one object and print the answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include "cli/exits.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/server.h"

#include <stdio.h>

int ask_command(char **argv, const cli_question *question)
{
    cli_server server = {0};
    bool json = false;
    const cli_kind *kind = NULL;
    const cli_option options[] = {SERVER_OPTIONS(server),
                                  {.name = "--json", .flag = &json},
                                  {.name = question->of_kind ? "--kind" : NULL, .kind = &kind},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] NAME"};
    if (!options_read(&words, options, argv))
        return EXIT_USAGE;
    if (words.help) {
        fputs(question->help, stdout);
        return EXIT_DONE;
    }
    if (words.rest)
        return usage_error(words.command, "nothing may stand behind NAME, no -- either");
    if (kind && !kind->lock)
        return usage_error(words.command, "a %s is no lock: --kind must be " KIND_LOCKS, kind->name);

    rlock_client *client;
    int code = server_open(&client, &server);
    if (code != EXIT_DONE)
        return code;
    rlock_status status = question->ask(client, words.name, kind, json);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    rlock_client_close(client);
    return exit_for(status);
}
