/* What the sub-commands that ask something of one lock and print the answer have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include "cli/exits.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/server.h"

#include <stdio.h>

int ask_command(char **argv, const char *help, ask_fn *ask)
{
    const char *url = NULL;
    bool json = false;
    const cli_option options[] = {
        {.name = "--url", .text = &url}, {.name = "--json", .flag = &json}, {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] NAME"};
    if (!options_read(&words, options, argv))
        return EXIT_USAGE;
    if (words.help) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (words.rest)
        return usage_error(words.command, "nothing may stand behind NAME, no -- either");

    rlock_client *client;
    int code = server_open(&client, url);
    if (code != EXIT_DONE)
        return code;
    rlock_status status = ask(client, words.name, json);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    rlock_client_close(client);
    return exit_for(status);
}
