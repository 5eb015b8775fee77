/* Run options: the command line of rlock run, and of rlock NAME COMMAND. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_options.h"

#include "cli/commands.h"
#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SHARDS 1024 /* as rlock_get_sharded_lock() takes them */

static const char help[] =
    "rlock [run] [OPTION…] NAME [--] COMMAND…    run a command while holding a lock\n"
    "rlock [run] [OPTION…] NAME -c COMMAND       the same, with a command for the shell\n"
    "\n"
    "Waits for the lock, runs COMMAND, frees the lock and exits as COMMAND did. If the lock\n"
    "is lost meanwhile, COMMAND and all processes that it started get SIGTERM, and SIGKILL\n"
    "if they do not end. RLOCK_NAME in the environment of COMMAND has the lock's name.\n"
    "\n"
    "  -n, --nonblock        give up if the lock is not free now; as --wait 0\n"
    "  -w, --wait DUR        give up if the lock is not acquired within DUR; 0: try once;\n"
    "                        default: wait as long as the server answers\n"
    "  -E, --conflict-exit-code N\n"
    "                        exit status if -n or -w gave up; 0 to 255, default 75\n"
    "  -s, --shared          a read lock: any number of COMMANDs under -s at a time, or one\n"
    "                        under -x; as --kind read\n"
    "  -x, --exclusive       the write lock that excludes -s; as --kind write. All users of a\n"
    "                        name that some lock with -s must use -s or -x\n"
    "  -c, --command STRING  pass STRING to $SHELL, or to /bin/sh\n"
    "  -q, --quiet           no message when -n or -w gave up, or about who holds the lock;\n"
    "                        other errors are still reported\n"
    "  -v, --verbose         say on standard error who holds the lock during the wait, and\n"
    "                        how long it took; on a terminal the former is said anyway\n"
    "  --kind KIND           what NAME is: lock (the default); fair: granted in the order of\n"
    "                        the requests; spin; fenced: RLOCK_TOKEN has the token; token: SET\n"
    "                        NX PX, as redis-py and redlock take it; signal: a signal list, as\n"
    "                        python-redis-lock takes it; read, write: a side of a read-write\n"
    "                        lock; non-reentrant; sharded: one of --shards parts; RLOCK_SHARD\n"
    "                        has its number; group: the values of --value in the group NAME,\n"
    "                        all or none; semaphore: as many COMMANDs run at once as it has\n"
    "                        permits; permit: a semaphore whose permits have leases\n"
    "  --shards N            number of parts of a sharded lock; all its users must name the same\n"
    "  --value V             a value of the group; once for each\n"
    "  --codec C             how Java's clients write the values: kryo5 or string (default: see the\n"
    "                        manual)\n"
    "  --lease DUR           the lock ends after DUR at the latest, and COMMAND with it;\n"
    "                        default: the lock is renewed while COMMAND runs\n"
    "  --kill-after DUR      time from SIGTERM to SIGKILL after the lock was lost; default 5s\n"
    "  --permits N           number of permits to acquire; default 1. If rlock is killed, those\n"
    "                        of --kind semaphore stay acquired, and those of --kind permit expire\n"
    "  --set-permits N       create the semaphore with N permits if it does not exist\n"
    "  -h, --help            show this\n"
    "  -V, --version         show the version\n" SERVER_HELP "\n"
    "DUR is for example 500ms, 10s, 1.5m or 1h; a number without a unit means seconds.\n"
    "Options come before COMMAND; what follows its first word is COMMAND's own.\n"
    "rlock passes each signal that would end it, but SIGKILL, on to COMMAND; while it waits\n"
    "for the lock, that ends the wait.\n"
    "\n"
    "Exit status: that of COMMAND; 128+n: signal n ended it or the wait; 64 usage;\n"
    "69 no server, or no replica confirmed the lock; 70 the lock was lost; 71 the system\n"
    "refused a resource; 75 timeout; 76 the server refused, or the name is not that of a\n"
    "lock, or the semaphore does not exist; 126 COMMAND could not be run; 127 COMMAND was\n"
    "not found.\n";

/* The values of a group lock. False: they are wrong, as a message says. */
static bool read_values(const cli_words *words, run_options *found)
{
    bool given = found->values.given.count > 0;
    if (found->kind->grouped != given)
        usage_error(words->command, given ? "--value is for --kind group"
                                          : "--kind group wants the values of the group: --value V, once for each");
    else if (found->codec && !given)
        usage_error(words->command, "--codec is for the values of --kind group");
    else if (!found->codec)
        return found->values.codec = RLOCK_CODEC_CONFIGURED, true;
    else if (strcmp(found->codec, "kryo5") == 0)
        return found->values.codec = RLOCK_CODEC_KRYO5, true;
    else if (strcmp(found->codec, "string") == 0)
        return found->values.codec = RLOCK_CODEC_STRING, true;
    else
        usage_error(words->command, "--codec must be kryo5 or string");
    return false;
}

/* Checks that the options go with the kind. EXIT_DONE, or EXIT_USAGE after a message. */
static int check_kind(const cli_words *words, run_options *found)
{
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
    return EXIT_DONE;
}

