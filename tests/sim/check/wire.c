/* Wire: whether what scripts leave and publish is what the wire contract says. Redisson's threads each wait on a channel for a
 * message that says how many of them to wake; an actor has one thread, and would not notice a wrong one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/wire_parts.h"

#include "tests/sim/check/holders.h"
#include "tests/sim/check/kept.h"
#include "tests/sim/check/leases.h"

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/listeners.h"
#include "tests/sim/program/run.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/server/value.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

wire_run wire_now;

static int64_t freed_ns[PLAN_OBJECTS], taken_ns[PLAN_OBJECTS];

int64_t wire_freed_ns(int resource)
{
    return freed_ns[resource];
}

int64_t wire_taken_ns(int resource)
{
    return taken_ns[resource];
}

static int64_t touched_ns[PLAN_OBJECTS];

int64_t wire_touched_ns(int resource)
{
    return touched_ns[resource];
}

static bool freed_last[PLAN_OBJECTS]; /* and no script has taken it since */

bool wire_is_freed(int resource)
{
    return freed_last[resource];
}

/* --- what there is --- */

const sim_value *wire_value(const host *at, const char *key)
{
    return sim_server_value(at->server, 0, key, strlen(key));
}

static void copy_text(char to[static TEXT_SIZE], const char *at, size_t length)
{
    snprintf(to, TEXT_SIZE, "%.*s", (int)(length < TEXT_SIZE ? length : TEXT_SIZE - 1), at);
}

double wire_score(const sim_value *timeouts, text member)
{
    const entry *score = timeouts && timeouts->type == VALUE_ZSET ? table_find(&timeouts->zset.scores, member) : NULL;
    return score ? score->score : -1;
}

static void look_at_queue(const host *at, const char *name, wire_state *to)
{
    char key[TEXT_SIZE];
    snprintf(key, sizeof key, "redisson_lock_queue:{%s}", name);
    const sim_value *queue = wire_value(at, key);
    if (!queue || queue->type != VALUE_LIST)
        return;
    to->queued = list_size(queue);
    text head = list_item(queue, 0), last = list_item(queue, to->queued - 1);
    copy_text(to->head, head.at, head.length);
    snprintf(key, sizeof key, "redisson_lock_timeout:{%s}", name);
    const sim_value *timeouts = wire_value(at, key);
    to->head_score = wire_score(timeouts, head);
    to->last_score = wire_score(timeouts, last);
}

static bool is_owner(const char *at, size_t length, const char *behind);

static wire_state look(const host *at, const char *name)
{
    wire_state is = {.number = NUMBER_NONE, .last_score = -1, .ends_ms = -1};
    const sim_value *own = wire_value(at, name);
    if (own && own->type == VALUE_HASH) {
        const entry *mode = table_find(&own->members, TEXT("mode"));
        is.lock = true;
        for (const entry *one = table_next(&own->members, NULL); one; one = table_next(&own->members, one))
            is.fields++;
        is.mode = mode && mode->length > 0 ? *mode->bytes : 0;
    }
    if (own && own->type == VALUE_STRING)
        text_integer((text){own->string.at, own->string.length}, &is.number);
    is.lock |= own && own->type == VALUE_STRING && is_owner(own->string.at, own->string.length, "");
    is.there = own;
    is.ends_ms = own ? own->expires_ms : -1;
    look_at_queue(at, name, &is);
    return is;
}

bool wire_group_is_held(const host *at, const char *name)
{
    static const char behind[] = ":expire_time";
    const size_t tail = sizeof behind - 1;
    const sim_value *own = wire_value(at, name);
    for (const entry *one = own && own->type == VALUE_HASH ? table_next(&own->members, NULL) : NULL; one;
         one = table_next(&own->members, one)) {
        int64_t ends_ms;
        bool is_end = one->name_length > tail && memcmp(one->name + one->name_length - tail, behind, tail) == 0;
        if (is_end && text_integer((text){one->bytes, one->length}, &ends_ms) && ends_ms > servers_wall_ms(at))
            return true;
    }
    return false;
}

/* --- names and channels --- */

