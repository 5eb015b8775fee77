/* Error messages: the detail of each thread's last failure, and the text of each status. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include "base/utf8.h"

#include <rlock/version.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_SIZE 512

static _Thread_local char last_error[MESSAGE_SIZE];
static _Thread_local rlock_status last_status;

/* Makes a message printable: it holds lock names and the server's words, and programs write it to terminals and
 * logs. */
static void make_printable(const char *message, char *printable, size_t size)
{
    size_t length = 0;
    while (*message) {
        char shown[RLI_UTF8_SHOWN];
        size_t more = rli_utf8_show(&message, shown);
        if (length + more >= size)
            break;
        memcpy(printable + length, shown, more);
        length += more;
    }
    printable[length] = 0;
}

rlock_status rli_fail(rlock_status status, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (length >= MESSAGE_SIZE)
        message[rli_utf8_cut(message, MESSAGE_SIZE - 1)] = 0;
    make_printable(message, last_error, sizeof last_error);
    last_status = status;
    return status;
}

rlock_status rli_fail_text(rlock_status status, const char *message)
{
    return rli_fail(status, "%s", message);
}

/* Whether a call that makes something may have failed with that. */
static bool is_of_making(rlock_status status)
{
    return status == RLOCK_INVALID || status == RLOCK_UNSUPPORTED || status == RLOCK_NO_MEMORY ||
           status == RLOCK_CLOSED || status == RLOCK_FORKED;
}

rlock_status rli_fail_null(const char *what)
{
    static const char unknown[] = "is NULL; check what the call that makes it returns";
    static const char known[] = "is NULL; the last failure in this thread was: ";
    char said[sizeof last_error];
    const char *again = strstr(last_error, known); /* of one that was NULL before: with that one's reason */
    snprintf(said, sizeof said, "%s", again ? again + strlen(known) : last_error);
    if (!*said || !is_of_making(last_status) || strstr(said, unknown))
        return rli_fail(RLOCK_INVALID, "the %s %s", what, unknown);
    return rli_fail(RLOCK_INVALID, "the %s %s%s", what, known, said);
}

rlock_status rli_fail_prefix(rlock_status status, const char *what, const char *name)
{
    char shown[RLI_NAME_SHOWN], quoted[RLI_NAME_SHOWN + 2], said[sizeof last_error], printable[sizeof last_error];
    /* With its quotes: a name such as "a" or "Redis" is a part of most texts. */
    snprintf(quoted, sizeof quoted, "\"%s\"", rli_show_name(name, shown));
    make_printable(quoted, printable, sizeof printable);
    if (strstr(last_error, printable))
        return status;
    memcpy(said, last_error, sizeof said);
    return rli_fail(status, "%s \"%s\": %s", what, shown, said);
}

const char *rli_show_name(const char *name, char shown[RLI_NAME_SHOWN])
{
    size_t length = strnlen(name, 101);
    if (length <= 100) {
        memcpy(shown, name, length + 1);
        return shown;
    }
    length = rli_utf8_cut(name, 100);
    memcpy(shown, name, length);
    memcpy(shown + length, "…", sizeof "…");
    return shown;
}

const char *rlock_last_error(void)
{
    return last_error;
}

const char *rlock_strstatus(rlock_status status)
{
#define RLI_WORDS(name, value, words)                                                                                  \
    case name:                                                                                                         \
        return words;
    switch (status) {
        RLOCK_STATUSES(RLI_WORDS)
    }
#undef RLI_WORDS
    return "unknown status";
}

const char *rlock_version(void)
{
    return RLOCK_VERSION;
}
