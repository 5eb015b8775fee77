/* rlock force-unlock: frees a lock, whoever holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/server.h"

#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "rlock force-unlock [OPTION…] NAME - free a lock, whoever holds it\n"
                           "\n"
                           "The holder is not asked. It notices at its next renewal or unlock, and until then\n"
                           "may work at the same time as the next holder. Prints whether it was locked.\n"
                           "\n"
                           "  --kind KIND lock, fair, spin, fenced, token, signal, read, write or non-reentrant: which waiters\n"
                           "              to wake. A read-write lock is freed only if that side is held.\n"
                           "              Default: the kind that the server shows\n"
                           "  --json      one JSON object: name, was_locked\n" SERVER_HELP "\n"
                           "Exit status: 0 the lock is free now, whether or not it was locked; 64 usage;\n"
                           "69 no server, or its answer was lost (see rlock inspect); 76 the server refused,\n"
                           "also when the key is not a lock.\n";

/* Finds the kind of the lock under `name`. Kinds that look the same on the server are treated as a reentrant
 * lock: their waiters hear the same message, or none at all. */
static rlock_status look(rlock_client *client, const char *name, const cli_kind **kind)
{
    rlock_inspection *found;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status != RLOCK_OK)
        return status;
    const cli_kind *seen = kind_find(found->mode ? found->mode : found->kind);
    *kind = seen && seen->lock ? seen : &kind_plain; /* a group is freed with all of its values */
    rlock_inspection_free(found);
    return RLOCK_OK;
}

static rlock_status force(rlock_client *client, const char *name, const cli_kind *kind, bool *was_locked)
{
    rlock *lock = kind->lock(client, name);
    if (!lock) /* the name was checked before; only a signal-list lock asks for more, in a cluster */
        return kind->braces ? RLOCK_INVALID : RLOCK_NO_MEMORY;
    rlock_status status = rlock_force_unlock(lock, was_locked);
    rlock_free(lock);
    return status;
}

static rlock_status force_unlock(rlock_client *client, const char *name, const cli_kind *kind, bool json)
{
    bool was_locked = false;
    rlock_status status = kind ? RLOCK_OK : look(client, name, &kind);
    if (status == RLOCK_OK)
        status = force(client, name, kind, &was_locked);
    if (status != RLOCK_OK)
        return status;
    if (json) {
        fputs("{\"name\":", stdout);
        json_string(name, strlen(name));
        printf(",\"was_locked\":%s}\n", was_locked ? "true" : "false");
    } else {
        print_shown(stdout, name);
        puts(was_locked ? ": was locked, is free now" : ": was not locked");
    }
    return RLOCK_OK;
}

int force_unlock_command(char **argv)
{
    return ask_command(argv, &(cli_question){.help = help, .of_kind = true, .ask = force_unlock});
}
