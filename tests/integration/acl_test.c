/* Access rights: the rule of docs/security.md suffices for all, and what is missing is said clearly. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/rights.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "order"

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

/* --- the stage --- */

static rlock_client *open_as(const char *user, const char *query)
{
    char url[256];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://%s@127.0.0.1:%d/1?namePrefix=" RIGHTS_PREFIX "&clientName=orders&%s", user,
             server_port(stage.server), query);
    assert_ok(rlock_client_open(&client, url));
    return client;
}

/* Both clients are the user of the page, in a database of their own, and with a name. */
static void open_stage(void)
{
    stage_open(); /* for the alarm, and its watch on lateness */
    rights_give(stage.server, RIGHTS);
    stage_close_client(stage.client);
    stage_close_client(stage.other);
    stage.client = open_as("locks:secret", STAGE_QUICK);
    stage.other = open_as("locks:secret", STAGE_QUICK);
    say("SELECT 1");
}

static void close_stage(void)
{
    rlock_client_close(stage.client);
    rlock_client_close(stage.other);
    stage_close();
}

TestSuite(acl, .init = open_stage, .fini = close_stage);

static void use_lock(const kind *of, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof whole, RIGHTS_PREFIX "%s", name);
    const char *key = kind_key(of, whole);
    rlock *lock = kind_of(of, stage.client, name), *rival = rival_of(of, stage.other, name);
    actor *waiter = actor_start();
    bool flag = false;
    int count = 0;
    int64_t ms = 0;
    rlock_inspection *seen = NULL;
    assert_ok(rlock_lock(lock));
    if (!of->once) {
        assert_ok(rlock_lock_lease(lock, 2000));
        assert_ok(rlock_unlock(lock));
    }
    assert_ok(rlock_is_locked(lock, &flag));
    assert_ok(rlock_is_held(lock, &flag));
    assert_ok(rlock_get_hold_count(lock, &count));
    assert_ok(rlock_remain_time_to_live(lock, &ms));
    assert_ok(rlock_inspect(stage.client, name, &seen));
    rlock_inspection_free(seen);
    assert_status(actor_try(waiter, rival, 50, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, rival);
    cr_assert(wait_renewed(key, 10000) && !actor_ended(waiter, 0));
    cr_assert(rlock_valid_for(lock) > 0, "it is lost");
    cr_assert(count == 1 && flag, "%d holds", count);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish_soon(waiter, 900)); /* not by the end of the TTL */
    assert_ok(rlock_inspect(stage.client, name, &seen));
    rlock_inspection_free(seen);
    assert_ok(rlock_force_unlock(rival, &flag));
    cr_assert(flag);
    assert_status(actor_unlock(waiter, rival), RLOCK_LOST);
    actor_end(waiter);
    assert_nothing_refused(stage.server);
}

/* --- the rule suffices --- */

#define KIND_SUITE acl_kinds
TestSuite(acl_kinds, .init = open_stage, .fini = close_stage);

KIND_TEST(is_all_that_the_rule_allows_for)
{
    use_lock(of, NAME);
    rights_give(stage.server, RIGHTS_FOR_BRACES);
    use_lock(of, "{order}:of:tom");
}

/* The server ends the script where the right is missing, behind what has it held without an end: nothing of that stays. */
KIND_TEST(is_not_left_half_taken_when_a_right_is_missing)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    say(of->field ? "ACL SETUSER locks -pexpire" : "ACL SETUSER locks -set");
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_SERVER);
    assert_error("app:order\"", "command", "docs/security.md");
    say("ACL SETUSER locks +pexpire +set");
    assert_ok(rlock_try_lock(rival_of(of, stage.other, NAME), 10000, 60000));
}

/* Where a lock cannot be unlocked, it stands for so long. */
#define BRIEF "lockWatchdogTimeout=2000"

typedef struct contender {
    actor *actor;
    rlock *lock;
    rlock_client *client;
    bool ended;           /* its call has */
    bool has;             /* and was granted: that of the user without the right may be refused */
} contender;

static contender contender_of(const kind *of, rlock_client *client)
{
    contender one = {actor_start(), of->get(client, NAME), client, false, false};
    actor_begin_lock(one.actor, one.lock);
    cr_assert(actor_asleep(one.actor, 5000));
    return one;
}

/* Returns the first whose call has ended, when one has. */
static int first_ended(contender *of, int count)
{
    int i = 0;
    while (!of[i].ended && !actor_ended(of[i].actor, 5))
        i = (i + 1) % count;
    return i;
}

