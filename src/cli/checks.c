/* Checks: what a server's settings and state mean for locks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checks.h"

#include "cli/message.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const severity_words[] = {"ok", "note", "warning", "problem"};

static void print_line(cli_severity severity, const char *where, const char *subject, const char *text)
{
    const char *word = severity_words[severity];
    printf("%s:%*s", word, 8 - (int)strlen(word), "");
    print_shown(stdout, where);
    printf(": %s: ", subject);
    print_shown(stdout, text);
    putchar('\n');
}

static void print_member(const char *begin, const char *name, const char *text)
{
    printf("%s\"%s\":", begin, name);
    json_string(text, strlen(text));
}

static void print_json(cli_severity severity, const char *where, const char *subject, const char *text)
{
    print_member("{", "severity", severity_words[severity]);
    print_member(",", "where", where);
    print_member(",", "subject", subject);
    print_member(",", "text", text);
    puts("}");
}

void finding(cli_findings *self, cli_severity severity, const char *where, const char *subject, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (self->json)
        print_json(severity, where, subject, text);
    else
        print_line(severity, where, subject, text);
    self->warnings += severity == FOUND_WARNING;
    self->problems += severity == FOUND_PROBLEM;
}

/* --- "name:value" lines --- */

#define VALUE_SIZE 256

/* Copies the value of `name`, shortened if it is long. False: there is none. */
static bool value_of(const char *lines, const char *name, char value[VALUE_SIZE])
{
    size_t length = strlen(name);
    for (const char *line = lines; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, name, length) != 0 || line[length] != ':')
            continue;
        size_t found = strcspn(line + length + 1, "\r\n");
        snprintf(value, VALUE_SIZE, "%.*s", (int)(found < VALUE_SIZE ? found : VALUE_SIZE - 1), line + length + 1);
        return true;
    }
    return false;
}

/* The number of that name; `otherwise` if there is none. */
static int64_t number_of(const char *lines, const char *name, int64_t otherwise)
{
    char value[VALUE_SIZE], *end;
    if (!value_of(lines, name, value) || !*value)
        return otherwise;
    int64_t number = strtoll(value, &end, 10);
    return *end ? otherwise : number;
}

static bool says(const char *lines, const char *name, const char *expected)
{
    char value[VALUE_SIZE];
    return value_of(lines, name, value) && strcmp(value, expected) == 0;
}

/* --- one check each --- */

/* An error or an odd answer: the library does not tell which. */
#define UNANSWERED(question) "the server gave no usable answer to " question " (no right to it, or no such command?)"

typedef struct subject {
    cli_findings *findings;
    const char *where, *info, *settings;
} subject;
#define FOUND(severity, ...) finding(self->findings, severity, self->where, __VA_ARGS__)

static void check_version(const subject *self)
{
    char version[VALUE_SIZE] = "unknown";
    bool valkey = value_of(self->info, "valkey_version", version);
    int major = 0, minor = 0;
    if (!valkey)
        value_of(self->info, "redis_version", version);
    const char *product = valkey ? "Valkey" : "Redis";
    sscanf(version, "%d.%d", &major, &minor);
    if (!valkey && (major < 6 || (major == 6 && minor < 2)))
        FOUND(FOUND_PROBLEM, "version", "%s %s is too old: rlock is made for Redis 6.2 and later; update the server",
              product, version);
    else
        FOUND(FOUND_OK, "version", "%s %s", product, version);
}

static void check_eviction(const subject *self)
{
    char policy[VALUE_SIZE] = "";
    int64_t limit = number_of(self->info, "maxmemory", -1), used = number_of(self->info, "used_memory", 0);
    if (!value_of(self->info, "maxmemory_policy", policy))
        value_of(self->settings, "maxmemory-policy", policy);
    if (limit == 0)
        FOUND(FOUND_OK, "eviction", "no memory limit, so no lock is evicted");
    else if (limit < 0 || !*policy)
        FOUND(FOUND_NOTE, "eviction", "unknown: INFO has no maxmemory-policy, and " UNANSWERED("CONFIG GET"));
    else if (strcmp(policy, "noeviction") != 0)
        FOUND(
            FOUND_PROBLEM, "eviction",
            "maxmemory-policy is %s: when memory is short the server may delete locks that are held, and two owners hold "
            "them then; set maxmemory-policy noeviction, or keep locks on a server of their own",
            policy);
    else if (used > limit - limit / 10)
        FOUND(FOUND_WARNING, "eviction",
              "%" PRId64 " %% of maxmemory is used: at the limit the server refuses new locks (OOM); raise maxmemory",
              used / (limit / 100 ? limit / 100 : 1));
    else
        FOUND(FOUND_OK, "eviction", "noeviction: no lock is evicted; at the memory limit new locks are refused");
}