/* "8d3f0f5c-35e0-4d4a-9f0e-5f2f6b0c7a11:7", with that behind it. */
static bool is_owner(const char *at, size_t length, const char *behind)
{
    size_t tail = strlen(behind), digits = 0;
    if (length < 38 + tail || memcmp(at + length - tail, behind, tail) != 0 || at[36] != ':')
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? at[i] != '-' : !strchr("0123456789abcdef", at[i]))
            return false;
    }
    for (size_t i = 37; i < length - tail; i++)
        digits += at[i] >= '0' && at[i] <= '9';
    return digits == length - tail - 37 && at[37] != '0';
}

static bool is_number(const char *digits)
{
    int64_t number;
    return text_integer(text_of(digits), &number);
}

static wire_family family_of(const char *script)
{
    static const struct {
        const char *before;
        wire_family is;
    } all[] = {{"lock/", EXCLUSIVE}, {"fenced/", EXCLUSIVE}, {"fair/", QUEUED}, {"spin/", SILENT}, {"token/", TOKENS}, {"signal/", SIGNALS},
               {"read/", READING},
               {"write/", WRITING}, {"semaphore/", SEMAPHORES}, {"permit_semaphore/", PERMIT_SEMAPHORES},
               {"permits/", PERMIT_SEMAPHORES}, {"count_down_latch/", LATCHES}, {"latch/", LATCHES}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strncmp(script, all[i].before, strlen(all[i].before)) == 0)
            return all[i].is;
    }
    return OTHERS;
}

void wire_channel(wire_family which, const char *name, char to[static TEXT_SIZE])
{
    static const char *const prefixes[] = {
        [EXCLUSIVE] = "redisson_lock__channel:", [QUEUED] = "redisson_lock__channel:", [SILENT] = "redisson_lock__channel:",
        [TOKENS] = "rlock_token_channel:", [SIGNALS] = "none:", [READING] = "redisson_rwlock:", [WRITING] = "redisson_rwlock:", [SEMAPHORES] = "redisson_sc:",
        [PERMIT_SEMAPHORES] = "redisson_sc:", [LATCHES] = "redisson_countdownlatch__channel__"};
    snprintf(to, TEXT_SIZE, "%s{%s}", prefixes[which], name);
}

/* --- what has to be published --- */

static void say_state(const wire_state *is, char *to, size_t size)
{
    if (is->number != NUMBER_NONE)
        snprintf(to, size, "%" PRId64, is->number);
    else
        snprintf(to, size, "%s%s", is->lock ? "a lock" : "nothing", is->mode == 'r' ? ", mode read" : is->mode ? ", mode write" : "");
}

void wire_must_tell(const char *script, const wire_state *before, const wire_state *after, const char *channel, const char *said)
{
    char told[600] = "nothing", was[40], is[40];
    size_t length = 0;
    for (int i = 0; i < wire_now.count; i++) {
        if (strcmp(wire_now.told[i].channel, channel) == 0 && strcmp(wire_now.told[i].text, said) == 0)
            return;
        if (length < sizeof told - 2 * TEXT_SIZE)
            length += (size_t)snprintf(told + length, sizeof told - length, "%s\"%s\" on %s", i ? ", " : "", wire_now.told[i].text,
                                       wire_now.told[i].channel);
    }
    say_state(before, was, sizeof was);
    say_state(after, is, sizeof is);
    finding("%s turned %s into %s, and did not publish \"%s\" on %s, but %s", script, was, is, said, channel, told);
}

static bool is_signal_list(const char *name, size_t length, int object)
{
    char own[TEXT_SIZE];
    if (run_of->objects[object].kind != SIGNAL_LOCK)
        return false;
    snprintf(own, sizeof own, "lock-signal:%s", object_called(&run_of->objects[object]));
    return strlen(own) == length && memcmp(own, name, length) == 0;
}

/* How long the element is kept for a waiter that is about to take it. */
#define SIGNAL_MS 1000

/* Who frees it leaves an element for one waiter; it is served when the script has ended. */
static void check_signalled(const char *script, const host *at, const char *name, const wire_state *after)
{
    char list[TEXT_SIZE];
    snprintf(list, sizeof list, "lock-signal:%s", name + strlen("lock:"));
    const sim_value *own = wire_value(at, list);
    if (wire_now.before.lock && !after->lock && (!own || own->type != VALUE_LIST))
        finding("%s freed lock \"%s\", and left no element in its list", script, name);
    int64_t left_ms = own && own->expires_ms >= 0 ? own->expires_ms - sim_server_now_us(at->server) / 1000 : SIGNAL_MS;
    if (wire_now.before.lock && !after->lock && left_ms < SIGNAL_MS - 1)
        finding("%s freed lock \"%s\", and left an element that ends in %" PRId64 " ms", script, name, left_ms);
}

