/* Locks, as Redisson's RLock and its kin. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/actor.h"

#include "tests/sim/actors/scripts.h"
#include "tests/sim/check/calls.h"
#include "tests/sim/check/order.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define WORD(text) (word){text, strlen(text)}

static bool is_fair(object_kind kind)
{
    return kind == FAIR || kind == NON_REENTRANT_FAIR;
}

static bool is_once(object_kind kind)
{
    return kind == NON_REENTRANT || kind == NON_REENTRANT_FAIR || kind == TOKEN_LOCK || kind == SIGNAL_LOCK;
}

/* --- the words of a script --- */

/* One run of a lock's script: its keys are the lock, the latch of a release, and those of its kind. */
typedef struct request {
    char keys[4][96], arguments[5][96];
    int key_count, argument_count;
    script of;
} request;

static bool run(actor *self, const request *what)
{
    char count[8];
    word words[16];
    size_t used = 0;
    snprintf(count, sizeof count, "%d", what->key_count);
    words[used++] = WORD("EVAL");
    words[used++] = WORD(script_text(what->of));
    words[used++] = WORD(count);
    for (int i = 0; i < what->key_count; i++)
        words[used++] = WORD(what->keys[i]);
    for (int i = 0; i < what->argument_count; i++)
        words[used++] = WORD(what->arguments[i]);
    return actor_ask(self, words, used);
}

static void channel_of(const actor *self, int object, char text[static 96])
{
    object_kind kind = run_of->objects[object].kind;
    const char *prefix = kind == READ || kind == WRITE ? "redisson_rwlock" : "redisson_lock__channel";
    snprintf(text, 96, "%s:{%s}", prefix, actor_name_of(self, object));
}

/* Where who waits is told. */
static void own_channel_of(const actor *self, const java_hold *of, int object, char text[static 96])
{
    char who[64], base[96];
    actor_owner(self, of->owner, who);
    channel_of(self, object, base);
    snprintf(text, 96, "%.40s%s%.50s", base, is_fair(run_of->objects[object].kind) ? ":" : "",
             is_fair(run_of->objects[object].kind) ? who : "");
}

/* lock, and as the second key what a release keeps its answer under. */
static request ask_of(const actor *self, const java_hold *of, int object, script which, int64_t lease_ms, const char *latch)
{
    request what = {.of = which, .argument_count = 4};
    object_kind kind = run_of->objects[object].kind;
    const char *name = actor_name_of(self, object);
    snprintf(what.keys[what.key_count++], 96, "%s", name);
    if (latch)
        snprintf(what.keys[what.key_count++], 96, "redisson_unlock_latch:{%s}:%s", name, latch);
    if (is_fair(kind)) {
        snprintf(what.keys[what.key_count++], 96, "redisson_lock_queue:{%s}", name);
        snprintf(what.keys[what.key_count++], 96, "redisson_lock_timeout:{%s}", name);
    } else if (kind == FENCED) {
        snprintf(what.keys[what.key_count++], 96, "redisson_lock_token:{%s}", name);
    } else if (kind == SIGNAL_LOCK) {
        snprintf(what.keys[what.key_count++], 96, "lock-signal:%s", name + strlen("lock:"));
    }
    actor_owner(self, of->owner, what.arguments[0]);
    snprintf(what.arguments[1], 96, "%" PRId64, lease_ms);
    channel_of(self, object, what.arguments[2]);
    snprintf(what.arguments[3], 96, "{%s}:", name);
    if (is_fair(kind))
        snprintf(what.arguments[3], 96, "%" PRId64, actor_wall_ms(self));
    return what;
}

/* --- giving back --- */

typedef enum given { GIVEN, STILL_HELD, NOT_OURS, UNANSWERED } given;

/* The server keeps what a release has answered for 30 s. A program that stood still for longer, and asks again then, gives
 * back another hold. */
#define ASKS_AGAIN_MS 20000