static int count_valid(contender *of, int count)
{
    int valid = 0;
    for (int i = 0; i < count; i++) {
        if (!of[i].ended && actor_ended(of[i].actor, 20)) {
            of[i].has = actor_finish(of[i].actor, 0) == RLOCK_OK;
            of[i].ended = true;
        }
        valid += of[i].has && actor_valid_for(of[i].actor, of[i].lock) > 0;
    }
    return valid;
}

/* The unlock of a user without that right is refused, or is done without what the right is for. */
static void hand_on_without(const kind *of, const char *right)
{
    enum { WAITERS = 3 };
    rlock_client *client = open_as("locks:secret", BRIEF);
    rlock *lock = of->get(client, NAME);
    assert_ok(rlock_lock(lock));
    contender waiters[WAITERS];
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = contender_of(of, i < 2 ? open_as("full:secret", BRIEF) : client);
    say(right);
    (void)rlock_unlock(lock);
    for (int left = WAITERS; left > 0; left--) {
        int one = first_ended(waiters, left);
        cr_assert(count_valid(waiters, left) <= 1, "%s: two have it", right);
        if (waiters[one].has)
            (void)actor_unlock(waiters[one].actor, waiters[one].lock);
        actor_end(waiters[one].actor);
        rlock_free(waiters[one].lock);
        if (waiters[one].client != client)
            rlock_client_close(waiters[one].client);
        waiters[one] = waiters[left - 1];
    }
    rlock_free(lock);
    rlock_client_close(client);
    rights_give(stage.server, RIGHTS);
}

KIND_TEST(goes_to_one_waiter_when_a_right_is_missing)
{
    static const char *const rights[] = {"-hdel", "-pexpire", "-publish", "-pubsub", "-time"};
    if (of->shared)
        return;
    say("ACL SETUSER full on >secret +@all allkeys allchannels");
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        char command[64];
        snprintf(command, sizeof command, "ACL SETUSER locks %s", rights[i]);
        hand_on_without(of, command);
    }
}

/* An unlock that leaves the lock to a listener of another library registers its successor, if the user may ask for the
 * time. (A fair lock and a group lock cannot do without.) */
KIND_TEST(is_unlocked_beside_another_library_without_the_right_to_time)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    if (of->shared || of->fair || of->grouped)
        return;
    say("ACL SETUSER locks -time");
    redisContext *other = foreign_subscribe("redisson_lock__channel:{" RIGHTS_PREFIX NAME "}");
    assert_ok(rlock_lock(lock));
    contender waiter = contender_of(of, stage.client);
    pass_ms(20); /* handed on within the process for longer than others are to wait */
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter.actor, 10000));
    assert_ok(actor_unlock(waiter.actor, waiter.lock));
    actor_end(waiter.actor);
    rlock_free(waiter.lock);
    redisFree(other);
}

/* Whose releaser may set no time to live: it neither ends sooner than its next owner is told, nor never. */
KIND_TEST(stands_for_as_long_as_its_next_owner_may_rely_on_it)
{
    const char *key = kind_key(of, RIGHTS_PREFIX NAME);
    rlock *lock = kind_of(of, stage.client, NAME);
    if (of->shared)
        return;
    say("ACL SETUSER full on >secret +@all allkeys allchannels");
    assert_ok(rlock_lock(lock));
    contender waiter = contender_of(of, open_as("full:secret", STAGE_QUICK));
    say("ACL SETUSER locks -pexpire");
    cr_assert(server_integer(stage.server, "PEXPIRE %s 300", key) == 1);
    (void)rlock_unlock(lock);
    cr_assert(pttl_of(key) != -1, "it would stand for ever");
    assert_ok(actor_finish(waiter.actor, 10000));
    int64_t left_ms = pttl_of(key), valid_ms = actor_valid_for(waiter.actor, waiter.lock);
    cr_assert(valid_ms > 0 && valid_ms <= left_ms, "valid for %lld ms, and stands for %lld", (long long)valid_ms,
              (long long)left_ms);
    actor_end(waiter.actor);
    rlock_free(waiter.lock);
    rlock_client_close(waiter.client);
    rights_give(stage.server, RIGHTS);
}