static void check_lock_told(const char *script, wire_family which, bool ours, bool gives_up, const char *name, const wire_state *after)
{
    const wire_state *before = &wire_now.before;
    char channel[TEXT_SIZE + 200];
    wire_channel(which, name, channel);
    bool freed = before->lock && !after->lock;
    if ((which == EXCLUSIVE || which == TOKENS) && freed && !before->mode)
        wire_must_tell(script, before, after, channel, "0");
    bool leaves_free = gives_up && !after->there;
    if (which == QUEUED && (freed || leaves_free) && !before->mode && after->queued > 0) {
        size_t length = strlen(channel);
        snprintf(channel + length, sizeof channel - length, ":%s", after->head);
        wire_must_tell(script, before, after, channel, "0");
    }
    if (which == READING && freed && before->mode == 'r')
        wire_must_tell(script, before, after, channel, "0");
    /* Redisson does not tell when reads of the writer's own are left. */
    if (which == WRITING && before->mode == 'w' && (freed || (ours && after->mode == 'r')))
        wire_must_tell(script, before, after, channel, "1");
}

static void check_count_told(const char *script, wire_family which, const char *name, const wire_state *after)
{
    const wire_state *before = &wire_now.before;
    const char *verb = strchr(script, '/');
    char channel[TEXT_SIZE], number[24];
    wire_channel(which, name, channel);
    int64_t was = before->number == NUMBER_NONE ? 0 : before->number;
    bool raised = after->number != NUMBER_NONE && after->number > was;
    snprintf(number, sizeof number, "%" PRId64, after->number);
    if (which == SEMAPHORES && raised)
        wire_must_tell(script, before, after, channel, number);
    if (which == PERMIT_SEMAPHORES && raised && strcmp(verb, "/release") == 0)
        wire_must_tell(script, before, after, channel, number);
    if (which == PERMIT_SEMAPHORES && raised && after->number > 0 && wire_now.count == 0)
        wire_must_tell(script, before, after, channel, "some number");
    if (which == LATCHES && was > 0 && after->number == NUMBER_NONE)
        wire_must_tell(script, before, after, channel, strcmp(verb, "/delete") == 0 ? "1" : "0");
    if (which == LATCHES && before->number == NUMBER_NONE && raised)
        wire_must_tell(script, before, after, channel, "1");
}

/* Of a client of this library, which waits for the lock: "8d3f0f5c-35e0-8d4a-9f0e-5f2f6b0c7a11". */
static bool is_client(const char *behind)
{
    return *behind == ':' && strlen(behind) == 37 && behind[15] == '8';
}

/* A waiter of a fair lock: the same with ":NUMBER". */
static bool is_fair_waiter(const char *behind)
{
    return *behind == ':' && strlen(behind) > 38 && behind[15] == '8' && behind[37] == ':';
}

/* "NUMBER MS": that session has the lock for so long. */
static bool is_offer(const char *said)
{
    size_t number = strspn(said, "0123456789"), ms = number + (said[number] == ' ');
    size_t length = strspn(said + ms, "0123456789");
    return number > 0 && *said != '0' && ms > number && length > 0 && said[ms] != '0' && !said[ms + length];
}

/* What follows `channel` in the name of the message's own, which begins with it; NULL: it does not. */
static const char *behind_channel(const wire_message *one, const char *channel)
{
    size_t length = strlen(channel);
    return strncmp(one->channel, channel, length) == 0 ? one->channel + length : NULL;
}

/* Whom an offer tells relies on it, also if the script broke off: the field stands, for as long as was said. */
static void check_offers(const char *script, const host *at, const char *name)
{
    char heir[TEXT_SIZE], channel[TEXT_SIZE];
    wire_channel(EXCLUSIVE, name, channel);
    for (int i = 0; i < wire_now.count; i++) {
        const wire_message *one = &wire_now.told[i];
        const char *behind = behind_channel(one, channel);
        if (!behind || !(is_client(behind) || is_fair_waiter(behind)) || !is_offer(one->text) || one->heard == 0)
            continue;
        size_t digits = strspn(one->text, "0123456789");
        snprintf(heir, sizeof heir, "%.36s:%.*s", behind + 1, (int)digits, one->text);
        const sim_value *own = wire_value(at, name);
        bool stands = own && own->type == VALUE_HASH && table_find(&own->members, text_of(heir));
        int64_t left_ms = stands ? own->expires_ms - sim_server_now_us(at->server) / 1000 : 0;
        if (left_ms < strtoll(one->text + digits + 1, NULL, 10))
            finding("%s told %s that it has lock \"%s\" (\"%s\"), and the server keeps that for %" PRId64 " ms", script, heir,
                    name, one->text, left_ms);
    }
}

