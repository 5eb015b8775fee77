/* Redisson's configuration file for servers of the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/yaml.h"

#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void write_indented(FILE *out, const char *lines)
{
    for (const char *line = lines; line && *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Redisson opens 24 connections to each node at once, unless it is told. */
static void write_idle_sizes(FILE *out, const char *given)
{
    static const char *const sizes[] = {"masterConnectionMinimumIdleSize", "slaveConnectionMinimumIdleSize",
                                        "subscriptionConnectionMinimumIdleSize"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!given || !strstr(given, sizes[i]))
            fprintf(out, "  %s: 1\n", sizes[i]);
    }
}

const char *yaml_write(texts *kept, const yaml *self)
{
    static int number;
    const server *first = self->count ? self->listed[0] : self->addressed;
    const char *path = texts_add(kept, "%s/redisson-%d.yaml", server_folder(first), ++number);
    FILE *out = fopen(path, "we");
    cr_assert(out != NULL, "%s: %s", path, strerror(errno));
    fprintf(out, "%s:\n", self->section);
    if (self->single)
        fprintf(out, "  %s: \"%s\"\n", self->single, server_tcp_url(self->addressed));
    if (self->list)
        fprintf(out, "  %s:\n", self->list);
    for (int i = 0; i < self->count; i++)
        fprintf(out, "  - \"%s\"\n", server_tcp_url(self->listed[i]));
    write_idle_sizes(out, self->more);
    write_indented(out, self->more);
    fprintf(out, "threads: 4\nnettyThreads: 4\n%s", self->top ? self->top : "");
    cr_assert(fclose(out) == 0, "%s: %s", path, strerror(errno));
    return path;
}
