/* A real server and the model of it, side by side. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/pair.h"

#include "tests/support/server_parts.h"
#include "tests/support/test.h"
#include "tests/support/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_version version_of_server(server *real)
{
    static const struct {
        const char *found;
        sim_version version;
    } versions[] = {{"valkey_version:8.", SIM_VALKEY_8_0}, {"redict_version:7.", SIM_REDICT_7_3},
                    {"redis_version:6.2.", SIM_REDIS_6_2}, {"redis_version:7.0.", SIM_REDIS_7_0},
                    {"redis_version:7.2.", SIM_REDIS_7_2}, {"redis_version:7.4.", SIM_REDIS_7_2},
                    {"redis_version:8.0.", SIM_REDIS_8_0}};
    char *info = server_text(real, "INFO server");
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (strstr(info, versions[i].found)) {
            free(info);
            return versions[i].version;
        }
    }
    cr_assert_fail("the model is of no such server: %s", info);
    return SIM_REDIS_7_0;
}

static int64_t clock_of(void *own)
{
    return *((server_pair *)own)->clock.now_us;
}

static void connect_all(server_pair *pair)
{
    for (int i = 0; i < PAIR_LINKS; i++) {
        pair->links[i] = server_connect(pair->real);
        cr_assert(pair->links[i], "no connection to the server");
        pair->model_links[i] = sim_link_open(pair->model, NULL);
        pair->readers[i] = redisReaderCreate();
    }
}

static void disconnect_all(server_pair *pair)
{
    for (int i = 0; i < PAIR_LINKS; i++) {
        redisFree(pair->links[i]);
        redisReaderFree(pair->readers[i]);
    }
    sim_server_free(pair->model);
}

static void make_model(server_pair *pair)
{
    pair->model = sim_server_make(&(sim_server_settings){
        .version = pair->version, .seed = pair->seed, .hooks = {.world = pair, .now_us = clock_of}});
}

/* Redis 6.2 allows all to ask for DEBUG, and takes no such option. */
static bool knows_option(const char *option)
{
    static char last[32];
    if (!*last) {
        FILE *out = popen("redis-server --version", "r");
        cr_assert(out && fgets(last, sizeof last, out) != NULL);
        pclose(out);
    }
    return !(strstr(last, "v=6.") && strcmp(option, "enable-debug-command") == 0);
}

void pair_start(server_pair *pair, const char *const *args)
{
    *pair = (struct server_pair){.seed = 1};
    wall_clock_make(&pair->clock);
    texts all = {0};
    const char *const *debug = knows_option("enable-debug-command") ? ARGS("--enable-debug-command", "yes") : NULL;
    pair->real = wall_clock_server(&pair->clock, texts_args(&all, debug, args));
    texts_free(&all);
    pair->version = version_of_server(pair->real);
    make_model(pair);
    connect_all(pair);
}

void pair_stop(server_pair *pair)
{
    disconnect_all(pair);
    server_stop(pair->real);
    wall_clock_remove(&pair->clock);
    free(pair->difference);
}

void pair_clear(server_pair *pair, uint64_t seed)
{
    disconnect_all(pair);
    free(pair->difference);
    pair->difference = NULL;
    pair->seed = seed;
    freeReplyObject(server_command(pair->real, "FLUSHALL"));
    freeReplyObject(server_command(pair->real, "SCRIPT FLUSH"));
    freeReplyObject(server_command(pair->real, "DEBUG SET-ACTIVE-EXPIRE 0"));
    make_model(pair);
    connect_all(pair);
}

void pair_pass(server_pair *pair, int64_t us)
{
    wall_clock_pass(&pair->clock, us);
}

/* --- answers --- */

static redisReply *real_answer(server_pair *pair, int link, const word_list *words)
{
    void *reply = NULL;
    if (redisGetReply(pair->links[link], &reply) != REDIS_OK)
        cr_assert_fail("the server does not answer %s: %s", words_show(words), pair->links[link]->errstr);
    return reply;
}

/* NULL: it has said nothing more. */
static redisReply *model_answer(server_pair *pair, int link)
{
    char said[4096];
    size_t count;
    void *reply = NULL;
    while ((count = sim_link_take(pair->model_links[link], said, sizeof said)) > 0)
        redisReaderFeed(pair->readers[link], said, count);
    cr_assert(redisReaderGetReply(pair->readers[link], &reply) == REDIS_OK, "the model: %s", pair->readers[link]->errstr);
    return reply;
}

static bool differ(server_pair *pair, const word_list *words, const redisReply *real, const redisReply *model)
{
    int groups = reply_groups(words);
    char *one = reply_show(real, groups), *other = reply_show(model, groups);
    bool same = strcmp(one, other) == 0;
    if (!same) {
        char *asked = words_show(words);
        cr_assert(asprintf(&pair->difference, "%s\n      server: %s\n      model:  %s", asked, one, other) >= 0);
        free(asked);
    }
    free(one);
    free(other);
    return !same;
}