/* A last release that leaves the lock to another owner has told that one. */
static void check_passed_on(const char *script, const sim_run *run, const char *name, const wire_state *after)
{
    bool releases = strcmp(script, "fair/release") == 0 || strcmp(script, "lock/release") == 0;
    bool gave_back = run->name && releases && run->answer.length > 1 && memcmp(run->answer.at, ":1", 2) == 0;
    for (int i = 0; i < wire_now.count; i++) {
        if (is_offer(wire_now.told[i].text) && wire_now.told[i].heard > 0)
            return;
    }
    if (gave_back && after->lock)
        finding("%s left lock \"%s\" to an owner that was not told", script, name);
}

/* A handoff that leaves the lock to others of another library, and says that the successor need not ask by itself: a
 * registered waiter was told, and the successor is that one, or stands in the registry. */
static void check_left_to_others(const char *script, const host *at, const sim_run *run, const char *name)
{
    enum { SUCCESSOR = 2, LEASE = 5 };
    bool left = run->name && strcmp(script, "lock/handoff") == 0 && run->answer.length > 1 &&
                memcmp(run->answer.at, ":5", 2) == 0;
    if (!left || run->count < run->keys + LEASE + 1)
        return;
    const sim_word *successor = &run->words[run->keys + SUCCESSOR], *lease = &run->words[run->keys + LEASE];
    char channel[TEXT_SIZE], key[TEXT_SIZE], member[TEXT_SIZE];
    wire_channel(EXCLUSIVE, name, channel);
    snprintf(key, sizeof key, "rlock_waiters:{%s}", name);
    snprintf(member, sizeof member, "%.*s %.*s", (int)successor->length, successor->at, (int)lease->length, lease->at);
    const sim_value *registry = wire_value(at, key);
    bool told = false, stands = registry && registry->type == VALUE_ZSET && table_find(&registry->members, text_of(member));
    for (int i = 0; i < wire_now.count; i++) {
        const wire_message *one = &wire_now.told[i];
        const char *behind = behind_channel(one, channel);
        if (!behind || !is_client(behind) || one->heard == 0)
            continue;
        told = told || strcmp(one->text, "others") == 0;
        stands = stands || strncmp(member, behind + 1, 36) == 0;
    }
    if (!told || !stands)
        finding("%s left lock \"%s\" to others, and %s", script, name,
                told ? "its successor is not registered" : "told no waiter that is to ask after them");
}

/* Whether it tells one session to ask. */
static bool is_call(const char *said)
{
    size_t number = strspn(said, "0123456789");
    return number > 0 && *said != '0' && strcmp(said + number, " 0") == 0;
}

/* Whether it is for clients of this library alone; `behind`: what follows the lock's channel in the name of its own. */
static bool is_among_ours(wire_family which, const char *behind, const char *message)
{
    bool to_client = *behind == ':' && (which == QUEUED || (which == EXCLUSIVE && is_client(behind)));
    bool to_guards = which == EXCLUSIVE && strcmp(behind, ":guards") == 0;
    return (to_client && is_offer(message)) ||
           (to_client && which == EXCLUSIVE && is_call(message)) ||
           ((to_guards || (to_client && which == EXCLUSIVE)) && strcmp(message, "others") == 0);
}

/* Nobody of Redisson's listens elsewhere, and it reads numbers. */
static void check_messages(const char *script, wire_family which, const char *name)
{
    char channel[TEXT_SIZE];
    wire_channel(which, name, channel);
    for (int i = 0; i < wire_now.count; i++) {
        const wire_message *one = &wire_now.told[i];
        const char *behind = behind_channel(one, channel);
        bool ours = behind && (which == QUEUED ? *behind == ':' : *behind == 0 || (which == EXCLUSIVE && is_client(behind)));
        if (behind && is_among_ours(which, behind, one->text))
            continue;
        bool known = which == SEMAPHORES || which == PERMIT_SEMAPHORES || strcmp(one->text, "0") == 0 ||
                     ((which == READING || which == WRITING || which == LATCHES) && strcmp(one->text, "1") == 0);
        if (!ours || !known || !is_number(one->text))
            finding("%s published \"%s\" on %s, which no client of Redisson understands", script, one->text, one->channel);
    }
}

