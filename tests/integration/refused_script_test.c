/* Scripts of what is counted, and of signal lists: when the server refuses one of their writes, the others do not stand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scripts.h"

#include "tests/integration/support/stage.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *link;

static void setup(void)
{
    stage_open();
    link = server_connect(stage.server);
}

static void teardown(void)
{
    redisFree(link);
    stage_close();
}

TestSuite(refused_script, .init = setup, .fini = teardown);

#define A "aaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbb"
#define C "cccccccccccccccc"
#define D "dddddddddddddddd"
#define KEYS "3 sem set semch"
#define FOREVER " 922337203685477 "

/* Sends the words of `line`, in which ~ is an empty one. Returns whether the answer is an error. */
static bool is_refused(const char *line)
{
    char words[300], *rest = words, *word;
    const char *list[32];
    int count = 0;
    snprintf(words, sizeof words, "%s", line);
    while ((word = strtok_r(rest, " ", &rest)))
        list[count++] = strcmp(word, "~") == 0 ? "" : word;
    redisReply *reply = redisCommandArgv(link, count, list, NULL);
    cr_assert(reply != NULL, "%s: %s", line, link->errstr);
    bool refused = reply->type == REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    return refused;
}

static void say(const char *line)
{
    cr_assert(!is_refused(line), "%s", line);
}

/* What stands, and which of it has an end; to be freed. */
static char *stands(void)
{
    static const char *const keys[] = {"sem", "sem2", "set", "set2", "latch", "tok", "signals"};
    char *keyspace = server_keyspace(stage.server), *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(keyspace, out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (server_integer(stage.server, "PTTL %s", keys[i]) > 0)
            fprintf(out, "%s ends\n", keys[i]);
    }
    fclose(out);
    free(keyspace);
    return text;
}

/* The keys before each run. The permit D has expired in some. */
static const char *const states[][8] = {
    {"SET sem 5", "ZADD set" FOREVER A FOREVER B, "SET sem2 1", "ZADD set2" FOREVER D, "SET latch 1", "SET tok o PX 60000"},
    {"SET sem 5 PX 90000", "ZADD set 1 " D FOREVER A FOREVER B, "PEXPIRE set 90000", "SET latch 2 PX 90000"},
    {"SET sem 5", "ZADD set 1 " D, "SET latch 0", "SET sem2 1 PX 90000"},
    {"SET sem 9223372036854775806", "ZADD set 1 " D FOREVER A FOREVER B, "SET latch 3"},
    {"SET sem 99999999999999999999", "ZADD set 1 " D FOREVER A FOREVER B},
    {"ZADD set 1 " D FOREVER A},
};
#define STATES (sizeof states / sizeof *states)

static void fill(size_t state)
{
    say("FLUSHALL");
    for (size_t i = 0; states[state][i]; i++)
        say(states[state][i]);
}

static const struct {
    const rli_script *script;
    const char *words;
} runs[] = {
    {&rli_script_permit_semaphore_acquire, KEYS " 1 30000 " C},
    {&rli_script_permit_semaphore_acquire, KEYS " 2 30000 " B C},
    {&rli_script_permit_semaphore_acquire, KEYS " 2 -1 " A C},
    {&rli_script_permit_semaphore_release, KEYS " " A},
    {&rli_script_permit_semaphore_release, KEYS " " D},
    {&rli_script_permit_semaphore_release_many, KEYS " 2 " A B},
    {&rli_script_permit_semaphore_undo, KEYS " 3 " A B C},
    {&rli_script_permit_semaphore_replace, "1 set 2 " A B " " C B},
    {&rli_script_permit_semaphore_update_lease, KEYS " " A " 30000"},
    {&rli_script_permit_semaphore_renew, "1 set 1 " A " 30000"},
    {&rli_script_permit_semaphore_lease, KEYS " " A},
    {&rli_script_permit_semaphore_state, KEYS},
    {&rli_script_permit_semaphore_try_set, KEYS " 3"},
    {&rli_script_permit_semaphore_set, KEYS " 3"},
    {&rli_script_permit_semaphore_add, KEYS " 3"},
    {&rli_script_permit_semaphore_add, KEYS " -3"},
    {&rli_script_permit_semaphore_delete, KEYS},
    {&rli_script_semaphore_acquire, "1 sem 1"},
    {&rli_script_semaphore_release, "1 sem semch 2 0"},
    {&rli_script_semaphore_set, "1 sem semch 3 60000"},
    {&rli_script_semaphore_add, "1 sem semch 3"},
    {&rli_script_semaphore_add, "1 sem semch -3"},
    {&rli_script_semaphore_drain, "1 sem"},
    {&rli_script_semaphore_delete, "1 sem"},
    {&rli_script_count_down_latch_set, "1 latch 3 lch"},
    {&rli_script_count_down_latch_count_down, "1 latch lch"},
    {&rli_script_count_down_latch_delete, "1 latch lch"},
    {&rli_script_object_expire, "1 latch 60000 0 0 lch"},
    {&rli_script_object_expire, "2 sem set 60000 0 0 ~"},
    {&rli_script_object_clear_expire, "2 sem set"},
    {&rli_script_object_rename, "4 sem sem2 set set2 0 semch2 ~"},
    {&rli_script_object_rename, "2 latch latch2 0 lch2 lch"},
    {&rli_script_signal_release, "2 tok signals o 0 60000"},
    {&rli_script_signal_force, "2 tok signals"},
    {&rli_script_signal_pass_on, "2 nosuch signals"},
};
#define RUNS (sizeof runs / sizeof *runs)

