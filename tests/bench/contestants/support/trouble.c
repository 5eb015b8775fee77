/* Trouble: what went wrong in a contestant, for its next answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/trouble.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[512]; /* guarded by it */

bool trouble(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&mutex);
    if (!*text)
        vsnprintf(text, sizeof text, format, args);
    for (char *at = text; (at = strpbrk(at, "\r\n"));)
        *at = ' ';
    pthread_mutex_unlock(&mutex);
    va_end(args);
    return false;
}

const char *trouble_text(void)
{
    return text;
}

void trouble_clear(void)
{
    *text = '\0';
}
