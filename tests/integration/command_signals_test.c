/* rlock run: signals, to the command when it runs, to the wait when it does not yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(command_signals, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define SOON_MS 10000

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, 34, 64}; /* 34 to 64: the real-time signals */
#define PASSED_ON (sizeof passed_on / sizeof *passed_on)

/* The command's own answer to the signal counts. */
Test(command_signals, reach_the_command)
{
    for (size_t i = 0; i < PASSED_ON; i++) {
        char script[128];
        snprintf(script, sizeof script, "exec 3<&0; trap 'echo heard; exit 7' %d; cat <&3 & echo under; wait",
                 passed_on[i]);
        command *c = start(COMMAND("run", NAME, "--", "sh", "-c", script));
        cr_assert(command_says(c, "under", SOON_MS));
        command_signal(c, passed_on[i]);
        cr_assert(command_wait(c, SOON_MS) == 7, "%s: %s", strsignal(passed_on[i]), command_err(c));
        cr_assert_str_eq(command_out(c), "under\nheard\n");
        assert_no_keys();
        command_free(c);
    }
}

Test(command_signals, that_end_the_command_end_rlock_with_128_and_their_number)
{
    for (size_t i = 0; i < PASSED_ON; i++) {
        command *c = start(COMMAND("run", NAME, "--", "sh", "-c", "echo under; exec cat"));
        cr_assert(command_says(c, "under", SOON_MS));
        command_signal(c, passed_on[i]);
        cr_assert(command_wait(c, SOON_MS) == 128 + passed_on[i]);
        assert_no_keys();
        command_free(c);
    }
}

/* And nothing of the wait is left: no hold, no subscription, no command that ran. */
Test(command_signals, end_the_wait)
{
    foreign_hold(NAME, 60000);
    for (size_t i = 0; i < PASSED_ON; i++) {
        command *c = start(COMMAND("run", NAME, "--", "echo", "ran"));
        cr_assert(wait_listened(NAME, SOON_MS));
        int64_t begin_ms = now_ms();
        command_signal(c, passed_on[i]);
        cr_assert(command_wait(c, SOON_MS) == 128 + passed_on[i]);
        assert_between(now_ms() - begin_ms, 0, at_most_ms(500));
        cr_assert_str_eq(command_out(c), "");
        cr_assert(strstr(command_err(c), "ended the wait for the lock \"" NAME "\""), "%s", command_err(c));
        cr_assert(wait_no_channels(SOON_MS));
        command_free(c);
    }
    foreign_release(NAME);
    assert_no_keys();
}

/* The command is over, and the server does not answer. The first signal may have been meant for the command. */
RealTest(command_signals, end_a_release_that_is_not_answered, .lasts = 15)
{
    static const struct {
        const char *kind, *said;
        int number;
    } cases[] = {
        {"lock", "the lock \"" NAME "\" may stay until it expires: its release was interrupted", SIGINT},
        {"semaphore", "it is unknown whether the permit of the semaphore \"" NAME "\" came back", SIGTERM},
        {"permit", "the permit of the semaphore \"" NAME "\" may stay until it expires: its release was interrupted", SIGHUP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *set = i > 0 ? "--set-permits=1" : "--kill-after=5";
        char said[200];
        snprintf(said, sizeof said, "rlock: %s\n", cases[i].said);
        command *c = start(COMMAND("run", "--kind", cases[i].kind, set, NAME, "--", "sh", "-c", "echo under; exec cat"));
        cr_assert(command_says(c, "under", SOON_MS), "%s", command_err(c));
        server_freeze(stage.server);
        for (int64_t end_ms = limit_end_ms(SOON_MS); !command_complains(c, said, 50);) {
            command_signal(c, cases[i].number);
            cr_assert(now_ms() < end_ms, "it does not end");
        }
        server_thaw(stage.server);
        cr_assert(command_wait(c, SOON_MS) == 128 + cases[i].number);
        cr_assert_str_eq(command_err(c), said);
        command_free(c);
        freeReplyObject(server_command(stage.server, "FLUSHALL"));
    }
}

static bool has_children(command *c)
{
    char path[80], children[80] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)command_pid(c), (int)command_pid(c));
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s: %s", path, strerror(errno));
    bool any = fgets(children, sizeof children, file) != NULL;
    fclose(file);
    return any;
}

/* Those that are for the command, and a first one that asks rlock to end. */
RealTest(command_signals, do_not_end_a_release, .lasts = 15)
{
    command *c = start(COMMAND("run", NAME, "--", "sh", "-c", "echo under; exec cat"));
    cr_assert(command_says(c, "under", SOON_MS));
    server_freeze(stage.server);
    command_close_input(c);
    for (int64_t end_ms = limit_end_ms(SOON_MS); has_children(c); pass_ms(1))
        cr_assert(now_ms() < end_ms, "the command does not end");
    command_signal(c, SIGINT);
    command_signal(c, SIGUSR1);
    pass_ms(600);
    command_signal(c, SIGUSR1);
    pass_ms(50);
    server_thaw(stage.server);
    cr_assert(command_wait(c, SOON_MS) == 0, "%s", command_err(c));
    assert_no_keys();
    command_free(c);
}

/* A server that takes connections and never says a word. */
static int open_mute_server(char *unix_url, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s.mute", server_socket(stage.server));
    snprintf(unix_url, size, "unix://%s", address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 8) == 0);
    return fd;
}

