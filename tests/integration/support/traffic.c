/* Traffic: what the stage's server has been sent, counted and read along. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/traffic.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t scripts_run(void)
{
    return server_times(stage.server, "evalsha") + server_times(stage.server, "eval");
}

int64_t commands_within(int64_t ms)
{
    int64_t before = server_info(stage.server, "total_commands_processed");
    pass_ms(ms);
    /* Each INFO counts itself once it has answered: the first one is among them. */
    return server_info(stage.server, "total_commands_processed") - before - 1;
}

struct monitor {
    redisContext *connection;
    int marks;
    char **lines;
    size_t count, capacity;
};

monitor *monitor_open(void)
{
    monitor *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    self->connection = redisConnectUnix(server_socket(stage.server));
    cr_assert(self->connection && !self->connection->err, "no connection for MONITOR");
    redisReply *reply = redisCommand(self->connection, "MONITOR");
    cr_assert(reply != NULL, "MONITOR was not answered");
    freeReplyObject(reply);
    return self;
}

void monitor_forget(monitor *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->lines[i]);
    self->count = 0;
}

void monitor_close(monitor *self)
{
    monitor_forget(self);
    free(self->lines);
    redisFree(self->connection);
    free(self);
}

static void add(monitor *self, const char *line)
{
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? self->capacity * 2 : 64;
        self->lines = realloc(self->lines, self->capacity * sizeof *self->lines);
        cr_assert(self->lines != NULL);
    }
    self->lines[self->count] = strdup(line);
    cr_assert(self->lines[self->count] != NULL);
    self->count++;
}

/* A command of our own marks where "now" is in the stream. */
static void read_up_to_now(monitor *self)
{
    char mark[32];
    snprintf(mark, sizeof mark, "monitor-mark-%d", ++self->marks);
    freeReplyObject(server_command(stage.server, "ECHO %s", mark));
    for (;;) {
        void *reply = NULL;
        cr_assert(redisGetReply(self->connection, &reply) == REDIS_OK, "MONITOR ended");
        const char *line = ((redisReply *)reply)->str;
        bool there = strstr(line, mark) != NULL;
        if (!there)
            add(self, line);
        freeReplyObject(reply);
        if (there)
            return;
    }
}

size_t monitor_count(monitor *self, const char *const *texts)
{
    read_up_to_now(self);
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        size_t hits = 0, wanted = 0;
        for (; texts[wanted]; wanted++)
            hits += strcasestr(self->lines[i], texts[wanted]) != NULL;
        count += hits == wanted;
    }
    return count;
}

size_t monitor_saw(monitor *self, const char *text)
{
    return monitor_count(self, (const char *const[]){text, NULL});
}

size_t monitor_ran(monitor *self, const rli_script *script)
{
    return monitor_saw(self, script->sha1[RLI_COUNTED]);
}

void monitor_each(monitor *self, const char *text, void (*see)(const char *line, void *arg), void *arg)
{
    read_up_to_now(self);
    for (size_t i = 0; i < self->count; i++) {
        if (strcasestr(self->lines[i], text))
            see(self->lines[i], arg);
    }
}

/* A line is: time [db address] "command" "argument"… */
static void append_messaging(FILE *out, const char *line)
{
    static const char *const commands[] = {"SUBSCRIBE",  "UNSUBSCRIBE",  "PUBLISH",
                                           "SSUBSCRIBE", "SUNSUBSCRIBE", "SPUBLISH"};
    const char *command = strstr(line, "] \"");
    if (!command || strstr(command, "\"__sentinel__:hello\"")) /* which sentinels say all the time */
        return;
    command += 3;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        size_t length = strlen(commands[i]);
        if (strncasecmp(command, commands[i], length) != 0 || command[length] != '"')
            continue;
        fputs(commands[i], out);
        for (const char *c = command + length + 1; *c; c++) {
            if (*c == '\\' && c[1])
                fputc(*++c, out);
            else if (*c != '"')
                fputc(*c, out);
        }
        fputc('\n', out);
    }
}

char *monitor_messaging(monitor *self)
{
    read_up_to_now(self);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out != NULL);
    for (size_t i = 0; i < self->count; i++)
        append_messaging(out, self->lines[i]);
    fclose(out);
    return text;
}

/* What a script calls is among the lines as well, as in: 1700000000.123456 [0 lua] "pttl" … */
void instants_note(const char *line, void *arg)
{
    instants *self = arg;
    if (self->count < sizeof self->at / sizeof *self->at && !strstr(line, " lua] "))
        self->at[self->count++] = strtod(line, NULL);
}
