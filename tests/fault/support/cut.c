/* Cuts: one operation of one object under every fault that a connection can have in the middle of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut.h"

#include "tests/fault/support/scene.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 16 /* of an operation */
#define STEP 31     /* bytes between two cuts of a request: it has some 150, and is run only when whole */
#define SOON_MS 10000

/* A stall is noticed so soon, or later where a sanitizer slows everything down; no call that is not stalled may
 * take that long on a loaded machine. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HASTE "1000"
#define HASTE_BEYOND_SHARE true /* longer than what a red lock gives to one of its members */
#else
#define HASTE "250"
#define HASTE_BEYOND_SHARE false
#endif
#define HASTY "timeout=" HASTE "&connectTimeout=8000&retryAttempts=9&retryBaseDelay=2&retryMaxDelay=4&slavesSyncTimeout=300&lockWatchdogTimeout=20000"

/* --- the place --- */

static char url_head[256];
static char tag[32]; /* "{…}" before all names; "": none, and nobody has to ask */

/* What the next command of the fixture is about may be on its way. */
static void ask(void)
{
    if (*tag)
        freeReplyObject(server_command(stage.server, "ASKING"));
}

/* In all forms, so that each request is sent once. */
static void load_scripts(void)
{
    for (size_t i = 0; rli_scripts[i]; i++) {
        for (rli_pubsub_mode spread = 0; spread < RLI_PUBSUB_MODES; spread++)
            server_load(stage.server, rli_scripts[i], spread);
    }
}

void cuts_open_at(server *master, const char *url_format)
{
    char port[16];
    stage.server = master;
    scene.proxy = proxy_start_port(master);
    snprintf(port, sizeof port, "%d", proxy_port(scene.proxy));
    const char *at = strstr(url_format, "%s");
    cr_assert(at != NULL);
    snprintf(url_head, sizeof url_head, "%.*s%s%s", (int)(at - url_format), url_format, port, at + 2);
    load_scripts();
    stage.other = stage_client("timeout=8000");
}

void cuts_open(void)
{
    cuts_open_at(server_start(), "redis://127.0.0.1:%s");
}

void cuts_close(void)
{
    proxy_stop(scene.proxy);
    scene = (struct scene){0};
    stage_close();
}

void cuts_open_asking(server *to, proxy *before, const char *url, const char *key)
{
    stage.server = to;
    scene.proxy = before;
    snprintf(url_head, sizeof url_head, "%s", url);
    snprintf(tag, sizeof tag, "{%s}", key);
    load_scripts();
}

void cuts_close_asking(void)
{
    stage.server = NULL; /* the cluster's, as the proxy is */
    scene.proxy = NULL;
    *tag = 0;
    cuts_close();
}

rlock_client *cut_client(const char *query)
{
    char url[512];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "%s?%s", url_head, query);
    assert_ok(rlock_client_open(&client, url));
    return client;
}

void cut_end(rlock_client *client)
{
    rlock_client_close(client);
}

/* --- the keyspace --- */

static const char look[] =
    "local lines = {} "
    "local function plain(text) "
    "  return (text:gsub('%x+%-%x+%-%x+%-%x+%-%x+:%d+', 'O'):gsub(ARGV[1], 'N')) "
    "end "
    "for _, key in ipairs(redis.call('KEYS', '*')) do "
    "  local kind, value = redis.call('TYPE', key).ok, '' "
    "  if kind == 'string' then value = plain(redis.call('GET', key)) "
    "  elseif kind == 'list' then value = plain(table.concat(redis.call('LRANGE', key, 0, -1), ' ')) "
    "  elseif kind == 'zset' then value = redis.call('ZCARD', key) "
    "  elseif kind == 'hash' then "
    "    local all, parts = redis.call('HGETALL', key), {} "
    "    for i = 1, #all, 2 do "
    "      local said = all[i]:find(':expire_time', 1, true) and 'some time' or plain(all[i + 1]) "
    "      parts[#parts + 1] = plain(all[i]) .. '=' .. said "
    "    end "
    "    table.sort(parts) "
    "    value = table.concat(parts, ' ') "
    "    if redis.call('PTTL', key) == -1 then value = value .. ' for ever' end "
    "  end "
    "  if not key:find('redisson_lock_token', 1, true) and not key:find('lock-signal:', 1, true) and not key:find('rlock_waiters', 1, true) then "
    "    lines[#lines + 1] = plain(key) .. ' ' .. kind .. ' ' .. value .. '\\n' "
    "  end "
    "end "
    "table.sort(lines) "
    "return table.concat(lines)";