/* Nor when nobody stays who could take that away later. */
KIND_TEST(is_not_left_half_taken_by_a_client_that_closes)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    say(of->field ? "ACL SETUSER locks -pexpire" : "ACL SETUSER locks -set");
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_SERVER);
    rlock_client_close(stage.client);
    stage.client = NULL;
    const char *key = kind_key(of, RIGHTS_PREFIX NAME);
    cr_assert(server_integer(stage.server, "EXISTS %s", key) == 0, "it stands for %lld ms",
              (long long)server_integer(stage.server, "PTTL %s", key));
}

Test(acl, rule_suffices_for_tokens_and_several_locks)
{
    uint64_t token = 0;
    rlock *members[] = {kind_of(&kind_fenced, stage.client, "a"), kind_of(&kind_reentrant, stage.client, "b"),
                        kind_of(&kind_fair, stage.client, "c")};
    rlock *multi = rlock_get_multi_lock(members, 3), *red = rlock_get_red_lock(members, 3);
    assert_ok(rlock_lock(members[0]));
    assert_ok(rlock_get_token(members[0], &token));
    assert_ok(rlock_unlock(members[0]));
    assert_ok(rlock_lock(multi));
    assert_ok(rlock_unlock(multi));
    assert_ok(rlock_lock_lease(red, 5000));
    assert_ok(rlock_unlock(red));
    rlock_free(multi);
    rlock_free(red);
    assert_nothing_refused(stage.server);
}

Test(acl, rule_suffices_for_semaphores)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    bool flag = false;
    int count = 0;
    assert_ok(rlock_semaphore_try_set_permits_ttl(semaphore, 1, 60000, &flag));
    assert_ok(rlock_semaphore_release_if_exists(semaphore, 1, &flag));
    assert_ok(rlock_semaphore_add_permits(semaphore, -1));
    assert_ok(rlock_semaphore_acquire(semaphore, 1));
    taking waited = {.semaphore = semaphore_of(stage.other, NAME), .permits = 1, .wait_ms = 10000};
    actor *waiter = actor_start();
    actor_begin(waiter, take, &waited);
    cr_assert(wait_semaphore_heard(RIGHTS_PREFIX NAME, 1));
    assert_ok(rlock_semaphore_release(semaphore, 1));
    assert_ok(actor_finish_soon(waiter, 5000));
    actor_end(waiter);
    assert_ok(rlock_semaphore_drain_permits(semaphore, &count));
    assert_ok(rlock_semaphore_available_permits(semaphore, &count));
    assert_ok(rlock_semaphore_delete(semaphore, &flag));
    cr_assert(flag);
    assert_nothing_refused(stage.server);
}

Test(acl, rule_suffices_for_permits_that_expire)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_permit one, two[2];
    bool flag = false;
    int count = 0;
    int64_t ms = 0;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, &flag));
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 2));
    assert_ok(rlock_permit_semaphore_add_permits(semaphore, 1));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 60000, &one));
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, two));
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, one.id, 30000, &flag));
    assert_ok(rlock_permit_semaphore_get_lease_time(semaphore, one.id, &ms));
    rlock_permit another;
    leasing waited = {.semaphore = permits_of(stage.other, NAME), .count = 1, .wait_ms = 10000, .lease_ms = 1000,
                      .permits = &another};
    actor *waiter = actor_start();
    actor_begin(waiter, lease, &waited);
    cr_assert(wait_semaphore_heard(RIGHTS_PREFIX NAME, 1));
    assert_ok(rlock_permit_semaphore_release(semaphore, one.id));
    assert_ok(actor_finish_soon(waiter, 5000));
    actor_end(waiter);
    assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 2, two, &count));
    assert_ok(rlock_permit_semaphore_get_permits(semaphore, &count));
    assert_ok(rlock_permit_semaphore_delete(semaphore, &flag));
    cr_assert(flag && count == 3);
    assert_nothing_refused(stage.server);
}

Test(acl, rule_suffices_for_latches)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    bool flag = false;
    int64_t count = 0;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &flag));
    assert_ok(rlock_count_down_latch_get_count(latch, &count));
    awaiting waited = {.latch = latch_of(stage.other, NAME), .wait_ms = 10000};
    actor *waiter = actor_start();
    actor_begin(waiter, await_open, &waited);
    cr_assert(wait_latch_heard(RIGHTS_PREFIX NAME, 1));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_ok(actor_finish_soon(waiter, 5000));
    actor_end(waiter);
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &flag));
    assert_ok(rlock_count_down_latch_delete(latch, &flag));
    cr_assert(flag);
    assert_nothing_refused(stage.server);
}

/* --- and allows no more --- */

