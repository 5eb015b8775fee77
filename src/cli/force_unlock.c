/* rlock force-unlock: frees a lock, whoever holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/server.h"

#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "rlock force-unlock [OPTION…] NAME - free a lock, whoever holds it\n"
    "\n"
    "The holder is not asked. It notices at its next renewal or unlock, and until then\n"
    "may work at the same time as the next holder. Prints whether it was locked.\n"
    "\n"
    "  --kind KIND lock, fair, spin, fenced, token, signal, read, write or non-reentrant: which waiters\n"
    "              to wake. A read-write lock is freed only if that side is held.\n"
    "              Default: the kind that the server shows. A string is freed only with\n"
    "              --kind token or signal, since it may be a value of any program\n"
    "  --json      one JSON object: name, was_locked\n" SERVER_HELP "\n"
    "Exit status: 0 the lock is free now, whether or not it was locked; 64 usage;\n"
    "69 no server, or its answer was lost (see rlock inspect); 74 standard output could\n"
    "not be written; 76 the server refused, also when the key is not a lock.\n";

/* A string may be anything: the key of a token lock cannot be told from a program's data. */
static int refuse_string(const char *name, const char *kind)
{
    char shown[SHOWN_SIZE];
    shorten(name, shown);
    complain(
        "\"%s%s\" is a string, which may be a token lock or any other value of a program; nothing was changed. If it "
        "is a lock: rlock force-unlock --kind %s %s",
        strcmp(kind, "signal") == 0 ? "lock:" : "", shown, kind, shown);
    return EXIT_REFUSED;
}

static int refuse_number(const char *name, const char *kind)
{
    char shown[SHOWN_SIZE];
    complain("\"%s\" is %s, and not a lock; nothing was changed", shorten(name, shown),
             strcmp(kind, "permit-expirable") == 0 ? "a semaphore whose permits have leases"
                                                   : "a number, as that of a semaphore or a latch");
    return EXIT_REFUSED;
}

/* Finds the kind of the lock under `name`. Kinds that look the same on the server are treated as a reentrant
 * lock: their waiters hear the same message, or none at all. Returns EXIT_DONE; otherwise the exit status, after a
 * message on stderr. */
static int look(rlock_client *client, const char *name, const cli_kind **kind)
{
    rlock_inspection *found;
    int code = EXIT_DONE;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status == RLOCK_SERVER)
        complain("%s; nothing was changed", rlock_last_error());
    else if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    if (status != RLOCK_OK)
        return exit_for(status);
    const cli_kind *seen = kind_find(found->mode ? found->mode : found->kind);
    *kind = seen && seen->lock ? seen : &kind_plain; /* a group is freed with all of its values */
    if (describe_is_token(found))
        code = refuse_string(name, found->kind);
    else if (strcmp(found->kind, "semaphore-or-latch") == 0 || strcmp(found->kind, "permit-expirable") == 0)
        code = refuse_number(name, found->kind);
    rlock_inspection_free(found);
    return code;
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

static int force_unlock(rlock_client *client, const char *name, const cli_kind *kind, bool json)
{
    bool was_locked = false;
    int code = kind ? EXIT_DONE : look(client, name, &kind);
    if (code != EXIT_DONE)
        return code;
    rlock_status status = force(client, name, kind, &was_locked);
    if (status != RLOCK_OK)
        return complain_failed(status);
    if (json) {
        fputs("{\"name\":", stdout);
        json_string(name, strlen(name));
        printf(",\"was_locked\":%s}\n", was_locked ? "true" : "false");
    } else {
        print_shown(stdout, name);
        puts(was_locked ? ": was locked, is free now" : ": was not locked");
    }
    return EXIT_DONE;
}

int force_unlock_command(char **argv)
{
    return ask_command(argv, &(cli_question){.help = help, .of_kind = true, .ask = force_unlock});
}