static char *keys_of(const char *token)
{
    ask();
    return server_text(stage.server, "EVAL %s 0 %s", look, token);
}

bool cut_stands(const char *token, const char *expected)
{
    char *keys = keys_of(token);
    bool same = strcmp(keys, expected) == 0;
    free(keys);
    return same;
}

/* What is being done, for the message of a failure. */
static char doing[256];

static void fail_on_keys(const char *token, const char *expected)
{
    char *keys = keys_of(token);
    cr_assert_fail("%s: the keyspace is:\n%s\nexpected:\n%s", doing, keys, expected);
    free(keys);
}

void cut_await(const char *token, const char *expected, int64_t ms)
{
    for (int64_t until_ms = limit_end_ms(ms); now_ms() < until_ms; pass_ms(1)) {
        if (cut_stands(token, expected))
            return;
    }
    if (!cut_stands(token, expected))
        fail_on_keys(token, expected);
}

const char *cut_token(void)
{
    static char token[48];
    static int number;
    snprintf(token, sizeof token, "%sc%06dx", tag, ++number);
    return token;
}

void past(const cell *self, const char *format)
{
    ask();
    freeReplyObject(server_command(stage.server, format, self->name));
}

const char *held(const kind *of, int count)
{
    static char texts[4][512];
    static int turn;
    char *text = texts[turn++ % 4];
    size_t length = 0;
    *text = 0;
    if (count == 0)
        return text;
    if (!of->field) {
        snprintf(text, sizeof texts[0], "%sN string O\n", of->before ? of->before : "");
        return text;
    }
    if (of->grouped) {
        static const char a[] = "qwvAS12pR0CgRitaypEjUw", b[] = "Q5CdP+xmkHdTGWYr64Lw6A";
        snprintf(text, sizeof texts[0],
                 "N hash %s:O:expire_time=some time %s:O:lock_count=%d %s=O %s:O:expire_time=some time %s:O:lock_count=%d %s=O\n",
                 b, b, count, b, a, a, count, a);
        return text;
    }
    const char *mode = !of->both_sides ? "" : of->shared ? " mode=read" : " mode=write";
    length = (size_t)snprintf(text, sizeof texts[0], "N hash O%s=%d%s\n", of->field, count, mode);
    for (int i = 1; of->shared && i <= count; i++)
        length += (size_t)snprintf(text + length, sizeof texts[0] - length, "{N}:O:rwlock_timeout:%d string 1\n", i);
    return text;
}

/* --- one run --- */

typedef struct fault {
    const char *title;
    proxy_act act;
    int request;       /* which of the operation's */
    int64_t bytes;     /* that still pass */
    bool whole;        /* these are all */
    bool all;          /* this and all later ones */
    bool resets;
    bool late;         /* what is kept comes after all was given back */
} fault;

static void begin(cell *self, const operation *of, rlock_client *client)
{
    const char *token = cut_token();
    *self = (cell){.operation = of, .client = client, .said = -1};
    snprintf(self->name, sizeof self->name, "%s", token);
    snprintf(self->second, sizeof self->second, "%s:b", token);
    snprintf(self->third, sizeof self->third, "%s:c", token);
    if (of->of)
        self->lock = of->of->get(client, self->name);
    self->semaphore = rlock_get_semaphore(client, self->name);
    self->permits = rlock_get_permit_expirable_semaphore(client, self->name);
    self->latch = rlock_get_count_down_latch(client, self->name);
    if (of->before)
        of->before(self);
    for (int i = 0; !of->before && i < of->had; i++)
        assert_ok(rlock_lock(self->lock));
}

static void end(cell *self)
{
    past(self, *tag ? "DEL redisson_lock_token:%s" : "DEL redisson_lock_token:{%s}");
    rlock_free(self->lock);
    rlock_free(self->also);
    rlock_free(self->theirs);
    rlock_semaphore_free(self->semaphore);
    rlock_permit_semaphore_free(self->permits);
    rlock_count_down_latch_free(self->latch);
}