static given release_once(actor *self, java_hold *of)
{
    static const script scripts[OBJECT_KINDS] = {
        [REENTRANT] = LOCK_RELEASE, [SPIN] = SPIN_RELEASE, [FAIR] = FAIR_RELEASE, [FENCED] = LOCK_RELEASE,
        [NON_REENTRANT] = LOCK_RELEASE, [NON_REENTRANT_FAIR] = FAIR_RELEASE, [TOKEN_LOCK] = TOKEN_RELEASE,
        [SIGNAL_LOCK] = SIGNAL_RELEASE,
        [READ] = READ_RELEASE, [WRITE] = WRITE_RELEASE};
    char latch[40];
    snprintf(latch, sizeof latch, "%08x%08x", (unsigned)world_chance(UINT32_MAX), (unsigned)world_chance(UINT32_MAX));
    request what = ask_of(self, of, of->object, scripts[of->kind], of->lease_ms > 0 ? of->lease_ms : self->watchdog_ms, latch);
    int64_t since_ns = world_now_ns();
    for (int tries = 3; tries > 0 && world_now_ns() - since_ns < ASKS_AGAIN_MS * MS; tries--) {
        if (!run(self, &what)) {
            actor_pause(self, 200 * MS);
            continue;
        }
        reply_part answer = self->answer.self;
        const word words[] = {WORD("DEL"), WORD(what.keys[1])};
        timeline(thread_title(self->thread), "  release of %s → %s", actor_name_of(self, of->object),
                 answer.kind == REPLY_NIL ? "not ours" : answer.number == 0 ? "0" : "1");
        actor_ask(self, words, 2);
        if ((of->kind == TOKEN_LOCK || of->kind == SIGNAL_LOCK) && answer.kind == REPLY_NIL && tries < 3)
            return GIVEN; /* by the one before, of which nothing is kept */
        return answer.kind == REPLY_NIL ? NOT_OURS : answer.number == 0 ? STILL_HELD : GIVEN;
    }
    return UNANSWERED;
}

/* A partial release sets the time to live, and so may shorten that of the same owner's read holds. */
static void limit_reads(actor *self, const java_hold *writer, int64_t until_ns)
{
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        java_hold *one = &self->holds[i];
        if (one->count == 0 || one->kind != READ || one->owner != writer->owner ||
            one->entry->resource != writer->entry->resource)
            continue;
        for (int k = 0; k < ACTOR_LEVELS; k++)
            one->until_ns[k] = one->until_ns[k] < until_ns ? one->until_ns[k] : until_ns;
        one->limited_ns = world_now_ns();
        hold_tell(one);
    }
}

/* Whatever was asked for: until the server knows nothing of it. False: that is not known. */
static bool drain(actor *self, java_hold *of)
{
    int64_t lease_ms = of->lease_ms > 0 ? of->lease_ms : self->watchdog_ms;
    hold_drop(of);
    of->doubtful = true;
    if (of->kind == WRITE)
        limit_reads(self, of, actor_until_ns(self, world_now_ns(), lease_ms));
    for (int most = 3 * ACTOR_LEVELS; most > 0; most--) {
        given got = release_once(self, of);
        if (got == UNANSWERED)
            return false;
        if (got == NOT_OURS || (got == GIVEN && of->kind != READ)) {
            of->doubtful = false;
            return true;
        }
    }
    return false;
}