/* --- what has to stand there --- */

static void check_fields(const char *script, const host *at, const char *name)
{
    const sim_value *own = wire_value(at, name);
    const entry *mode = table_find(&own->members, TEXT("mode"));
    for (const entry *one = table_next(&own->members, NULL); one; one = table_next(&own->members, one)) {
        int64_t count;
        bool is_mode = one == mode && (text_is_word(entry_text(one), "read") || text_is_word(entry_text(one), "write"));
        bool counts = text_integer(entry_text(one), &count) && count > 0;
        bool held = is_owner(one->name, one->name_length, "") || (mode && is_owner(one->name, one->name_length, ":write"));
        if (!is_mode && !(held && counts))
            finding("%s left the field \"%.*s\" with \"%.*s\" in lock \"%s\"", script, (int)one->name_length, one->name,
                    (int)one->length, one->bytes, name);
    }
}

static bool argument(const sim_run *run, size_t which, int64_t *number)
{
    size_t at = run->keys + which - 1;
    return at < run->count && text_integer(run->words[at], number);
}

static bool is_taken_by(const char *script)
{
    const char *verb = strchr(script, '/');
    return strcmp(verb, "/acquire") == 0 || strcmp(verb, "/try") == 0;
}

static void check_lease(const char *script, const host *at, const sim_run *run, const wire_state *after)
{
    int64_t lease_ms;
    if (!argument(run, 2, &lease_ms) || after->ends_ms < 0)
        return;
    int64_t left_ms = after->ends_ms - sim_server_now_us(at->server) / 1000;
    if (left_ms < lease_ms - 2 || left_ms > lease_ms + 2)
        finding("%s took it for %" PRId64 " ms, and the server keeps it for %" PRId64, script, lease_ms, left_ms);
}

/* The owner relies on what it holds: when that is gone, it must hear so, and not wait for those who have it now. */
static void check_re_entry(const char *script, const sim_run *run)
{
    int64_t count;
    if (strcmp(script, "group/acquire") != 0 || !argument(run, 3, &count) || count == 1)
        return;
    bool granted = run->answer.length > 0 && (*run->answer.at == '$' || *run->answer.at == '_');
    bool gone = run->answer.length > 2 && memcmp(run->answer.at, ":-3", 3) == 0;
    if (!granted && !gone)
        finding("%s has an owner wait for what it should hold %" PRId64 " times", script, count);
}

/* Behind the time of the one before, or the holder's, by how long the owner waits at most. Redisson counts by its own clock. */
#define CLOCKS_MS 5

static void check_place(const char *script, const host *at, const sim_run *run, bool ours, const wire_state *after)
{
    int64_t wait_ms, now_ms = sim_server_now_us(at->server) / 1000;
    if (after->queued != wire_now.before.queued + 1 || !argument(run, ours ? 5 : 3, &wait_ms) ||
        (!ours && !argument(run, 4, &now_ms)))
        return;
    double from_ms = (double)now_ms;
    if (wire_now.before.queued > 0 && wire_now.before.last_score < 0)
        return;
    if (wire_now.before.queued > 0)
        from_ms = wire_now.before.last_score > from_ms ? wire_now.before.last_score : from_ms;
    else if (wire_now.before.lock && wire_now.before.ends_ms > 0)
        from_ms += (double)(wire_now.before.ends_ms - sim_server_now_us(at->server) / 1000);
    double late_ms = after->last_score - from_ms - (double)wait_ms;
    double exact = from_ms > 1e15 ? 1e300 : CLOCKS_MS; /* foreign hands wrote what is no time */
    if (late_ms < -exact || late_ms > exact)
        finding("%s queued an owner until %.0f, %.0f ms from what its wait of %" PRId64 " ms behind %.0f says", script,
                after->last_score, late_ms, wait_ms, from_ms);
}

