/* The rlock command: runs the sub-command that argv names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "rlock - locks shared with every program, C or Java, that uses the same Redis\n"
                           "\n"
                           "  rlock [OPTION…] NAME COMMAND…           run a command while holding a lock\n"
                           "  rlock run [OPTION…] NAME COMMAND…       the same\n"
                           "  rlock ls [OPTION…] [PATTERN]            list the locks that are held\n"
                           "  rlock inspect [OPTION…] NAME            show who holds a lock, and for how long\n"
                           "  rlock force-unlock [OPTION…] NAME       free a lock, whoever holds it\n"
                           "  rlock doctor [OPTION…] [NAME]           check whether locks are safe with your servers\n"
                           "  rlock bench [OPTION…]                   measure how fast locks are with your server\n"
                           "  rlock run --help, rlock ls --help, …    more about one of them\n"
                           "  rlock --version\n"
                           "\n"
                           "As with flock: -n does not wait, -w 10 waits ten seconds, -s takes a shared lock, and\n"
                           "-E 0 sets the exit status for a lock that is not free; rlock run --help has the rest.\n"
                           "\n"
                           "--url or --config (Redisson's YAML file) names the server, else RLOCK_URL or\n"
                           "RLOCK_CONFIG in the environment; the default is redis://127.0.0.1:6379.\n";

/* Opens descriptors 0 to 2 if they are closed. Otherwise a connection could get one of them, and messages
 * would be written to it. They stay closed for a COMMAND, and reads and writes fail as if they were closed: input is
 * open for writing alone, output for reading alone. */
static bool fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            return false;
    }
    return true;
}

static const struct {
    const char *name;
    int (*run)(char **argv);
} commands[] = {{"run", run_command},         {"ls", ls_command},
                {"inspect", inspect_command}, {"force-unlock", force_unlock_command},
                {"doctor", doctor_command},   {"bench", bench_command}};
#define COMMANDS (sizeof commands / sizeof *commands)

bool is_sub_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return true;
    }
    return false;
}

/* Whether one letter more, less or other makes one word of the other. */
static bool is_near(const char *word, const char *other)
{
    size_t same = 0;
    while (word[same] && word[same] == other[same])
        same++;
    const char *a = word + same, *b = other + same;
    return (*a && strcmp(a + 1, b) == 0) || (*b && strcmp(a, b + 1) == 0) || (*a && *b && strcmp(a + 1, b + 1) == 0);
}

const char *meant_by(const char *word)
{
    if (strcmp(word, "help") == 0)
        return "--help";
    if (strcmp(word, "version") == 0)
        return "--version";
    for (size_t i = 0; i < COMMANDS; i++) {
        if (is_near(word, commands[i].name))
            return commands[i].name;
    }
    return NULL;
}

static int dispatch(char **argv)
{
    const char *word = argv[0] ? argv[1] : NULL;
    if (!word) {
        complain("arguments are missing: write rlock NAME COMMAND…, or one of the sub-commands " SUB_COMMANDS
                 "; see rlock --help");
        return EXIT_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].run(argv + 1);
    }
    return bare_command(argv);
}

/* --- sub-commands that ask about one object and print the answer --- */

static int refuse_kind(const char *command, const cli_kind *kind)
{
    if (kind->sharded)
        return usage_error(command,
                           "a part of a sharded lock has a name: write NAME:0, NAME:1 and so on, without --kind");
    if (kind->grouped)
        return usage_error(command, "a group is freed without --kind, with all of its values");
    return usage_error(command, "a %s is not a lock: --kind must be " KIND_LOCKS, kind->name);
}

int ask_command(char **argv, const cli_question *question)
{
    cli_server server = {0};
    bool json = false;
    const cli_kind *kind = NULL;
    const cli_option options[] = {SERVER_OPTIONS(server),
                                  {.name = "--json", .flag = &json},
                                  {.name = question->of_kind ? "--kind" : NULL, .kind = &kind},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] NAME", .help = question->help, .kinds = KIND_LOCKS};
    int code;
    if (!options_read(&words, options, argv, &code))
        return code;
    if (words.rest)
        return usage_error(words.command, "nothing may follow NAME, not even --");
    if (kind && !kind->lock)
        return refuse_kind(words.command, kind);

    rlock_client *client;
    code = server_open(&client, &server);
    if (code != EXIT_DONE)
        return code;
    code = question->ask(client, words.name, kind, json);
    rlock_client_close(client);
    return code;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!fill_standard_descriptors())
        return EXIT_SYSTEM;
    int code = dispatch(argv);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written)
        complain("could not write to standard output: %s", strerror(errno));
    return !written && code == EXIT_DONE ? EXIT_OUTPUT : code;
}
