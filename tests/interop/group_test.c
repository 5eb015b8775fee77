/* Group locks of C and of Java exclude each other where they have a value in common, and look the same on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"
#include "tests/support/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(group, .init = java_stage, .fini = java_stage_close);

#define GROUP "class_100"
#define MOST 16

/* Words between commas; those that begin with # are Longs. */
static rlock *ours(rlock_client *client, rlock_codec codec, const char *words)
{
    static unsigned char bytes[MOST][64];
    rlock_value values[MOST];
    char copy[256], *rest = copy;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, ",")); count++) {
        values[count] = (rlock_value){bytes[count], sizeof bytes[count]};
        assert_ok(*word == '#' ? rlock_encode_long(codec, strtoll(word + 1, NULL, 10), bytes[count], &values[count].length)
                               : rlock_encode_string(codec, word, bytes[count], &values[count].length));
    }
    return stage_keep(rlock_get_group_lock(client, GROUP, values, count));
}

static const char *theirs(const char *words)
{
    static char names[8][256];
    static int turn;
    char *name = names[turn++ % 8];
    snprintf(name, sizeof names[0], GROUP ",%s", words);
    return name;
}

static const answer *java_does(const char *thread, const char *words, const char *operation)
{
    const answer *got = ASK(java, thread, "group", theirs(words), operation);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

static bool java_tries(const char *thread, const char *words)
{
    return strcmp(java_does(thread, words, "tryNow")->text, "true") == 0;
}

/* The fields of the hash in order, without owners and times; to be freed. */
static char *fields(void)
{
    redisReply *all = server_command(stage.server, "EVAL %s 1 " GROUP,
                                     "local all, lines = redis.call('hgetall', KEYS[1]), {} "
                                     "for i = 1, #all, 2 do "
                                     "  local name = all[i]:gsub('%x+%-%x+%-%x+%-%x+%-%x+:%d+', 'OWNER') "
                                     "  local value = all[i + 1]:gsub('%x+%-%x+%-%x+%-%x+%-%x+:%d+', 'OWNER') "
                                     "  if name:find(':expire_time', 1, true) then value = #value .. ' digits' end "
                                     "  lines[#lines + 1] = name .. ' = ' .. value "
                                     "end "
                                     "table.sort(lines) "
                                     "return table.concat(lines, '\\n')");
    char *text = strdup(all->str);
    freeReplyObject(all);
    return text;
}

/* --- what stands on the server --- */

static void looks_alike(rlock_codec codec, const char *words)
{
    rlock *lock = ours(stage.client, codec, words);
    java_does("t1", words, "lock");
    java_does("t1", words, "lock");
    char *of_java = fields();
    cr_assert(strstr(of_java, ":OWNER:lock_count = 2") != NULL, "%s", of_java);
    cr_assert(pttl_of(GROUP) > 0);
    java_does("t1", words, "unlock");
    java_does("t1", words, "unlock");
    wait_no_latches();
    assert_no_keys();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    char *of_c = fields();
    cr_assert(strcmp(of_c, of_java) == 0, "C leaves\n%s\nand Java\n%s", of_c, of_java);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    free(of_c);
    free(of_java);
}

Test(group, looks_alike_under_the_string_codec)
{
    looks_alike(RLOCK_CODEC_STRING, "Jack_001,Mary_002,#1,caf\u00e9,#-9223372036854775808");
}

/* Redisson's default codec. */
static void open_with_kryo(void)
{
    char path[4200], text[400];
    snprintf(text, sizeof text, "singleServerConfig:\n  address: \"%s\"\n  connectionMinimumIdleSize: 2\n"
                                "codec: !<org.redisson.codec.Kryo5Codec> {}\n", server_tcp_url(stage.server));
    scratch_write("redisson.yaml", text);
    snprintf(path, sizeof path, "%s/redisson.yaml", scratch_folder());
    assert_result(ASK(java, "agent", "close"), "");
    java_open_file(path);
    java_is_at(stage.server);
}

Test(group, looks_alike_under_kryo, .fini = scratch_remove)
{
    open_with_kryo();
    looks_alike(RLOCK_CODEC_KRYO5, "Jack_001,M,a longer text of more than thirty-two characters,#1,1,#-1,#64,"
                                   "#9223372036854775807,#-9223372036854775808,caf\u00e9,\U0001F600x");
    java_stage_close();
}

/* --- who is let in --- */

Test(group, excludes_and_lets_in_across_the_two)
{
    rlock *ab = ours(stage.client, RLOCK_CODEC_STRING, "a,b"), *bc = ours(stage.client, RLOCK_CODEC_STRING, "b,c");
    assert_ok(rlock_lock(ab));
    cr_assert(!java_tries("t1", "b,c") && java_tries("t1", "c,d"));
    cr_assert(strcmp(java_does("t2", "b", "isLocked")->text, "true") == 0);
    assert_ok(rlock_unlock(ab));
    cr_assert(java_tries("t2", "b,e"));
    assert_status(rlock_try_lock(ab, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    java_does("t2", "b,e", "unlock");
    java_does("t1", "c,d", "unlock");
    assert_ok(rlock_try_lock(bc, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(bc));
    wait_no_latches();
    assert_no_keys();
}

/* A release on either side wakes the waiter on the other, which waits for one of the values. */
Test(group, wakes_waiters_across_the_two)
{
    rlock *ab = ours(stage.client, RLOCK_CODEC_STRING, "a,b"), *bc = ours(stage.client, RLOCK_CODEC_STRING, "b,c");
    actor *waiter = actor_start();
    assert_ok(rlock_lock(ab));
    int tag = BEGIN(java, "t1", "group", theirs("b,c"), "lock");
    cr_assert(wait_listened(GROUP, 5000));
    java_await_asleep("t1");
    assert_ok(rlock_unlock(ab));
    assert_result(agent_await(java, tag, AGENT_MS), "");
    actor_begin_lock(waiter, ab);
    cr_assert(actor_asleep(waiter, 5000));
    java_does("t1", "b,c", "unlock");
    assert_ok(actor_finish(waiter, 5000));
    assert_status(rlock_try_lock(bc, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(waiter, ab));
    actor_end(waiter);
    wait_no_latches();
    assert_no_keys();
}

/* C took over what Java's lease had left, and cleared it away: Java's late unlock frees nothing. */
Test(group, is_not_freed_by_the_late_unlock_of_an_expired_hold)
{
    rlock *ab = ours(stage.client, RLOCK_CODEC_STRING, "a,b");
    assert_result(ASK(java, "t1", "group", theirs("a,b"), "lease", "700"), "");
    assert_ok(rlock_lock(ab));
    const answer *late = ASK(java, "t1", "group", theirs("a,b"), "unlock");
    assert_thrown(late, "IllegalMonitorStateException");
    cr_assert(is_held(ab));
    cr_assert(!java_tries("t2", "a"));
    assert_ok(rlock_unlock(ab));
}

/* Java takes over what C's lease has left, and C knows. */
Test(group, is_taken_over_by_java_when_its_lease_has_ended)
{
    rlock *ab = ours(stage.client, RLOCK_CODEC_STRING, "a,b");
    assert_ok(rlock_lock_lease(ab, 700));
    java_does("t1", "b,c", "lock");
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    cr_assert(strcmp(java_does("t1", "b,c", "isHeld")->text, "true") == 0);
    assert_status(rlock_try_lock(ab, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    java_does("t1", "b,c", "unlock");
    assert_ok(rlock_try_lock(ab, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(ab));
}

Test(group, is_forced_open_across_the_two)
{
    rlock *ab = ours(stage.client, RLOCK_CODEC_STRING, "a,b");
    bool was_locked = false;
    assert_ok(rlock_lock(ab));
    cr_assert(strcmp(java_does("t1", "a", "force")->text, "true") == 0);
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    java_does("t1", "a,b", "lock");
    assert_ok(rlock_force_unlock(ab, &was_locked));
    cr_assert(was_locked);
    cr_assert(java_tries("t2", "a,b"));
    java_does("t2", "a,b", "unlock");
    wait_no_latches();
    assert_no_keys();
}

Test(group, is_renewed_beside_java, .init = java_stage_quick, .lasts = 13)
{
    rlock *ab = ours(stage.client, RLOCK_CODEC_STRING, "a,b");
    assert_ok(rlock_lock(ab));
    java_does("t1", "c", "lock");
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(200))
        cr_assert(!java_tries("t2", "b") && rlock_valid_for(ab) > 0);
    assert_status(rlock_try_lock(ours(stage.client, RLOCK_CODEC_STRING, "c"), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(ab));
    java_does("t1", "c", "unlock");
}