static void give_back(actor *self, java_hold *of)
{
    int64_t sent_ns = world_now_ns(), lease_ms = of->lease_ms > 0 ? of->lease_ms : self->watchdog_ms;
    int64_t until_ns = actor_until_ns(self, sent_ns, lease_ms), relied_ns = of->entry->claimed_until_ns;
    unsigned epoch = ledger_epoch(of->entry->resource);
    bool sure = hold_is_sure(of, epoch, sent_ns), last = of->count <= 1;
    run_count_call();
    timeline(thread_title(self->thread), "unlock %s %s (thread %d, %d times)", object_word(of->kind),
             actor_name_of(self, of->object), of->owner, of->count);
    if (of->doubtful) {
        drain(self, of);
        return;
    }
    if (last) {
        hold_drop(of);
    } else {
        of->count--;
        of->capped = of->kind != READ;
        of->cap_ns = until_ns;
        hold_tell(of);
        if (of->kind == WRITE)
            limit_reads(self, of, until_ns);
    }
    given got = release_once(self, of);
    of->capped = false;
    sure = sure && relied_ns > world_now_ns() && ledger_epoch(of->entry->resource) == epoch && ledger_restart_ns() < sent_ns;
    if (got == NOT_OURS && sure)
        finding("%s finds its hold of \"%s\" gone, which it could rely on for %.3f ms more", thread_title(self->thread),
                actor_name_of(self, of->object), (double)(relied_ns - world_now_ns()) / 1e6);
    if (got == UNANSWERED || (last && got == STILL_HELD && of->kind != READ)) {
        drain(self, of);
        return;
    }
    if (last)
        return;
    if (got != STILL_HELD) {
        hold_drop(of);
        return;
    }
    for (int i = 0; i < ACTOR_LEVELS && of->kind != READ; i++)
        of->until_ns[i] = hold_until_ns(of, sent_ns, lease_ms);
    hold_tell(of);
}

bool actor_holds_any(const actor *self)
{
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        if (self->holds[i].entry && (self->holds[i].count > 0 || self->holds[i].doubtful))
            return true;
    }
    return false;
}

void actor_release_all(actor *self)
{
    for (int tries = 0; actor_holds_any(self); tries++) {
        if (tries > 2000)
            finding("%s can't give back what it may hold", self->machine->name);
        for (int i = 0; i < ACTOR_HOLDS; i++) {
            java_hold *one = &self->holds[i];
            if (one->entry && (one->count > 0 || one->doubtful))
                give_back(self, one);
        }
        if (actor_holds_any(self))
            actor_pause(self, 100 * MS);
    }
}

/* --- taking --- */

typedef struct taking {
    java_hold *of;
    const plan_step *step;
    int64_t wait_ms;
    bool tries_once;
} taking;

static bool has_ended(const java_hold *of)
{
    return of->count > 0 && of->entry->claimed_until_ns <= world_now_ns();
}

/* Redisson does so by the hash alone. had_ended: when it asked. A renewal that ran after the request says nothing of that. */
static void gain(actor *self, java_hold *of, const taking *by, int64_t sent_ns, unsigned epoch, bool had_ended)
{
    int64_t lease_ms = by->step->lease_ms < 0 ? self->watchdog_ms : by->step->lease_ms;
    if (had_ended || has_ended(of)) {
        hold_drop(of); /* again, or anew? */
        of->doubtful = true;
    }
    if (of->count == 0) {
        of->entry->epoch = epoch;
        of->renewed = false;
    }
    of->entry->granted_ns = world_now_ns();
    of->kind = run_of->objects[by->step->object].kind;
    of->object = by->step->object;
    int64_t until_ns = hold_until_ns(of, sent_ns, lease_ms);
    of->until_ns[of->count++] = until_ns;
    for (int i = 0; i < of->count && of->kind != READ && of->kind != WRITE; i++)
        of->until_ns[i] = until_ns;
    of->lease_ms = lease_ms;
    if (by->step->lease_ms < 0 && !of->renewed) {
        of->renewed = true;
        of->renew_at_ns = world_now_ns() + self->watchdog_ms * MS / 3;
    }
    hold_tell(of);
}