/* Fails the test unless what the script calls in that form is there: call('hset' and call('pubsub', 'numsub'. */
static void assert_calls(const rli_script *script, rli_pubsub_mode spread, const char *words, const char *more)
{
    char *text = script_text(script, spread);
    for (const char *at = text; (at = strstr(at, "call('"));) {
        char wanted[80];
        at += strlen("call('");
        int length = (int)strcspn(at, "'");
        const char *sub = strncmp(at, "pubsub', '", 10) == 0 ? at + 10 : NULL;
        snprintf(wanted, sizeof wanted, " +%.*s%s%.*s ", length, at, sub ? "|" : "", sub ? (int)strcspn(sub, "'") : 0,
                 sub ? sub : "");
        cr_assert(strstr(words, wanted) || (more && strstr(more, wanted)), "the rule of the page has no%s", wanted);
    }
    free(text);
}

/* A script that is changed must not wait for somebody to miss a right. */
Test(acl, rule_has_every_command_that_a_script_calls)
{
    char *words = rights_to_commands(RIGHTS), more[256];
    char *clusters = rights_to_commands(RIGHTS_FOR_CLUSTERS), *shards = rights_to_commands(RIGHTS_FOR_SHARDS);
    snprintf(more, sizeof more, "%s%s", clusters, shards);
    for (size_t i = 0; rli_scripts[i]; i++) {
        assert_calls(rli_scripts[i], RLI_COUNTED, words, NULL);
        assert_calls(rli_scripts[i], RLI_SCATTERED, words, NULL);
        assert_calls(rli_scripts[i], RLI_SHARDED, words, more);
    }
    free(words);
    free(clusters);
    free(shards);
}

/* What the library itself sends. */
static const char sent[] = " +evalsha +eval +subscribe +unsubscribe +ping +info|server +client|setname +client|id "
                           "+client|tracking +select +blpop ";

static bool is_called(const char *command)
{
    char call[64];
    const char *bar = strchr(command, '|');
    snprintf(call, sizeof call, bar ? "call('%.*s', '%s'" : "call('%.*s'", bar ? (int)(bar - command) : 40, command,
             bar ? bar + 1 : "");
    bool found = false;
    for (size_t i = 0; rli_scripts[i] && !found; i++) {
        char *text = script_text(rli_scripts[i], RLI_COUNTED);
        found = strstr(text, call) != NULL;
        free(text);
    }
    return found;
}

Test(acl, rule_has_no_command_that_nobody_asks_for)
{
    char *words = rights_to_commands(RIGHTS), *rest = words, *word;
    int count = 0;
    while ((word = strtok_r(rest, " ", &rest))) {
        char padded[64];
        snprintf(padded, sizeof padded, " %s ", word);
        count++;
        cr_assert(strstr(sent, padded) || is_called(word + 1), "%s is of no use", word);
    }
    cr_assert(count > 30, "%d commands", count);
    free(words);
}

/* One of each that has keys or a channel of its own. */
static bool all_works(void)
{
    static const kind *const locks[] = {&kind_reentrant, &kind_fair, &kind_fenced, &kind_read, &kind_write,
                                        &kind_token, &kind_signal};
    int failed = 0, number = 0;
    rlock_permit permit;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        char name[32];
        snprintf(name, sizeof name, "lock-%zu", i);
        rlock *lock = kind_of(locks[i], stage.client, name);
        failed += rlock_lock(lock) != RLOCK_OK;
        failed += rlock_unlock(lock) != RLOCK_OK;
    }
    failed += rlock_fenced_set(stage.client, "row", "x", 1, 1) != RLOCK_OK;
    failed += rlock_semaphore_add_permits(semaphore_of(stage.client, "semaphore"), 1) != RLOCK_OK;
    failed += rlock_permit_semaphore_add_permits(permits_of(stage.client, "permits"), 1) != RLOCK_OK;
    failed += rlock_permit_semaphore_try_acquire(permits_of(stage.client, "permits"), 0, 1000, &permit) != RLOCK_OK;
    failed += rlock_permit_semaphore_get_permits(permits_of(stage.client, "permits"), &number) != RLOCK_OK;
    failed += rlock_count_down_latch_try_set_count(latch_of(stage.client, "latch"), 1, NULL) != RLOCK_OK;
    failed += rlock_count_down_latch_count_down(latch_of(stage.client, "latch")) != RLOCK_OK;
    return failed == 0;
}

