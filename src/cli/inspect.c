/* rlock inspect: shows what is stored under a name, who holds it, and for how long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/inspection.h"
#include "cli/server.h"

static const char help[] =
    "rlock inspect [OPTION…] NAME - show what NAME is, who holds it, and for how long\n"
    "\n"
    "Knows locks (with the queue of a fair and the last token of a fenced one), read-write\n"
    "locks, semaphores (with the permits that are out, of one whose permits expire) and\n"
    "latches. What looks alike on the server is not told apart. Holders and waiters that\n"
    "use rlock and have no clientName are shown with process, host and address, where the\n"
    "user may run CLIENT LIST.\n"
    "\n"
    "  --json      one JSON object: name, kind, locked, ttl_ms (null: not there, or without\n"
    "              end), mode, holders, waiters, token, available, permits; see the manual\n" SERVER_HELP "\n"
    "Exit status: 0 locked or free; 64 usage; 69 no server; 76 the server refused,\n"
    "also when the key is none of these.\n";

static rlock_status inspect(rlock_client *client, const char *name, const cli_kind *kind, bool json)
{
    (void)kind; /* rlock_inspect finds the kind */
    rlock_inspection *found;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status != RLOCK_OK)
        return status;
    /* If the user has no right to list clients, the processes stay unknown. */
    if (found->holder_count + found->waiter_count > 0 &&
        rlock_inspect_processes(client, name, found) == RLOCK_NO_MEMORY) {
        rlock_inspection_free(found);
        return RLOCK_NO_MEMORY;
    }
    if (json)
        inspection_print_json(name, found);
    else
        inspection_print_text(name, found);
    rlock_inspection_free(found);
    return RLOCK_OK;
}

int inspect_command(char **argv)
{
    return ask_command(argv, &(cli_question){.help = help, .ask = inspect});
}