static void give_back(cell *self, bool done)
{
    const operation *of = self->operation;
    for (int i = 0; i < (done ? of->has : of->had); i++)
        assert_ok(rlock_unlock(self->lock));
    if (self->theirs)
        assert_ok(rlock_unlock(self->theirs));
    assert_status(rlock_unlock(self->lock), RLOCK_NOT_OWNER);
    cr_assert(rlock_valid_for(self->lock) == 0);
}

static void finish(cell *self, bool done)
{
    (self->operation->after ? self->operation->after : give_back)(self, done);
    cut_await(self->name, "", SOON_MS);
}

static const char *before_text(const operation *of)
{
    return of->is ? of->is : held(of->of, of->had);
}

static const char *after_text(const operation *of)
{
    return of->becomes ? of->becomes : held(of->of, of->has);
}

static void assert_stands(const cell *self, bool done)
{
    const char *expected = done ? after_text(self->operation) : before_text(self->operation);
    if (!cut_stands(self->name, expected))
        fail_on_keys(self->name, expected);
}

static bool is_stall(const fault *by)
{
    return by->act == PROXY_HOLD_REQUEST || by->act == PROXY_HOLD_REPLY;
}

static rlock_status expected_of(const operation *of, const fault *by)
{
    if (of->brief && is_stall(by))
        return RLOCK_UNAVAILABLE;
    if (by->all)
        return of->once ? RLOCK_UNKNOWN : RLOCK_UNAVAILABLE;
    return of->once && (!by->whole || of->confirmed) ? RLOCK_UNKNOWN : of->answer;
}

static int cells;

static void run(const operation *of, rlock_client *client, const fault *by)
{
    cell self;
    bool runs = by->act == PROXY_CUT_AFTER || by->act == PROXY_HOLD_REPLY, done = true;
    snprintf(doing, sizeof doing, "%s %s, request %d, %s after %d bytes%s", of->of ? of->of->name : "", of->title,
             by->request + 1, by->title, (int)by->bytes, by->all ? ", and all later ones" : "");
    cells++;
    begin(&self, of, client);
    proxy_reset(scene.proxy, by->resets);
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = by->act, .text = self.name, .and_text = of->with,
                                                    .skip = by->request,
                                                    .times = by->all ? 0 : 1, .amount = by->bytes});
    rlock_status expected = expected_of(of, by), status = of->call(&self);
    /* A silence that is noticed later than a member's share of the wait may cost all members on the connection. */
    bool silenced = HASTE_BEYOND_SHARE && of->most && is_stall(by) && status == RLOCK_UNAVAILABLE;
    cr_assert(status == expected || silenced, "%s: answered %s, expected %s; last error: %s", doing, rlock_strstatus(status),
              rlock_strstatus(expected), rlock_last_error());
    bool acted = proxy_count(scene.proxy, rule, PROXY_ACTED) >= 1;
    cr_assert(acted || of->varies, "%s: there was no such request", doing);
    proxy_reset(scene.proxy, false);
    if (status == of->answer)
        cr_assert(self.said == of->says, "%s: said %lld", doing, (long long)self.said);
    if (!is_stall(by))
        proxy_release(scene.proxy, rule);
    if (status == RLOCK_UNKNOWN)
        done = runs;
    bool partly = of->most && is_stall(by), freed = of->freed && status == RLOCK_UNKNOWN && !runs;
    if (freed)
        cut_await(self.name, "", SOON_MS);
    else if (status != RLOCK_UNAVAILABLE && !partly)
        assert_stands(&self, done);
    if (status == RLOCK_UNAVAILABLE)
        done = of->ends;
    if (status == RLOCK_UNAVAILABLE && of->undone)
        cut_await(self.name, before_text(of), SOON_MS);
    if (by->late)
        finish(&self, done);
    if (is_stall(by)) {
        proxy_release(scene.proxy, rule);
        cr_assert(runs || !acted || proxy_await(scene.proxy, rule, PROXY_LATE, 1, SOON_MS), "%s: it never came", doing);
        done = status == RLOCK_UNAVAILABLE && !silenced ? of->ends : !silenced;
        bool undone = status == RLOCK_UNAVAILABLE && of->undone;
        if (by->late || !partly)
            cut_await(self.name, by->late || freed ? "" : undone ? before_text(of) : after_text(of), SOON_MS);
    }
    if (!by->late)
        finish(&self, done);
    end(&self);
}