/* Without these, calls succeed as ever, and only some things take longer: a turn of many waiters, and being told of a loss. */
static bool is_for_speed(const char *pattern)
{
    return strstr(pattern, "rlock_waiters") || strstr(pattern, "__redis__:invalidate");
}

Test(acl, rule_has_no_pattern_of_keys_or_channels_that_nothing_needs)
{
    cr_assert(all_works(), "%s", rlock_last_error());
    char left_out[64];
    int n = 0;
    for (; rights_give_without(stage.server, RIGHTS, n, left_out); n++) {
        say("FLUSHALL");
        cr_assert(all_works() == is_for_speed(left_out), "without %s: %s", left_out, rlock_last_error());
    }
    cr_assert(n > 8, "%d patterns", n);
}

Test(acl, rule_allows_nothing_under_other_names)
{
    char url[128];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://locks:secret@127.0.0.1:%d", server_port(stage.server));
    assert_ok(rlock_client_open(&client, url));
    rlock *lock = rlock_get_lock(client, "another");
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    assert_error("\"another\"", "key");
    rlock_free(lock);
    rlock_client_close(client);
}

Test(acl, rule_for_clusters_names_commands_that_there_are)
{
    rights_give(stage.server, RIGHTS_FOR_CLUSTERS);
    if (server_knows(stage.server, "SSUBSCRIBE"))
        rights_give(stage.server, RIGHTS_FOR_SHARDS);
    use_lock(&kind_reentrant, NAME);
}

/* --- what is missing --- */

/* The lock is given back all the same; who waits does without the message. */
Test(acl, right_to_publish_that_is_missing_is_named)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    say("ACL SETUSER locks resetchannels");
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    assert_error("\"app:order\"", "channel", "docs/security.md");
    cr_assert(server_integer(stage.server, "EXISTS app:order") == 0);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_ok(rlock_lock(lock));
    say("ACL SETUSER locks allchannels");
    assert_ok(rlock_unlock(lock));
}

/* Nor does a fair lock go to those that wait beside who may not publish: one of them has it after the other. */
static void assert_goes_to_one(const char *left_out)
{
    rlock *lock = kind_of(&kind_fair, stage.client, NAME), *wanted[2];
    actor *waiters[2];
    say("ACL SETUSER full on >secret +@all allkeys allchannels");
    rlock_client *clients[2] = {open_as("full:secret", ""), open_as("full:secret", "")};
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < 2; i++) {
        wanted[i] = rlock_get_fair_lock(clients[i], NAME);
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], wanted[i]);
        cr_assert(wait_queued(RIGHTS_PREFIX NAME, i + 1, 5000) && wait_all_listen(RIGHTS_PREFIX NAME, 5000));
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    say(left_out);
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    cr_assert(server_integer(stage.server, "HLEN app:order") <= 1);
    assert_ok(actor_finish(waiters[0], 10000));
    cr_assert(!actor_ended(waiters[1], 3000) && actor_valid_for(waiters[0], wanted[0]) > 0, "two have it");
    assert_ok(actor_unlock(waiters[0], wanted[0]));
    assert_ok(actor_finish(waiters[1], 10000));
    assert_ok(actor_unlock(waiters[1], wanted[1]));
    for (int i = 0; i < 2; i++) {
        actor_end(waiters[i]);
        rlock_free(wanted[i]);
        rlock_client_close(clients[i]);
    }
}

Test(acl, right_to_publish_that_is_missing_gives_a_fair_lock_to_one_waiter)
{
    assert_goes_to_one("ACL SETUSER locks resetchannels");
}

Test(acl, right_to_publish_as_a_command_that_is_missing_gives_a_fair_lock_to_one_waiter)
{
    assert_goes_to_one("ACL SETUSER locks -publish");
}

Test(acl, right_to_subscribe_that_is_missing_ends_the_wait)
{
    rlock *held = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    say("ACL SETUSER locks resetchannels");
    actor_begin_lock(waiter, lock_of(stage.client, NAME));
    assert_status(actor_finish(waiter, 20000), RLOCK_SERVER);
    assert_words(actor_error(waiter), "redisson_lock__channel:{app:order}", "channel");
    actor_end(waiter);
}

Test(acl, right_to_subscribe_as_a_command_that_is_missing_is_named)
{
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    say("ACL SETUSER locks -subscribe");
    assert_status(rlock_lock(lock_of(stage.client, NAME)), RLOCK_SERVER);
    assert_error("'subscribe'", "allow the ACL user the commands in docs/security.md");
}