/* Nothing is held by then, so that nothing has to be waited for. */
Test(command_signals, end_rlock_while_it_connects)
{
    char mute_url[256], byte;
    int listener = open_mute_server(mute_url, sizeof mute_url);
    command *c = command_start(mute_url, COMMAND("run", NAME, "--", "true"));
    struct pollfd fd = {listener, POLLIN, 0};
    cr_assert(poll(&fd, 1, SOON_MS) == 1, "rlock did not connect");
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    cr_assert(read(connection, &byte, 1) == 1);
    int64_t begin_ms = now_ms();
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM, "%s", command_err(c));
    assert_between(now_ms() - begin_ms, 0, at_most_ms(500));
    close(connection);
    close(listener);
    command_free(c);
}

/* Starts rlock on a terminal of its own; answers our end of that. */
static int start_on_terminal(pid_t *pid, const char *script)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const char *path = ptsname(terminal), *binary = getenv("RLOCK_COMMAND");
    *pid = fork();
    if (*pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_DFL);
        setsid();
        int fd = open(path, O_RDWR); /* the first one that a session opens becomes its terminal */
        if (dup2(fd, 0) == 0 && dup2(fd, 1) == 1 && dup2(fd, 2) == 2)
            execl(binary ? binary : "build/rlock", "rlock", "run", "--url", server_url(stage.server), NAME, "--",
                  "sh", "-c", script, (char *)NULL);
        _exit(99);
    }
    cr_assert(*pid > 0);
    return terminal;
}

/* Reads from the terminal until `text` has come `count` times; fails the test when it ends or
 * SOON_MS pass. Answers how often it has come. */
static int hear(int terminal, char *heard, size_t size, const char *text, int count)
{
    for (int64_t end_ms = limit_end_ms(SOON_MS);;) {
        int found = 0;
        for (const char *at = heard; (at = strstr(at, text)); at++)
            found++;
        if (found >= count)
            return found;
        struct pollfd fd = {terminal, POLLIN, 0};
        cr_assert(poll(&fd, 1, (int)(end_ms - now_ms())) == 1, "no %s but: %s", text, heard);
        size_t length = strlen(heard);
        ssize_t got = read(terminal, heard + length, size - length - 1);
        cr_assert(got > 0, "no %s but: %s", text, heard);
        heard[length + (size_t)got] = 0;
    }
}

/* The terminal gives Ctrl-C to rlock and to the command: rlock must not give it once more. Two
 * that come at the same moment count as one, so it is tried a few times. */
Test(command_signals, of_the_terminal_reach_the_command_once)
{
    enum { TIMES = 20 };
    char heard[4096] = "";
    int status;
    pid_t pid;
    int terminal = start_on_terminal(
        &pid, "trap 'echo heard' INT; echo under; until read line; do :; done; echo over");
    hear(terminal, heard, sizeof heard, "under", 1);
    for (int i = 1; i <= TIMES; i++) {
        cr_assert(write(terminal, "\x03", 1) == 1);
        hear(terminal, heard, sizeof heard, "heard", i);
        pass_ms(10); /* a second one shall not come */
    }
    cr_assert(write(terminal, "\n", 1) == 1);
    hear(terminal, heard, sizeof heard, "over", 1);
    cr_assert(hear(terminal, heard, sizeof heard, "heard", TIMES) == TIMES, "%s", heard);
    cr_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", heard);
    close(terminal);
}

/* As under nohup: SIGHUP was ignored when rlock started. */
Test(command_signals, that_were_ignored_before_end_nothing)
{
    command *c = command_start_program(server_url(stage.server), COMMAND("sh", "-c",
        "trap '' HUP; exec \"$RLOCK_COMMAND\" run " NAME " -- sh -c 'echo under; read line; exit 6'"));
    cr_assert(command_says(c, "under", SOON_MS));
    command_signal(c, SIGHUP);
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 6, "%s", command_err(c));
    command_free(c);

    foreign_hold(NAME, 60000);
    c = command_start_program(server_url(stage.server), COMMAND("sh", "-c",
        "trap '' HUP; exec \"$RLOCK_COMMAND\" run " NAME " -- sh -c 'exit 5'"));
    cr_assert(wait_listened(NAME, SOON_MS));
    command_signal(c, SIGHUP);
    pass_ms(100); /* nothing shall happen */
    foreign_release(NAME);
    cr_assert(command_wait(c, SOON_MS) == 5, "%s", command_err(c));
    command_free(c);
}

/* Nobody would be left to end it if its lock were lost. */
Test(command_signals, the_command_gets_sigterm_when_rlock_is_killed)
{
    command *c = start(COMMAND("run", NAME, "--", "sh", "-c",
        "exec 3<&0; trap 'echo heard; exit 7' TERM; cat <&3 & echo pid $$; wait"));
    pid_t pid = (pid_t)command_number(c, "pid ", SOON_MS);
    command_signal(c, SIGKILL);
    cr_assert(command_wait(c, SOON_MS) == -SIGKILL);
    cr_assert(wait_process_gone(pid, SOON_MS));
    cr_assert(strstr(command_out(c), "heard"));
    command_free(c);
}

/* rlock takes over the processes that its command leaves behind; it must not wait for them. */
Test(command_signals, what_the_command_leaves_in_the_background_does_not_hold_the_lock)
{
    command *c = start(COMMAND("run", NAME, "--", "sh", "-c",
        "exec 3<&0; cat <&3 & echo left $!; exit 8"));
    pid_t pid = (pid_t)command_number(c, "left ", SOON_MS);
    cr_assert(command_wait(c, SOON_MS) == 8);
    assert_no_keys();
    cr_assert(kill(pid, 0) == 0, "it did not survive");
    command_free(c); /* closes its input */
    cr_assert(wait_process_gone(pid, SOON_MS));
}