static void ask(server_pair *pair, int link, const word_list *words)
{
    char *bytes;
    long long length = redisFormatCommandArgv(&bytes, words->count, (const char **)(uintptr_t)words->at, words->lengths);
    redisAppendFormattedCommand(pair->links[link], bytes, (size_t)length);
    sim_link_hear(pair->model_links[link], bytes, (size_t)length);
    redisFreeCommand(bytes);
}

void pair_begin(server_pair *pair, int link, const char *line)
{
    word_list words = words_divide(line);
    int done = 0;
    ask(pair, link, &words);
    while (!done)
        cr_assert(redisBufferWrite(pair->links[link], &done) == REDIS_OK);
    words_free(&words);
}

bool pair_answered(server_pair *pair, int link, const char *line, bool *same)
{
    redisReply *model = model_answer(pair, link);
    if (!model)
        return false;
    word_list words = words_divide(line);
    redisReply *real = real_answer(pair, link, &words);
    *same = !differ(pair, &words, real, model);
    freeReplyObject(real);
    freeReplyObject(model);
    words_free(&words);
    return true;
}

bool pair_ask(server_pair *pair, int link, const word_list *words)
{
    ask(pair, link, words);
    redisReply *real = real_answer(pair, link, words), *model = model_answer(pair, link);
    bool same = !differ(pair, words, real, model);
    freeReplyObject(real);
    freeReplyObject(model);
    return same;
}

/* Both listeners' messages up to the answer to a PING, in which servers agree. */
static bool compare_messages(server_pair *pair)
{
    word_list ping = {0};
    bool same = true, over = false;
    words_add(&ping, "PING", 4);
    redisAppendCommand(pair->links[PAIR_LISTENER], "PING");
    sim_link_hear(pair->model_links[PAIR_LISTENER], "PING\r\n", 6);
    while (same && !over) {
        redisReply *real = real_answer(pair, PAIR_LISTENER, &ping), *model = model_answer(pair, PAIR_LISTENER);
        same = !differ(pair, &ping, real, model);
        over = real->type == REDIS_REPLY_STATUS || (real->elements == 2 && strcmp(real->element[0]->str, "pong") == 0);
        freeReplyObject(real);
        freeReplyObject(model);
    }
    words_free(&ping);
    return same;
}

/* Commands of messages that name several channels, or leave all, have several answers: this is for one. */
bool pair_run(server_pair *pair, int link, const word_list *words)
{
    return pair_ask(pair, link, words) && compare_messages(pair);
}

bool pair_say(server_pair *pair, int link, const char *line)
{
    word_list words = words_divide(line);
    bool same = pair_run(pair, link, &words);
    words_free(&words);
    return same;
}

/* --- what is stored --- */

static bool ask_of(server_pair *pair, const char *before, const redisReply *key, const char *behind)
{
    word_list words = {0};
    words_add(&words, before, strlen(before));
    words_add(&words, key->str, key->len);
    for (const char *at = behind; *at;) {
        size_t length = strcspn(at, " ");
        words_add(&words, at, length);
        at += length + (at[length] == ' ');
    }
    bool same = pair_ask(pair, PAIR_EYE, &words);
    words_free(&words);
    return same;
}

static bool compare_key(server_pair *pair, const redisReply *key)
{
    static const char *const readings[][3] = {
        {"string", "GET", ""}, {"hash", "HGETALL", ""}, {"list", "LRANGE", "0 -1"}, {"set", "SMEMBERS", ""},
        {"zset", "ZRANGE", "0 -1 WITHSCORES"},
    };
    redisReply *type = server_command(pair->real, "TYPE %b", key->str, key->len);
    bool same = ask_of(pair, "PTTL", key, "") && ask_of(pair, "TYPE", key, "");
    for (size_t i = 0; same && i < sizeof readings / sizeof *readings; i++) {
        if (strcmp(type->str, readings[i][0]) == 0)
            same = ask_of(pair, readings[i][1], key, readings[i][2]);
    }
    freeReplyObject(type);
    return same;
}

bool pair_compare_keys(server_pair *pair)
{
    return compare_messages(pair) && pair_compare_stored(pair);
}

bool pair_compare_stored(server_pair *pair)
{
    word_list all = words_divide("KEYS *");
    bool same = pair_ask(pair, PAIR_EYE, &all);
    words_free(&all);
    if (!same)
        return false;
    redisReply *keys = server_command(pair->real, "KEYS *");
    for (size_t i = 0; same && i < keys->elements; i++)
        same = compare_key(pair, keys->element[i]);
    freeReplyObject(keys);
    return same;
}