Test(acl, right_to_publish_as_a_command_that_is_missing_is_named)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    say("ACL SETUSER locks -publish");
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    assert_error("\"app:order\"", "command", "docs/security.md");
}

Test(acl, right_to_run_scripts_that_is_missing_is_named_at_once)
{
    static const char *const rights[] = {"ACL SETUSER locks -evalsha", "ACL SETUSER locks +evalsha -eval"};
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 2; i++) {
        say(rights[i]);
        say("SCRIPT FLUSH");
        int64_t since_ms = now_ms();
        assert_status(rlock_lock(lock), RLOCK_SERVER);
        assert_error("\"app:order\"", i == 0 ? "'evalsha'" : "'eval'", "docs/security.md");
        assert_between(now_ms() - since_ms, 0, at_most_ms(400)); /* it was not asked for again */
        cr_assert(rlock_valid_for(lock) == 0);
    }
}

Test(acl, right_to_a_key_that_is_missing_is_named)
{
    rlock *lock = kind_of(&kind_fair, stage.client, NAME);
    say("ACL SETUSER locks resetkeys ~app:*");
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    assert_error("\"app:order\"", "key", "docs/security.md");
    cr_assert(server_integer(stage.server, "EXISTS app:order") == 0);
}

#define REFUSED "the server refused to renew it: the user lacks a right (see docs/security.md)"

/* The holds that are renewed together with that one go on. */
Test(acl, right_to_a_key_that_is_taken_away_ends_that_hold_alone)
{
    losses lost;
    losses_init(&lost);
    rlock_on_lost(stage.client, losses_note, &lost);
    rlock *locks[] = {lock_of(stage.client, NAME), lock_of(stage.client, "other"), lock_of(stage.client, "third")};
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(locks[i]));
    say("ACL SETUSER locks resetkeys ~" RIGHTS_PREFIX NAME " ~" RIGHTS_PREFIX "third ~rlock_waiters:*");
    losses_await(&lost, 1, 60000);
    cr_assert_str_eq(lost.all[0].name, "other");
    cr_assert(lost.all[0].reason == RLOCK_LOST_REFUSED);
    cr_assert_str_eq(lost.all[0].said, REFUSED);
    cr_assert(rlock_valid_for(locks[0]) > 0 && rlock_valid_for(locks[2]) > 0);
    say("ACL SETUSER locks ~" RIGHTS_PREFIX "*");
    assert_ok(rlock_unlock(locks[0]));
    assert_status(rlock_unlock(locks[1]), RLOCK_LOST);
    assert_error("other\"", REFUSED ";");
    assert_ok(rlock_unlock(locks[2]));
}

/* The keys are there, but the watchdog may not look at them: that says nothing of the holds. */
Test(acl, right_to_look_at_keys_that_is_taken_away_is_the_reason_of_the_loss)
{
    enum { HOLDS = 5 };
    const kind *kinds[HOLDS] = {&kind_reentrant, &kind_fair, &kind_read, &kind_write, &kind_token};
    const char *names[HOLDS] = {"lock", "fair", "read", "write", "token"};
    losses lost;
    losses_init(&lost);
    rlock_on_lost(stage.client, losses_note, &lost);
    for (int i = 0; i < HOLDS; i++)
        assert_ok(rlock_lock(kind_of(kinds[i], stage.client, names[i])));
    say("ACL SETUSER locks -hexists -hget -get");
    losses_await(&lost, HOLDS, 60000);
    for (int i = 0; i < HOLDS; i++) {
        cr_assert(lost.all[i].reason == RLOCK_LOST_REFUSED, "%s", lost.all[i].name);
        cr_assert_str_eq(lost.all[i].said, REFUSED);
    }
    say("ACL SETUSER locks +@all");
}

/* How often the server has refused something since its log was reset. */
static int64_t refusals(void)
{
    int64_t count = 0;
    redisReply *log = server_command(stage.server, "ACL LOG");
    for (size_t i = 0; i < log->elements; i++)
        count += log->element[i]->element[1]->integer;
    freeReplyObject(log);
    return count;
}

