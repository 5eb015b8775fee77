/* Messages to the user, with text from elsewhere made printable, and exit statuses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/message.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024
/* How long a message waits until it can be written. */
#define PATIENCE_MS 1000

void print_shown(FILE *out, const char *text)
{
    while (*text) {
        char shown[RLI_UTF8_SHOWN];
        size_t length = rli_utf8_show(&text, shown);
        fwrite(shown, 1, length, out);
    }
}

/* Whether stderr takes something, for which the first message that it does not take waits. */
static bool takes_more(void)
{
    static atomic_bool stuck;
    struct pollfd errors = {STDERR_FILENO, POLLOUT, 0};
    int64_t until_ms = rli_now_ms() + (atomic_load(&stuck) ? 0 : PATIENCE_MS), left_ms;
    int ready;
    do {
        left_ms = until_ms - rli_now_ms();
        ready = poll(&errors, 1, left_ms > 0 ? (int)left_ms : 0);
    } while (ready < 0 && errno == EINTR && left_ms > 0);
    atomic_store(&stuck, ready <= 0);
    return ready > 0;
}

/* Opens stderr anew so that it does not block; -1: it never does. Otherwise whoever shares a pipe or a terminal may
 * fill it between poll() and write(), which would then wait for ever. */
static int open_unblocked(void)
{
    struct stat of;
    bool blocks = fstat(STDERR_FILENO, &of) == 0 && (S_ISFIFO(of.st_mode) || S_ISCHR(of.st_mode));
    return blocks ? open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
}

/* Writes the line at once: the command shares this stderr. If nobody reads it, because the terminal was stopped with
 * Ctrl-S, or a pager stands still, the line is dropped: rlock may hold a lock, or has lost one and must end the
 * command. A pipe that takes something takes PIPE_BUF bytes. */
static void write_line(char *line, size_t length)
{
    if (length > PIPE_BUF) {
        length = PIPE_BUF;
        line[length - 1] = '\n';
    }
    if (!takes_more())
        return;
    int own_fd = open_unblocked();
    ssize_t written = write(own_fd < 0 ? STDERR_FILENO : own_fd, line, length);
    (void)written; /* there is nowhere to say it */
    if (own_fd >= 0)
        close(own_fd);
}

void complain(const char *format, ...)
{
    char message[LINE_MAX_BYTES], line[5 * LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);

    FILE *out = fmemopen(line, sizeof line, "w");
    if (!out)
        return;
    fputs("rlock: ", out);
    print_shown(out, message);
    fputc('\n', out);
    long length = ftell(out);
    fclose(out);
    if (length > 0)
        write_line(line, (size_t)length);
}

const char *shorten(const char *text, char shown[SHOWN_SIZE])
{
    static const char cut[] = "…";
    size_t length = strnlen(text, SHOWN_SIZE);
    if (length < SHOWN_SIZE) {
        memcpy(shown, text, length + 1);
        return shown;
    }
    length = rli_utf8_cut(text, SHOWN_SIZE - sizeof cut);
    memcpy(shown, text, length);
    memcpy(shown + length, cut, sizeof cut);
    return shown;
}

const char *shorten_word(const char *word, char shown[SHOWN_SIZE])
{
    static const char rest[] = "://…";
    const char *url = strstr(word, "://");
    if (!url || (size_t)(url - word) + sizeof rest > SHOWN_SIZE)
        return shorten(word, shown);
    memcpy(shown, word, (size_t)(url - word));
    memcpy(shown + (url - word), rest, sizeof rest);
    return shown;
}

const char *typed_name(const char *name, char typed[SHOWN_SIZE + 2])
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,:/@%+-";
    bool whole = strlen(name) < SHOWN_SIZE && !strchr(name, '\'');
    for (const char *c = name; *c && whole; c++)
        whole = !iscntrl((unsigned char)*c);
    if (!whole)
        strcpy(typed, "NAME");
    else if (name[strspn(name, plain)])
        snprintf(typed, SHOWN_SIZE + 2, "'%s'", name);
    else
        strcpy(typed, name);
    return typed;
}

int exit_for(rlock_status status)
{
    switch (status) {
    case RLOCK_OK:
        return EXIT_DONE;
    case RLOCK_INVALID:
    case RLOCK_UNSUPPORTED:
        return EXIT_USAGE;
    case RLOCK_TIMEOUT:
        return EXIT_TIMEOUT;
    case RLOCK_LOST:
    case RLOCK_NOT_OWNER:
        return EXIT_LOST;
    case RLOCK_UNAVAILABLE:
    case RLOCK_UNKNOWN:
    case RLOCK_NOT_SYNCED:
        return EXIT_UNAVAILABLE;
    case RLOCK_SERVER:
        return EXIT_REFUSED;
    case RLOCK_ALREADY_HELD:
    case RLOCK_CANCELLED:
    case RLOCK_NO_MEMORY:
    case RLOCK_CLOSED:
    case RLOCK_FORKED:
        return EXIT_SYSTEM;
    }
    return EXIT_SYSTEM;
}

int complain_failed(rlock_status status)
{
    complain("%s", rlock_last_error());
    return exit_for(status);
}
