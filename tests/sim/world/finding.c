/* Findings, and the timeline that leads to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/finding.h"

#include "tests/sim/world/threads.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last so many lines are kept. */
#define LINES 4000
#define SHOWN 220

bool timeline_kept = true;

/* Untouched, and so without cost, where no line is kept. */
static struct {
    int64_t at_ns;
    char text[SHOWN];
} lines[LINES];
static long line_count;

void timeline(const char *who, const char *format, ...)
{
    if (!timeline_kept)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *text = lines[line_count % LINES].text;
    lines[line_count % LINES].at_ns = world_now_ns();
    int used = snprintf(text, SHOWN, "%-18s ", who);
    vsnprintf(text + used, (size_t)(SHOWN - used), format, arguments);
    va_end(arguments);
    line_count++;
}

void timeline_print(void)
{
    long first = line_count > LINES ? line_count - LINES : 0;
    if (first > 0)
        printf("  … %ld earlier lines\n", first);
    for (long i = first; i < line_count; i++)
        printf("%14.6f s  %s\n", (double)lines[i % LINES].at_ns / 1e9, lines[i % LINES].text);
}

void finding(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    timeline_print();
    printf("%14.6f s  FINDING: ", (double)world_now_ns() / 1e9);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    _exit(RUN_FOUND);
}