/* A hold that the server does not let the watchdog look at is looked at again, and is not lost. */
Test(acl, right_to_look_at_keys_that_is_missing_is_no_loss)
{
    const kind *kinds[] = {&kind_reentrant, &kind_read, &kind_write, &kind_token};
    for (int i = 0; i < 4; i++) {
        losses lost;
        losses_init(&lost);
        rlock_client *client = open_as("locks:secret", "lossTracking=true");
        rlock_on_lost(client, losses_note, &lost);
        rlock *lock = kind_of(kinds[i], client, NAME);
        assert_ok(rlock_try_lock(lock, 0, 600000));
        say("ACL SETUSER locks -hexists -hget -get");
        say("ACL LOG RESET");
        for (int64_t end_ms = limit_end_ms(20000); refusals() < 4; pass_ms(5)) {
            cr_assert(rlock_valid_for(lock) > 0, "it is lost");
            cr_assert(now_ms() < end_ms, "nobody looks at it again");
        }
        say("ACL SETUSER locks +@all");
        assert_ok(rlock_unlock(lock));
        rlock_client_close(client);
    }
}

/* The password was changed, and the connections are gone. Several holds are renewed together. */
Test(acl, login_that_is_refused_is_the_reason_of_the_loss)
{
    losses lost;
    losses_init(&lost);
    rlock_on_lost(stage.client, losses_note, &lost);
    rlock *locks[] = {lock_of(stage.client, NAME), lock_of(stage.client, "other")};
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(locks[i]));
    say("ACL SETUSER locks resetpass >changed");
    say("CLIENT KILL USER locks");
    losses_await(&lost, 2, 60000);
    for (int i = 0; i < 2; i++) {
        cr_assert(lost.all[i].reason == RLOCK_LOST_REFUSED);
        cr_assert_str_eq(lost.all[i].said, "the server refused to renew it: it refuses the login");
    }
    say("ACL SETUSER locks resetpass >secret");
}

/* A server reports that a hold was deleted while the user may not look at it: that is told when it may again, and not by the
 * next renewal, which comes much later. */
Test(acl, right_that_is_missing_when_a_hold_is_deleted_keeps_the_loss_back_no_longer)
{
    losses lost;
    losses_init(&lost);
    rlock_client *client = open_as("locks:secret", "lossTracking=true&lockWatchdogTimeout=3600000");
    rlock *lock = lock_of(client, NAME);
    rlock_on_lost(client, losses_note, &lost);
    assert_ok(rlock_lock(lock));
    for (rlock_tracking now = RLOCK_TRACKING_IDLE; now != RLOCK_TRACKING_ON; pass_ms(1))
        assert_ok(rlock_client_tracking(client, &now));
    say("ACL LOG RESET");
    say("ACL SETUSER locks -evalsha -eval");
    say("DEL " RIGHTS_PREFIX NAME);
    for (bool refused = false; !refused; pass_ms(1)) {
        redisReply *log = server_command(stage.server, "ACL LOG 1");
        refused = log->elements > 0;
        freeReplyObject(log);
    }
    cr_assert(lost.count == 0);
    say("ACL SETUSER locks +evalsha +eval");
    losses_await(&lost, 1, 60000);
    cr_assert(lost.all[0].reason == RLOCK_LOST_GONE);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    rlock_client_close(client);
}

Test(acl, right_that_is_taken_away_is_told_of_a_permit)
{
    losses lost;
    losses_init(&lost);
    rlock_on_lost(stage.client, losses_note, &lost);
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, NULL));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_WATCHDOG, &permit));
    say("ACL SETUSER locks -zadd");
    losses_await(&lost, 1, 60000);
    cr_assert(strcmp(lost.all[0].permit, permit.id) == 0 && lost.all[0].reason == RLOCK_LOST_REFUSED);
    cr_assert_str_eq(lost.all[0].said, REFUSED);
}

/* The key of the hold's own end can't be written, nor the hold given back then; the lock ends by itself. */
Test(acl, right_to_a_read_locks_own_keys_that_is_missing_leaves_no_lock_without_an_end)
{
    say("ACL SETUSER locks -set -del -hdel");
    assert_status(rlock_try_lock(kind_of(&kind_read, stage.client, NAME), 0, RLOCK_WATCHDOG), RLOCK_SERVER);
    assert_error("\"app:order\"", "command", "docs/security.md");
    cr_assert(pttl_of(RIGHTS_PREFIX NAME) > 0);
}