static outcome try_once(actor *self, void *with, int64_t *left_ms)
{
    static const script scripts[OBJECT_KINDS] = {
        [REENTRANT] = LOCK_ACQUIRE, [SPIN] = LOCK_ACQUIRE, [FAIR] = FAIR_ACQUIRE, [FENCED] = FENCED_ACQUIRE,
        [NON_REENTRANT] = LOCK_ACQUIRE, [NON_REENTRANT_FAIR] = FAIR_ACQUIRE, [TOKEN_LOCK] = TOKEN_ACQUIRE,
        [SIGNAL_LOCK] = TOKEN_ACQUIRE,
        [READ] = READ_ACQUIRE, [WRITE] = WRITE_ACQUIRE};
    const taking *by = with;
    java_hold *of = by->of;
    int object = by->step->object;
    object_kind kind = run_of->objects[object].kind;
    int64_t lease_ms = by->step->lease_ms < 0 ? self->watchdog_ms : by->step->lease_ms;
    *left_ms = -1;
    if (of->doubtful && !drain(self, of))
        return FAILED;
    int64_t sent_ns = world_now_ns();
    unsigned epoch = ledger_epoch(of->entry->resource);
    bool had_ended = has_ended(of);
    script which = is_fair(kind) && by->tries_once ? FAIR_TRY : scripts[kind];
    request what = ask_of(self, of, object, which, lease_ms, NULL);
    if (is_fair(kind)) /* the channel is of no use to it */
        snprintf(what.arguments[2], 96, "%" PRId64, by->wait_ms > 0 ? by->wait_ms : self->fair_wait_ms);
    if (of->count > 0) {
        of->capped = kind != READ && kind != WRITE;
        of->cap_ns = actor_until_ns(self, sent_ns, lease_ms);
        hold_tell(of);
    }
    bool answered = run(self, &what);
    of->capped = false;
    if (!answered) { /* taken or not: it is given back */
        of->object = object;
        of->kind = kind;
        drain(self, of);
        return FAILED;
    }
    const reply got = self->answer;
    if (got.self.kind == REPLY_INTEGER) {
        *left_ms = got.self.number;
        if (*left_ms < 0 && *left_ms != -1)
            *left_ms = 0;
        if (of->count > 0) /* it has lost it */
            hold_drop(of);
        return REFUSED;
    }
    gain(self, of, by, sent_ns, epoch, had_ended);
    if (got.self.kind == REPLY_LIST)
        judge_token_given(of->entry->resource, epoch, sent_ns, (uint64_t)got.parts[0].number, thread_title(self->thread));
    return TAKEN;
}

static void give_place_up(actor *self, const taking *by)
{
    request what = ask_of(self, by->of, by->step->object, FAIR_GIVE_UP, 0, NULL);
    snprintf(what.arguments[2], 96, "%" PRId64, by->wait_ms > 0 ? by->wait_ms : self->fair_wait_ms);
    for (int tries = 3; tries > 0 && !run(self, &what); tries--)
        continue;
}

/* A hold of which nobody knows whether it is given back stands in the way of others, and of the actor itself. */
static void drain_doubtful(actor *self)
{
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        if (self->holds[i].entry && self->holds[i].doubtful)
            drain(self, &self->holds[i]);
    }
}

static void take(actor *self, const plan_step *step)
{
    static const char *const outcomes[] = {"taken", "not taken", "nobody answers"};
    char channel[96];
    object_kind kind = run_of->objects[step->object].kind;
    java_hold *of = actor_hold(self, step->object, step->owner);
    taking by = {.of = of, .step = step, .wait_ms = step->wait_ms};
    if (of->count == ACTOR_LEVELS || (of->count > 0 && (is_once(kind) || is_once(of->kind))))
        return;
    drain_doubtful(self);
    bool alone = of->count > 0 || !actor_holds_any(self);
    if (by.wait_ms < 0 && !alone)
        by.wait_ms = 15000; /* others may wait for what it holds */
    by.tries_once = by.wait_ms == 0;
    int64_t until_ns = by.wait_ms < 0 ? WORLD_NEVER : world_now_ns() + by.wait_ms * MS;
    bool cancelled = step->cancel_ms >= 0 && world_now_ns() + step->cancel_ms * MS < until_ns;
    if (cancelled)
        until_ns = world_now_ns() + step->cancel_ms * MS;
    own_channel_of(self, of, step->object, channel);
    run_count_call();
    timeline(thread_title(self->thread), "lock %s %s (thread %d, wait %" PRId64 ", lease %" PRId64 ")", object_word(kind),
             actor_name_of(self, step->object), step->owner, by.wait_ms, step->lease_ms);
    self->waits_for = by.wait_ms != 0 && of->count == 0 ? of->entry->resource : -1;
    self->waits_since_ns = world_now_ns();
    outcome got = actor_await(self, &(trying){try_once, &by, kind == SPIN || kind == TOKEN_LOCK || kind == SIGNAL_LOCK ? NULL : channel, until_ns});
    self->waits_for = -1;
    timeline(thread_title(self->thread), "  lock %s → %s", actor_name_of(self, step->object), outcomes[got]);
    if (got == TAKEN || !is_fair(kind) || by.tries_once)
        return;
    if (cancelled)
        order_forgo(of->entry->resource); /* it keeps its place */
    else
        give_place_up(self, &by);
}