/* What -c has as a command of its own. */
static void use_shell(run_options *found, const char *text)
{
    const char *shell = getenv("SHELL");
    found->shell[0] = (char *)(shell && *shell ? shell : "/bin/sh");
    found->shell[1] = (char *)"-c";
    found->shell[2] = (char *)text;
    found->command = found->shell;
}

static int check_command(const cli_words *words, run_options *found, const char *shell_command)
{
    char shown[SHOWN_SIZE];
    if (found->bare && !words->name_is_marked && is_sub_command(words->name))
        return usage_error(words->command,
                           "%s is a sub-command: write it before the options, or write -- %s if a lock has that name",
                           words->name, words->name);
    if (shell_command && words->rest && words->rest[0])
        return usage_error(words->command,
                           "unexpected argument \"%s\": the whole command must stand behind -c, in quotes",
                           shorten_word(words->rest[0], shown));
    if (shell_command) {
        use_shell(found, shell_command);
        return EXIT_DONE;
    }
    if (words->rest && words->rest[0]) {
        found->command = words->rest;
        return EXIT_DONE;
    }
    const char *meant = found->bare && !words->name_is_marked ? meant_by(words->name) : NULL;
    if (meant)
        return usage_error(words->command, "the COMMAND is missing (did you mean rlock %s?)", meant);
    if (found->bare)
        return usage_error(
            words->command,
            "the COMMAND is missing: write rlock [OPTION…] %s%s COMMAND…, or one of the sub-commands " SUB_COMMANDS,
            words->name_is_marked ? "-- " : "", shorten_word(words->name, shown));
    return usage_error(words->command, "the COMMAND is missing: write rlock %s %s", words->command, words->form);
}

bool run_options_read(run_options *found, char **argv, bool bare, int *code)
{
    const cli_kind *kind = NULL, *side = NULL;
    const char *shell_command = NULL;
    *found = (run_options){.wait_ms = RLOCK_FOREVER,
                           .lease_ms = RLOCK_WATCHDOG,
                           .kill_after_ms = 5000,
                           .timeout_exit = EXIT_TIMEOUT,
                           .bare = bare};
    const cli_option options[] = {
        SERVER_OPTIONS(found->server),
        {.name = "--nonblock", .letter = 'n', .duration_ms = &found->wait_ms, .fixed = "0"},
        {.name = "--nb", .duration_ms = &found->wait_ms, .fixed = "0"},
        {.name = "--wait", .letter = 'w', .duration_ms = &found->wait_ms},
        {.name = "--timeout", .duration_ms = &found->wait_ms},
        {.name = "--conflict-exit-code", .letter = 'E', .exit_status = &found->timeout_exit},
        {.name = "--shared", .letter = 's', .kind = &side, .fixed = "read"},
        {.name = "--exclusive", .letter = 'x', .kind = &side, .fixed = "write"},
        {.name = "--exclusive", .letter = 'e', .kind = &side, .fixed = "write"},
        {.name = "--command", .letter = 'c', .text = &shell_command},
        {.name = "--quiet", .letter = 'q', .flag = &found->quiet},
        {.name = "--verbose", .letter = 'v', .flag = &found->verbose},
        {.name = "--kind", .kind = &kind},
        {.name = "--permits", .number = &found->permits},
        {.name = "--shards", .number = &found->shards, .most = MOST_SHARDS},
        {.name = "--value", .list = &found->values.given},
        {.name = "--codec", .text = &found->codec},
        {.name = "--set-permits", .number = &found->set_permits},
        {.name = "--lease", .duration_ms = &found->lease_ms},
        {.name = "--kill-after", .duration_ms = &found->kill_after_ms},
        {.name = "--unlock",
         .letter = 'u',
         .never = "the lock is freed when COMMAND ends; rlock force-unlock frees it before (--url names the server)"},
        {.name = "--close", .letter = 'o', .never = "COMMAND inherits nothing that holds the lock; leave it out"},
        {.name = "--json",
         .never = "it is of the other commands, and comes after their word: rlock inspect --json NAME"},
        {.name = "--no-fork", .letter = 'F', .never = "rlock must stay beside COMMAND to renew the lock; leave it out"},
        {0}};
    cli_words words = {.command = "run", .form = "[OPTION…] NAME COMMAND…", .help = help, .runs = true};
    if (!options_read(&words, options, argv, code))
        return false;
    const char *around = getenv("RLOCK_NAME");
    found->name = words.name;
    found->within = around && strcmp(around, words.name) == 0;
    found->kind = kind ? kind : side ? side : &kind_plain;
    if (side && kind && side != kind)
        *code = usage_error(words.command, "-%s asks for --kind %s, so --kind %s must not be given, too",
                            strcmp(side->name, "read") == 0 ? "s" : "x", side->name, kind->name);
    else if (found->quiet && found->verbose)
        *code = usage_error(words.command, "-q and -v contradict each other: leave one out");
    else if (found->lease_ms == 0)
        *code = usage_error(words.command, "--lease is 0; it must be at least 1ms");
    else
        *code = check_kind(&words, found);
    if (*code == EXIT_DONE)
        *code = check_command(&words, found, shell_command);
    return *code == EXIT_DONE;
}

void run_options_clear(run_options *options)
{
    free(options->values.given.items);
}