void cut_with(const operation *of, rlock_client *client, const proxy_rule *rule, bool whole)
{
    cell self;
    snprintf(doing, sizeof doing, "%s %s, %s cut after %d bytes", of->of ? of->of->name : "", of->title, rule->text,
             (int)rule->amount);
    begin(&self, of, client);
    int number = proxy_add(scene.proxy, rule);
    rlock_status expected = of->once && !whole ? RLOCK_UNKNOWN : of->answer, status = of->call(&self);
    cr_assert(status == expected, "%s: answered %s, expected %s; last error: %s", doing, rlock_strstatus(status),
              rlock_strstatus(expected), rlock_last_error());
    cr_assert(proxy_count(scene.proxy, number, PROXY_ACTED) >= 1, "%s: there was no such request", doing);
    proxy_release(scene.proxy, number);
    assert_stands(&self, true);
    finish(&self, true);
    end(&self);
}

/* --- all of them --- */

typedef struct lengths {
    int requests, request[REQUESTS], reply[REQUESTS];
} lengths;

/* As it is without a fault, and how long all is that passes. */
static lengths learn(const operation *of, rlock_client *client)
{
    cell self;
    lengths found = {0};
    int rules[REQUESTS];
    snprintf(doing, sizeof doing, "%s %s without a fault", of->of ? of->of->name : "", of->title);
    begin(&self, of, client);
    assert_stands(&self, false);
    for (int i = 0; i < REQUESTS; i++)
        rules[i] = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_NOTE, .text = self.name, .and_text = of->with,
                                                         .skip = i});
    rlock_status status = of->call(&self);
    cr_assert(status == of->answer, "%s: answered %s", doing, rlock_strstatus(status));
    cr_assert(self.said == of->says, "%s: said %lld", doing, (long long)self.said);
    assert_stands(&self, true);
    found.requests = proxy_count(scene.proxy, rules[0], PROXY_SEEN);
    cr_assert(found.requests >= 1 && found.requests < REQUESTS, "%s: sent %d requests", doing, found.requests);
    for (int i = 0; i < REQUESTS; i++) {
        found.request[i] = proxy_count(scene.proxy, rules[i], PROXY_REQUEST_BYTES);
        found.reply[i] = proxy_count(scene.proxy, rules[i], PROXY_REPLY_BYTES);
        proxy_release(scene.proxy, rules[i]);
    }
    finish(&self, true);
    end(&self);
    return found;
}

static void cut_request(const operation *of, rlock_client *calm, rlock_client *hasty, const lengths *found, int i)
{
    cr_assert(found->request[i] > 0 && found->reply[i] > 0);
    for (int bytes = 0; bytes < found->request[i]; bytes += STEP)
        run(of, calm, &(fault){"request cut", PROXY_CUT_BEFORE, i, .bytes = bytes});
    run(of, calm, &(fault){"request cut", PROXY_CUT_BEFORE, i, .bytes = found->request[i] - 1});
    for (int bytes = 0; bytes <= found->reply[i]; bytes++)
        run(of, calm, &(fault){"answer cut", PROXY_CUT_AFTER, i, .bytes = bytes, .whole = bytes == found->reply[i]});
    run(of, calm, &(fault){"reset before it", PROXY_CUT_BEFORE, i, .resets = true});
    run(of, calm, &(fault){"reset instead of an answer", PROXY_CUT_AFTER, i, .resets = true});
    run(of, hasty, &(fault){"request stalled", PROXY_HOLD_REQUEST, i, .late = false});
    run(of, hasty, &(fault){"answer stalled", PROXY_HOLD_REPLY, i, .late = false});
    if (!of->once && !of->most) /* most: what gives it back would not ask a stalled connection again */
        run(of, hasty, &(fault){"request stalled beyond the end", PROXY_HOLD_REQUEST, i, .late = true});
}

void cut_operations(const operation *operations, size_t count)
{
    for (size_t o = 0; o < count; o++) {
        const operation *of = &operations[o];
        rlock_client *calm = cut_client(CUT_CALM), *hasty = cut_client(HASTY);
        lengths found = learn(of, calm);
        for (int i = 0; i < found.requests; i++)
            cut_request(of, calm, hasty, &found, i);
        run(of, calm, &(fault){"request lost", PROXY_CUT_BEFORE, .all = true});
        run(of, calm, &(fault){"answer lost", PROXY_CUT_AFTER, .all = true});
        cut_end(calm);
        cut_end(hasty);
    }
    cr_log_info("%d faults in %zu operations", cells, count);
}