/* The head has left: those behind it have their turn earlier by what was left of its place, and by no more. */
static void check_moved_up(const char *script, const host *at, const wire_state *after)
{
    const wire_state *before = &wire_now.before;
    if (before->queued < 2 || after->queued + 1 != before->queued || strcmp(before->head, after->head) == 0 ||
        before->head_score < 0 || before->last_score < 0 || after->last_score < 0)
        return;
    double left_ms = before->head_score - (double)(sim_server_now_us(at->server) / 1000);
    double moved_ms = before->last_score - after->last_score;
    if (moved_ms > (left_ms > 0 ? left_ms : 0) + 1)
        finding("%s moved the last of a queue up by %.0f ms, and %.0f were left of the place before it", script, moved_ms,
                left_ms);
}

static bool has_place(const host *at, const char *name, text who)
{
    char key[TEXT_SIZE];
    snprintf(key, sizeof key, "redisson_lock_queue:{%s}", name);
    const sim_value *queue = wire_value(at, key);
    bool has = false;
    for (size_t i = 0; queue && queue->type == VALUE_LIST && i < list_size(queue); i++)
        has |= text_is(list_item(queue, i), who);
    return has;
}

/* Of those that are told that it is their turn, only one that does not hear is taken for dead. */
static void check_places_kept(const char *script, const host *at, const char *name, const sim_run *run)
{
    char channel[TEXT_SIZE];
    wire_channel(QUEUED, name, channel);
    for (int i = 0; i < wire_now.count; i++) {
        const wire_message *one = &wire_now.told[i];
        const char *behind = behind_channel(one, channel);
        bool called = one->queued && one->heard > 0 && strcmp(one->text, "0") == 0;
        bool asks = called && run->count > run->keys && text_is(run->words[run->keys], text_of(behind + 1));
        if (called && !asks && !run_has_fault(OVERHEARD) && !has_place(at, name, text_of(behind + 1)))
            finding("%s told \"%s\" that it is its turn, which it heard, and took its place away", script, behind + 1);
    }
}

static bool is_queued(const host *at, const char *name, text who)
{
    char key[TEXT_SIZE];
    bool is = has_place(at, name, who);
    snprintf(key, sizeof key, "redisson_lock_timeout:{%s}", name);
    /* A queue, and not its timeouts: by others, or as it had moved to a server that has lost its data since. */
    bool went_alone = run_has_fault(QUEUE_ODD) || run_has_fault(HELPERS_DELETED) ||
                      (run_has_fault(SLOT_MOVES) && (run_has_fault(RESTART) || run_has_fault(ALL_DELETED)));
    return is || (!went_alone && wire_score(wire_value(at, key), who) >= 0);
}

/* Ours remove a head that nobody heard twice, which their sixth argument names. */
static bool takes_for_dead(const sim_run *run, text head)
{
    return run->name && run->count > run->keys + 5 && text_is(run->words[run->keys + 5], head);
}

/* One that has the lock, or has given up, waits no more; and one that others are before does not take it. */
static void check_turn(const char *script, const host *at, const char *name, const sim_run *run, const wire_state *after)
{
    if (run->count <= run->keys)
        return;
    text who = run->words[run->keys], head = text_of(wire_now.before.head);
    bool took = is_taken_by(script) && !wire_now.before.lock && after->lock;
    bool gave_up = strcmp(script, "fair/give_up") == 0;
    double soon_ms = (double)(sim_server_now_us(at->server) / 1000 + 1000); /* clocks, and how long a request takes, differ */
    if ((took || gave_up) && is_queued(at, name, who))
        finding("%s left \"%.*s\" in the queue", script, (int)who.length, who.at);
    bool waits = wire_now.before.queued > 0 && wire_now.before.head_score > soon_ms && !takes_for_dead(run, head);
    const sim_value *own = wire_value(at, name);
    bool returns = gave_up && run->name && run->count > run->keys + 2 && text_is_word(run->words[run->keys + 2], "1");
    if (returns && own && own->type == VALUE_HASH && table_find(&own->members, who))
        finding("%s left \"%.*s\" what it was offered", script, (int)who.length, who.at);
    if (took && waits && !text_is(who, head))
        finding("%s took it for \"%.*s\", and it was the turn of \"%s\"", script, (int)who.length, who.at, wire_now.before.head);
}

/* --- runs of scripts --- */