static void check_aof(const subject *self)
{
    char sync[VALUE_SIZE] = "";
    bool known = value_of(self->settings, "appendfsync", sync);
    if (says(self->info, "aof_last_write_status", "err"))
        FOUND(FOUND_PROBLEM, "persistence",
              "the append-only file cannot be written, and the server refuses writes (MISCONF)");
    else if (!known)
        FOUND(FOUND_NOTE, "persistence",
              "append-only file; how often it is synced is unknown: " UNANSWERED("CONFIG GET"));
    else if (strcmp(sync, "always") == 0)
        FOUND(FOUND_OK, "persistence", "append-only file, written at once: a restart loses no lock");
    else if (strcmp(sync, "everysec") == 0)
        FOUND(
            FOUND_OK, "persistence",
            "append-only file, synced each second: a crash of the machine may lose locks acquired in the last two seconds");
    else
        FOUND(
            FOUND_WARNING, "persistence",
            "appendfsync is %s: a crash of the machine may lose locks of the last half minute, and two owners may hold "
            "them then; set appendfsync everysec or always",
            sync);
}

static void check_persistence(const subject *self)
{
    char save[VALUE_SIZE] = "";
    bool known = value_of(self->settings, "save", save);
    if (says(self->info, "rdb_last_bgsave_status", "err") &&
        !says(self->settings, "stop-writes-on-bgsave-error", "no") && (!known || *save))
        FOUND(FOUND_PROBLEM, "persistence",
              "the last snapshot failed, and the server refuses writes (MISCONF) until one succeeds; see its log");
    if (number_of(self->info, "aof_enabled", -1) > 0)
        check_aof(self);
    else if (known && *save)
        FOUND(
            FOUND_WARNING, "persistence",
            "snapshots only: a restart loses the locks acquired since the latest one, and two owners may hold them then; set "
            "appendonly yes, or use fencing tokens");
    else if (known)
        FOUND(
            FOUND_WARNING, "persistence",
            "none: a restart loses all locks, and two owners may hold them then; set appendonly yes, or use fencing tokens");
    else
        FOUND(FOUND_NOTE, "persistence", "no append-only file; snapshots unknown: " UNANSWERED("CONFIG GET"));
}

/* How many of the replicas that INFO lists are not up to date. */
static int count_lagging(const subject *self, int64_t replicas)
{
    int lagging = 0;
    for (int64_t i = 0; i < replicas && i < 64; i++) {
        char name[32], value[VALUE_SIZE];
        snprintf(name, sizeof name, "slave%" PRId64, i);
        if (!value_of(self->info, name, value))
            continue;
        const char *lag = strstr(value, "lag=");
        lagging += !strstr(value, "state=online") || (lag && atoi(lag + 4) > 10);
    }
    return lagging;
}

static void check_replicas(const subject *self)
{
    int64_t replicas = number_of(self->info, "connected_slaves", -1);
    int64_t least = number_of(self->settings, "min-replicas-to-write", 0);
    int lagging = count_lagging(self, replicas);
    if (says(self->info, "role", "slave"))
        FOUND(FOUND_PROBLEM, "replicas", "this server is one itself, and takes no locks: connect to its master");
    else if (replicas < 0)
        FOUND(FOUND_NOTE, "replicas", "unknown: the server does not tell");
    else if (least > replicas - lagging)
        FOUND(FOUND_PROBLEM, "replicas",
              "%" PRId64 " of them follow closely, and min-replicas-to-write is %" PRId64
              ": the server refuses all locks (NOREPLICAS)",
              replicas - lagging, least);
    else if (lagging)
        FOUND(FOUND_WARNING, "replicas",
              "%d of %" PRId64 " lag behind: a lock that only they missed is lost if one of them becomes the master",
              lagging, replicas);
    else if (replicas)
        FOUND(FOUND_OK, "replicas",
              "%" PRId64 "; a lock is acquired once one of them confirms it, but a failover to another one may lose it",
              replicas);
    else
        FOUND(FOUND_NOTE, "replicas", "none: when this server fails, no lock can be acquired until it is back");
}

static void check_clock(const subject *self, const rlock_server *server)
{
    char shown[DURATION_SHOWN];
    int64_t ahead_ms = server->clock_ahead_ms;
    if (ahead_ms == RLOCK_NO_CLOCK) {
        FOUND(FOUND_NOTE, "clock", "unknown: " UNANSWERED("TIME") "; waits for locks need it");
        return;
    }
    int64_t off_ms = ahead_ms < 0 ? -ahead_ms : ahead_ms;
    if (off_ms > server->clock_error_ms + 1000)
        FOUND(
            FOUND_WARNING, "clock",
            "%s %s this machine's: Java programs that wait for a fair lock may pass living waiters over; have NTP set both "
            "clocks",
            duration_show(off_ms, shown), ahead_ms < 0 ? "behind" : "ahead of");
    else
        FOUND(FOUND_OK, "clock", "agrees with this machine's");
}