/* As the unlock of a lock: it is done, and who waits is not told. A second one would add permits, or count once more. */
Test(acl, right_to_publish_that_is_missing_undoes_no_change)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    rlock_permit_semaphore *expiring = permits_of(stage.client, "expiring");
    rlock_count_down_latch *latch = latch_of(stage.client, "latch");
    rlock_permit permit;
    bool flag = false;
    assert_ok(rlock_semaphore_add_permits(semaphore, 1));
    assert_ok(rlock_permit_semaphore_try_set_permits(expiring, 2, NULL));
    assert_ok(rlock_permit_semaphore_try_acquire(expiring, 0, 60000, &permit));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, NULL));
    say("ACL SETUSER locks resetchannels");
    assert_status(rlock_semaphore_release(semaphore, 1), RLOCK_SERVER);
    assert_error("\"app:order\"", "channel", "docs/security.md");
    assert_status(rlock_semaphore_add_permits(semaphore, 2), RLOCK_SERVER);
    cr_assert(available(semaphore) == 4);
    assert_status(rlock_permit_semaphore_release_many(expiring, 1, &permit), RLOCK_SERVER);
    assert_status(rlock_permit_semaphore_add_permits(expiring, 3), RLOCK_SERVER);
    cr_assert(permits_available(expiring) == 5 && permits_taken(expiring) == 0);
    assert_status(rlock_count_down_latch_count_down(latch), RLOCK_SERVER);
    cr_assert(count_of(latch) == 0);
    assert_status(rlock_object_rename(rlock_semaphore_object(semaphore), "new"), RLOCK_SERVER);
    assert_ok(rlock_object_exists(rlock_semaphore_object(semaphore), &flag));
    cr_assert(!flag && server_integer(stage.server, "GET app:new") == 4);
}

/* The permit that has expired is given back once, however often somebody is refused it. */
Test(acl, right_to_publish_that_is_missing_multiplies_no_permits)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_permit permit;
    int permits = 0;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 1, NULL));
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, 1, &permit));
    say("ACL SETUSER locks resetchannels");
    rlock_status status = RLOCK_TIMEOUT; /* until its lease has ended */
    while (status == RLOCK_TIMEOUT)
        status = rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permit);
    assert_status(status, RLOCK_SERVER);
    assert_error("\"app:order\"", "channel", "docs/security.md");
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permit));
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permit), RLOCK_TIMEOUT);
    say("ACL SETUSER locks allchannels");
    assert_ok(rlock_permit_semaphore_get_permits(semaphore, &permits));
    cr_assert(permits == 1, "%d permits", permits);
}

/* The set by which those behind are moved up goes, though they can't be moved; and nobody loses a place. */
Test(acl, right_to_move_up_who_is_behind_that_is_missing_is_named)
{
    rlock *lock = kind_of(&kind_fair, stage.client, NAME);
    actor *next = actor_start(), *behind = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(next, lock);
    cr_assert(wait_queued(RIGHTS_PREFIX NAME, 1, 5000));
    actor_begin_lock(behind, lock);
    cr_assert(wait_queued(RIGHTS_PREFIX NAME, 2, 5000) && wait_all_listen(RIGHTS_PREFIX NAME, 5000));
    cr_assert(actor_asleep(next, 5000) && actor_asleep(behind, 5000)); /* each has asked again */
    say("ACL SETUSER locks -zinterstore -zunionstore");
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    assert_error("\"app:order\"", "command", "docs/security.md");
    cr_assert(server_integer(stage.server, "EXISTS redisson_lock__channel:{app:order}") == 0);
    assert_status(actor_finish(next, 10000), RLOCK_SERVER);
    assert_ok(actor_finish(behind, 10000));
    assert_ok(actor_unlock(behind, lock));
    actor_end(next);
    actor_end(behind);
}

Test(acl, user_or_password_that_is_wrong_is_named_and_not_shown)
{
    static const char *const users[] = {"locks:s3cret-one", "nobody:s3cret-one", ":s3cret-one"};
    say("CONFIG SET requirepass other");
    for (int i = 0; i < 3; i++) {
        char url[128];
        rlock_client *client = NULL;
        snprintf(url, sizeof url, "redis://%s@127.0.0.1:%d", users[i], server_port(stage.server));
        assert_status(rlock_client_open(&client, url), RLOCK_SERVER);
        assert_error("refused the user or password", "WRONGPASS");
        cr_assert(strstr(rlock_last_error(), "s3cret") == NULL, "%s", rlock_last_error());
    }
}

/* His connections end with him; what he held stays until its time is up. */
Test(acl, user_who_is_deleted_is_refused_by_the_next_call)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    say("ACL DELUSER locks");
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    assert_error("refused the user or password", "WRONGPASS");
    cr_assert(server_integer(stage.server, "PEXPIRE app:order 10") == 1);
}