static bool only_looks(const char *script)
{
    const char *verb = strchr(script, '/');
    return verb && (strcmp(verb, "/renew") == 0 || strcmp(verb, "/look") == 0 || strcmp(verb, "/state") == 0);
}

/* The lock, semaphore or latch that has that name; -1: none. */
static int object_named(const sim_word *name)
{
    for (int i = 0; i < run_of->object_count; i++) {
        const char *own = run_of->objects[i].name;
        if (strlen(own) == name->length && memcmp(own, name->at, name->length) == 0)
            return i;
    }
    return -1;
}

static bool is_judged(const sim_run *run)
{
    int object = run->keys > 0 ? object_named(&run->words[0]) : -1;
    return object >= 0 && !run_has_odd_field(run_resource(run_of, object));
}

void wire_begins(host *at, const sim_run *run)
{
    wire_now.runs = is_judged(run);
    wire_now.count = 0;
    wire_now.at = at;
    if (wire_now.runs) {
        int object = object_named(&run->words[0]);
        wire_now.name = run_of->objects[object].name;
        wire_now.before = look(at, wire_now.name);
        holders_before(at, wire_now.name);
        kept_before(at, run_resource(run_of, object));
    }
    leases_begin(at, run);
}

void wire_published(const char *channel, size_t channel_length, const char *said, size_t length, size_t heard)
{
    if (!wire_now.runs || wire_now.count == MESSAGES)
        return;
    wire_message *one = &wire_now.told[wire_now.count++];
    copy_text(one->channel, channel, channel_length);
    copy_text(one->text, said, length);
    one->heard = heard;
    char prefix[TEXT_SIZE];
    wire_channel(QUEUED, wire_now.name, prefix);
    const char *behind = behind_channel(one, prefix);
    one->queued = behind && *behind == ':' && has_place(wire_now.at, wire_now.name, text_of(behind + 1));
}

void wire_ran(host *at, const sim_run *run, const char *script)
{
    wire_family which = family_of(script);
    bool runs = wire_now.runs, broke_off = run->answer.length > 0 && run->answer.at[0] == '-';
    wire_now.runs = false;
    if (!runs || !is_judged(run))
        return;
    int object = object_named(&run->words[0]);
    if (!only_looks(script))
        touched_ns[run_resource(run_of, object)] = world_now_ns();
    kept_after(at, run_resource(run_of, object), script);
    holders_after(at, run_resource(run_of, object), run_of->objects[object].name, run, is_taken_by(script));
    if (which == EXCLUSIVE)
        check_offers(script, at, run_of->objects[object].name);
    if (broke_off)
        return;
    if (run->name)
        check_re_entry(script, run);
    const char *name = run_of->objects[object].name;
    const wire_state after = look(at, name);
    if (wire_now.before.lock || after.lock)
        freed_last[run_resource(run_of, object)] = !after.lock;
    if (!wire_now.before.lock && after.lock)
        taken_ns[run_resource(run_of, object)] = world_now_ns();
    if (which == OTHERS)
        return;
    if (wire_now.before.lock && !after.lock)
        freed_ns[run_resource(run_of, object)] = world_now_ns();
    if (wire_now.count < MESSAGES) {
        check_messages(script, which, name);
        check_passed_on(script, run, name, &after);
        check_left_to_others(script, at, run, name);
        bool had_place = run->answer.length > 1 && memcmp(run->answer.at, ":0", 2) != 0;
        bool gives_up = run->name && strcmp(script, "fair/give_up") == 0 && had_place;
        check_lock_told(script, which, run->name != NULL, gives_up, name, &after);
        check_count_told(script, which, name, &after);
    }
    if (run->name && which < READING && wire_now.before.fields <= 1 && after.fields > 1)
        finding("%s left %zu owners in \"%s\"", script, after.fields, name);
    if (run->name)
        leases_check(&(leases_run){script, which, at, name, run}, &after);
    if (which == SIGNALS)
        check_signalled(script, at, name, &after);
    if (which == QUEUED)
        check_turn(script, at, name, run, &after);
    if (which == QUEUED && run->name && wire_now.count < MESSAGES)
        check_places_kept(script, at, name, run);
    if (which > WRITING || !is_taken_by(script))
        return;
    if (after.lock && which != TOKENS)
        check_fields(script, at, name);
    if (which < READING && after.lock && !wire_now.before.lock)
        check_lease(script, at, run, &after);
    if (which == QUEUED && !wire_now.before.mode)
        check_place(script, at, run, run->name != NULL, &after);
    if (which == QUEUED && run->name)
        check_moved_up(script, at, &after);
}