/* The state after expired permits were taken back, which no refusal of what comes then undoes; to be freed. */
static char *taken_back(size_t state)
{
    char line[200];
    fill(state);
    snprintf(line, sizeof line, "EVALSHA %s " KEYS, rli_script_permit_semaphore_state.sha1[RLI_COUNTED]);
    is_refused(line); /* also for a number that is too high */
    return stands();
}

/* Runs it in that state by a user without that right; NULL: who has all. */
static void run_without(size_t run, size_t state, const char *right)
{
    char line[300], deny[64];
    char *later = taken_back(state);
    fill(state);
    char *before = stands();
    snprintf(line, sizeof line, "EVALSHA %s %s", runs[run].script->sha1[RLI_COUNTED], runs[run].words);
    snprintf(deny, sizeof deny, "ACL SETUSER default -%s", right ? right : "debug");
    say(deny);
    bool refused = is_refused(line);
    say("ACL SETUSER default +@all");
    char *after = stands();
    cr_assert(!refused || strcmp(after, before) == 0 || strcmp(after, later) == 0,
              "%s (script %zu) without %s left\n%sof\n%s", line, run, right ? right : "nothing", after, before);
    free(later);
    free(before);
    free(after);
}

static void run_at_maxmemory(const rli_script *script, const char *words)
{
    char line[200];
    say("CONFIG SET maxmemory 1");
    snprintf(line, sizeof line, "EVALSHA %s %s", script->sha1[RLI_COUNTED], words);
    say(line);
}

/* It refuses what needs memory; the release of a lock succeeds there, too. */
Test(refused_script, gives_permits_back_at_maxmemory)
{
    static const struct {
        const rli_script *script;
        const char *words;
    } releases[] = {
        {&rli_script_permit_semaphore_release, KEYS " " A},
        {&rli_script_permit_semaphore_release_many, KEYS " 1 " A},
        {&rli_script_permit_semaphore_undo, KEYS " 1 " A},
    };
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        server_load(stage.server, releases[i].script, RLI_COUNTED);
        say("CONFIG SET maxmemory 0");
        fill(1);
        run_at_maxmemory(releases[i].script, releases[i].words);
        int64_t taken = server_integer(stage.server, "ZCARD set");
        cr_assert(taken < 3 && server_integer(stage.server, "GET sem") + taken == 8, "script %zu: %lld", i, (long long)taken);
    }
}

/* So do these, which only put a number in the place of another. */
Test(refused_script, changes_counts_and_leases_at_maxmemory)
{
    static const struct {
        const rli_script *script;
        const char *words;
    } changes[] = {
        {&rli_script_semaphore_release, "1 sem semch 1 1"},
        {&rli_script_count_down_latch_count_down, "1 latch lch"},
        {&rli_script_permit_semaphore_renew, "1 set 1 " A " 30000"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        server_load(stage.server, changes[i].script, RLI_COUNTED);
        say("CONFIG SET maxmemory 0");
        fill(1);
        say("PERSIST sem");
        say("SET latch 3");
        run_at_maxmemory(changes[i].script, changes[i].words);
    }
}

/* The end of a counter is where it was, and nothing takes it away. */
Test(refused_script, leaves_the_end_of_a_counter_alone)
{
    char line[200];
    server_load(stage.server, &rli_script_count_down_latch_count_down, RLI_COUNTED);
    snprintf(line, sizeof line, "EVALSHA %s 1 latch lch", rli_script_count_down_latch_count_down.sha1[RLI_COUNTED]);
    for (int i = 0; i < 200; i++) {
        say("SET latch 1000 PX 3");
        while (server_integer(stage.server, "EXISTS latch") == 1)
            say(line);
    }
}

/* By a user without a right to one of the commands that the script calls. Messages come behind the writes, and undo none:
 * docs/security.md. */
Test(refused_script, leaves_nothing_half_done)
{
    for (size_t i = 0; rli_scripts[i]; i++)
        server_load(stage.server, rli_scripts[i], RLI_COUNTED);
    int tried = 0;
    for (size_t run = 0; run < RUNS; run++) {
        char *text = script_text(runs[run].script, RLI_COUNTED), right[32];
        for (size_t state = 0; state < STATES; state++) {
            run_without(run, state, NULL);
            for (const char *at = text; (at = strstr(at, "call('"));) {
                at += strlen("call('");
                snprintf(right, sizeof right, "%.*s", (int)strcspn(at, "'"), at);
                if (strcmp(right, "publish") != 0)
                    run_without(run, state, right);
                tried++;
            }
        }
        free(text);
    }
    cr_assert(tried > 500, "%d", tried);
}