/* --- the rest --- */

static void force(actor *self, const plan_step *step)
{
    object_kind kind = run_of->objects[step->object].kind;
    java_hold *of = actor_hold(self, step->object, 0);
    script which = kind == READ ? READ_FORCE : kind == WRITE ? WRITE_FORCE : is_fair(kind) ? FAIR_FORCE
                   : kind == TOKEN_LOCK ? TOKEN_FORCE : kind == SIGNAL_LOCK ? SIGNAL_FORCE : LOCK_FORCE;
    request what = ask_of(self, of, step->object, which, 0, NULL);
    run_count_call();
    timeline(thread_title(self->thread), "force %s", actor_name_of(self, step->object));
    bool dropped[ACTOR_HOLDS] = {false};
    for (int i = 0; i < ACTOR_HOLDS; i++) {
        java_hold *one = &self->holds[i];
        dropped[i] = one->entry && one->entry->resource == of->entry->resource && one->count > 0;
        if (dropped[i]) {
            hold_drop(one);
            one->doubtful = true;
        }
    }
    /* A write lock's force leaves read holds alone: the actor then gives its own back. */
    bool left = run(self, &what) && self->answer.self.kind == REPLY_INTEGER && self->answer.self.number == 0;
    for (int i = 0; i < ACTOR_HOLDS && left; i++) {
        if (dropped[i])
            drain(self, &self->holds[i]);
    }
}

/* The server must know of what can be relied on. */
static void ask(actor *self, const plan_step *step)
{
    char who[64], field[80];
    const char *name = actor_name_of(self, step->object);
    java_hold *of = actor_hold(self, step->object, step->owner);
    actor_owner(self, step->owner, who);
    snprintf(field, sizeof field, "%s%s", who, run_of->objects[step->object].kind == WRITE ? ":write" : "");
    const word held[] = {WORD("HEXISTS"), WORD(name), WORD(field)}, left[] = {WORD("PTTL"), WORD(name)};
    unsigned epoch = ledger_epoch(of->entry->resource);
    int64_t sent_ns = world_now_ns();
    run_count_call();
    bool asks_left = step->kind == TTL || step->kind == IS_LOCKED ||
                     run_of->objects[step->object].kind == TOKEN_LOCK || run_of->objects[step->object].kind == SIGNAL_LOCK;
    if (!actor_ask(self, asks_left ? left : held, asks_left ? 2 : 3) || asks_left)
        return;
    if (self->answer.self.number == 0 && hold_is_sure(of, epoch, sent_ns))
        finding("%s asks for its hold of \"%s\", and it is gone, though it could rely on it", thread_title(self->thread), name);
}

void actor_lock_step(actor *self, const plan_step *step)
{
    switch (step->kind) {
    case LOCK:
    case TOKEN:
        take(self, step);
        break;
    case UNLOCK:
        give_back(self, actor_hold(self, step->object, step->owner));
        break;
    case WITHIN: {
        plan_step taken = *step;
        taken.wait_ms = taken.lease_ms = taken.cancel_ms = -1;
        take(self, &taken);
        actor_pause(self, step->pause_ms * MS);
        if (actor_hold(self, step->object, step->owner)->count > 0)
            give_back(self, actor_hold(self, step->object, step->owner));
        break;
    }
    case FORCE:
        force(self, step);
        break;
    default:
        ask(self, step);
        break;
    }
}