/* --- now and then --- */

static bool begins_with(const char *name, size_t length, const char *with)
{
    return length >= strlen(with) && memcmp(name, with, strlen(with)) == 0;
}

/* Whether the name begins with these, the lock's own name in braces between them. *rest: what follows. */
static bool begins_around(const char *name, size_t length, const char *before, const char *of, const char *after,
                          const char **rest)
{
    const char *const parts[] = {before, "{", of, "}", after};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!begins_with(name, length, parts[i]))
            return false;
        name += strlen(parts[i]), length -= strlen(parts[i]);
    }
    *rest = name;
    return true;
}

static bool is_beside(const char *name, size_t length, const char *of)
{
    static const char *const before[] = {"redisson_lock_queue:", "redisson_lock_timeout:", "redisson_lock_token:", "rlock_fence:",
                                         "rlock_waiters:"};
    const char *rest, *end = name + length;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        if (begins_around(name, length, before[i], of, "", &rest) && rest == end)
            return true;
    }
    if (begins_around(name, length, "rlock_waiters:", of, ":fair", &rest) && rest == end)
        return true;
    if (begins_around(name, length, "redisson_unlock_latch:", of, ":", &rest))
        return true;
    if (!begins_around(name, length, "", of, ":", &rest))
        return false;
    if (begins_with(rest, (size_t)(end - rest), "timeout"))
        return end - rest == 7;
    for (const char *at = end; at > rest; at--) {
        if (is_owner(rest, (size_t)(at - rest), ":rwlock_timeout:"))
            return true;
    }
    return false;
}

/* Of a forked process, or of a listener's own lock; or it goes along with what its client has given another name. */
static bool is_of_no_object(const char *name, size_t length)
{
    bool is = begins_with(name, length, "child");
    for (size_t i = 0; i < length; i++)
        is |= begins_with(name + i, length - i, LISTENERS_KEY) || begins_with(name + i, length - i, ".new}");
    return is;
}

/* Keys of other names are nobody's: Redisson neither reads nor deletes them. */
void wire_look_at_key(const char *name, size_t length)
{
    for (int i = 0; i < run_of->object_count; i++) {
        const char *own = run_of->objects[i].name;
        bool renamed = begins_with(name, length, own) && length == strlen(own) + 4; /* by foreign hands: "a.old" */
        if (run_is_of(i, name, length) || renamed || is_beside(name, length, own) || is_signal_list(name, length, i))
            return;
    }
    if (is_of_no_object(name, length))
        return;
    finding("the key \"%.*s\" is none that a lock of Redisson has", (int)length, name);
}

/* The server's clock may be faster. */
static int64_t ends_ns(const host *at, const wire_state *is)
{
    if (is->ends_ms < 0 || is->ends_ms > WORLD_NEVER / 4 / MS)
        return WORLD_NEVER;
    int64_t left_ns = is->ends_ms * MS - sim_server_now_us(at->server) * 1000;
    return world_now_ns() + left_ns - left_ns / 1000000 * at->machine->rate_ppm;
}

int64_t wire_left_ns(int resource)
{
    const host *at = servers_host(resource);
    const wire_state is = look(at, run_of->objects[resource].name);
    return is.lock ? ends_ns(at, &is) - world_now_ns() : 0;
}

void wire_look_at_holds(void)
{
    for (const hold *one = ledger_first(); one; one = one->next) {
        const plan_object *object = &run_of->objects[one->resource];
        if (run_of->topology != SINGLE || object_is_composite(object->kind) || one->side == PART_SIDE || one->claimed_until_ns <= world_now_ns() ||
            one->epoch != ledger_epoch(one->resource) || run_has_odd_field(one->resource))
            continue;
        int64_t left_ns = wire_left_ns(one->resource);
        if (left_ns + MS < one->claimed_until_ns - world_now_ns()) /* the library counts whole ones */
            finding("%s may rely on lock \"%s\" for %.3f ms, and the server keeps it for %.3f", one->owner.title, object->name,
                    (double)(one->claimed_until_ns - world_now_ns()) / 1e6, (double)left_ns / 1e6);
    }
}