/* The limits of one class in "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60". */
static bool limits_of(const char *value, const char *class, long long *hard, long long *soft, int *seconds)
{
    const char *at = strstr(value, class);
    return at && sscanf(at + strlen(class), " %lld %lld %d", hard, soft, seconds) == 3;
}

/* Whether a limit is so low that ordinary use of locks may reach it. 0: there is none. */
static bool is_low(long long hard, long long soft)
{
    return (hard && hard < 1 << 20) || (soft && soft < 1 << 18);
}

/* The lower one of two limits of which at least one is set. */
static long long lower_of(long long hard, long long soft)
{
    return hard && (!soft || hard < soft) ? hard : soft;
}

static void check_message_buffers(const subject *self, const char *limits)
{
    long long hard, soft;
    int seconds;
    if (!limits_of(limits, "pubsub", &hard, &soft, &seconds))
        FOUND(FOUND_NOTE, "output buffers", "unknown: " UNANSWERED("CONFIG GET"));
    else if (!hard && !soft)
        FOUND(
            FOUND_NOTE, "output buffers",
            "messages are not limited: a waiter that is stopped while many locks are released costs the server memory");
    else if (is_low(hard, soft))
        FOUND(
            FOUND_WARNING, "output buffers",
            "messages are limited to %lld bytes: the server disconnects waiters when many locks are released at once, and they "
            "go on late; set client-output-buffer-limit \"pubsub 32mb 8mb 60\"",
            lower_of(hard, soft));
    else
        FOUND(FOUND_OK, "output buffers", "room for messages to waiters");
}

static void check_answer_buffers(const subject *self, const char *limits)
{
    long long hard, soft;
    int seconds;
    if (limits_of(limits, "normal", &hard, &soft, &seconds) && is_low(hard, soft))
        FOUND(
            FOUND_WARNING, "output buffers",
            "answers are limited to %lld bytes: the server may disconnect programs with many locks, whose calls then repeat",
            lower_of(hard, soft));
}

static void check_buffers(const subject *self)
{
    char limits[VALUE_SIZE] = "";
    value_of(self->settings, "client-output-buffer-limit", limits);
    check_message_buffers(self, limits);
    check_answer_buffers(self, limits);
}

static void check_clients(const subject *self)
{
    int64_t clients = number_of(self->info, "connected_clients", -1), most = number_of(self->info, "maxclients", -1);
    if (clients < 0 || most <= 0)
        return;
    if (clients > most - most / 10)
        FOUND(FOUND_WARNING, "connections",
              "%" PRId64 " of at most %" PRId64 ": at the limit new programs cannot connect; raise maxclients", clients,
              most);
    else
        FOUND(FOUND_OK, "connections", "%" PRId64 " of at most %" PRId64, clients, most);
}

/* Sentinels that were set up for different masters know of no failover, so a client believes whom it asks. */
static void check_sentinels(const subject *self, const char *sentinels)
{
    char master[VALUE_SIZE] = "", who[VALUE_SIZE] = "";
    int count = 0;
    for (const char *line = sentinels; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int length = (int)strcspn(line, "\n"), own = (int)strcspn(line, " \n");
        const char *said = line + own + 1;
        count++;
        if (own == length) {
            FOUND(FOUND_WARNING, "sentinels", "%.*s does not say where the master is", own, line);
        } else if (!*master) {
            snprintf(master, sizeof master, "%.*s", length - own - 1, said);
            snprintf(who, sizeof who, "%.*s", own, line);
        } else if ((int)strlen(master) != length - own - 1 || strncmp(master, said, strlen(master)) != 0) {
            FOUND(
                FOUND_PROBLEM, "sentinels",
                "%s says that the master is at %s, %.*s says at %.*s: clients lock at different servers; see \"sentinel "
                "monitor\" in the configuration of each",
                who, master, own, line, length - own - 1, said);
            return;
        }
    }
    if (count)
        FOUND(FOUND_OK, "sentinels", "the %d that are known name %s", count, master);
}

void check_server(cli_findings *findings, const rlock_server *server)
{
    const subject about = {
        .findings = findings, .where = server->address, .info = server->info, .settings = server->settings};
    const subject *self = &about;
    if (!server->info)
        FOUND(FOUND_NOTE, "settings",
              "unknown: " UNANSWERED("INFO") ", so version, eviction, persistence and replicas were not checked");
    else {
        check_version(self);
        check_eviction(self);
        check_persistence(self);
        check_replicas(self);
        check_clients(self);
    }
    check_clock(self, server);
    check_buffers(self);
    check_sentinels(self, server->sentinels);
}
