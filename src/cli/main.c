/* The rlock command: runs the sub-command that argv names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/message.h"

#include <errno.h>
#include <fcntl.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "rlock - locks shared with every program, C or Java, that uses the same Redis\n"
                           "\n"
                           "  rlock run [OPTION…] NAME -- COMMAND…    run a command while holding a lock\n"
                           "  rlock inspect [OPTION…] NAME            show who holds a lock, and for how long\n"
                           "  rlock force-unlock [OPTION…] NAME       free a lock, whoever holds it\n"
                           "  rlock bench [OPTION…]                   measure how fast locks are with your server\n"
                           "  rlock COMMAND --help                    more about one of them\n"
                           "  rlock --version\n"
                           "\n"
                           "The server is that of --url or of Redisson's YAML file in --config, else RLOCK_URL\n"
                           "or RLOCK_CONFIG from the environment, else redis://127.0.0.1:6379.\n";

/* Opens descriptors 0 to 2 if they are closed. Otherwise a connection could get one of them, and messages
 * would be written to it. */
static bool fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    }
    return true;
}

static int dispatch(char **argv)
{
    static const struct {
        const char *name;
        int (*run)(char **argv);
    } commands[] = {{"run", run_command},
                    {"inspect", inspect_command},
                    {"force-unlock", force_unlock_command},
                    {"bench", bench_command}};

    const char *word = argv[0] ? argv[1] : NULL;
    if (!word) {
        complain("a command is missing: run, inspect, force-unlock or bench; see rlock --help");
        return EXIT_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("rlock %s\n", rlock_version());
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].run(argv + 1);
    }
    char shown[SHOWN_SIZE];
    complain("unknown command \"%s\": it must be run, inspect, force-unlock or bench; see rlock --help",
             shorten_word(word, shown));
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!fill_standard_descriptors())
        return EXIT_SYSTEM;
    int code = dispatch(argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_DONE) {
        complain("standard output could not be written: %s", strerror(errno));
        return EXIT_OUTPUT;
    }
    return code;
}
