/* The library's own scripts: the model runs them as a real server does, in any state of their keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/hunt.h"

#include "redis/script.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(model_scripts);

#define CHOICES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define A "aaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbb"
#define C "cccccccccccccccc"
#define D "dddddddddddddddd"
#define OWNER_A "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaaa"
#define OWNER_B "bbbbbbbb-bbbb-8bbb-8bbb-bbbbbbbbbbbb"
#define V1 "qwvAS12pR0CgRitaypEjUw"
#define V2 "Q5CdP+xmkHdTGWYr64Lw6A"
#define V3 "AAAAAAAAAAAAAAAAAAAAAA"

static const hunt_blank blanks[] = {
    {'l', CHOICES("order", "order", "other")},
    {'F', CHOICES("1", "2", "9", "10", "99", "9007199254740993", "9007199254740992")},
    {'T', CHOICES("tok", "tok", "tok", "tok", "order")},
    {'o', CHOICES("c1:1", "c1:2", "c2:1", "c2:2")},
    {'W', CHOICES("w")},                                       /* a lock with a registry of waiters… */
    {'C', CHOICES("redisson_lock__channel:{w}")},
    {'O', CHOICES(OWNER_A ":1", OWNER_A ":2", OWNER_B ":1")},
    {'V', CHOICES("~", "$O")},
    {'g', CHOICES("30000", "30000", "500", "15000")},          /* …and the lease with which one registers */
    {'v', CHOICES("~", "~", "~", "$o")},                       /* an owner to replace */
    {'h', CHOICES("~", "~", "$o")},
    {'m', CHOICES("1", "10", "1000", "30000", "60000", "3153600000000")},
    {'c', CHOICES("1", "1", "1", "1", "2", "2", "3")},         /* a count that a hold will have */
    {'r', CHOICES("0", "0", "0", "1", "2")},                   /* …after a release */
    {'w', CHOICES("0", "500", "30000", "300000")},
    {'n', CHOICES("1", "2", "3", "5", "10", "0", "-1", "-3")},
    {'x', CHOICES("$n", "abc", "1.5", "~", "9223372036854775807", "007", "1e3", "100000")},
    {'u', CHOICES("~", "0", "1", "2")},
    {'G', CHOICES(V1, V1 V2, V2 V3, V1 V2 V3, V3)},            /* values of a group */
    {'U', CHOICES(V1, V2, V3)},
    {'e', CHOICES("0", "0", "1", "2", "3", "4")},
    {'b', CHOICES("0", "1")},
    {'p', CHOICES("{order}:")},
    {'q', CHOICES("order oq ot och")},                         /* the keys of a fair lock */
    {'Q', CHOICES("w wq wt redisson_lock__channel:{w}")},      /* …with waiters that may be offered it */
    {'k', CHOICES("sem set semch")},                           /* those of permits */
    {'t', CHOICES("-1", "1", "1000", "30000")},
    {'i', CHOICES(A, B, C, D)},
    {'I', CHOICES("1 " A, "1 " B, "2 " A B, "2 " B C, "3 " A B D, "2 " A A)},
    {'J', CHOICES("1 " A " " B, "2 " A B " " C D, "1 " C " " A)},
    {'a', CHOICES("1893456000000", "1893456060000", "1893456300000", "1893457000000", "922337203685477", "1.5", "inf")},
    {0},
};

static const struct {
    const rli_script *script;
    const char *words; /* the number of keys, keys, arguments */
    int weight;
} runs[] = {
    {&rli_script_lock_acquire, "1 $l $o $m $c $v ch", 8},
    {&rli_script_lock_acquire, "1 $l $o $m $c ~", 2},
    {&rli_script_lock_acquire, "1 $W $O $m $c ~ $C $g 0", 8},
    {&rli_script_lock_acquire, "1 $W $O $m $c $V $C $g 1893456000000000", 4},
    {&rli_script_lock_release, "1 $l ch $o $r $m", 6},
    {&rli_script_lock_release, "1 $W $C $O $r $m", 6},
    {&rli_script_lock_release, "1 $W $C $O 0 $m $g", 4},
    {&rli_script_lock_handoff, "1 $l ch $o $o $m $u ~ ~", 4},
    {&rli_script_lock_handoff, "2 $l token ch $o $o $m $u ~ ~", 3},
    {&rli_script_lock_handoff, "1 $W $C $O $O $m $u $g 0", 6},
    {&rli_script_lock_handoff, "1 $W $C $O $O $m $u ~ ~", 3},
    {&rli_script_lock_renew, "1 $l $m $o", 2},
    {&rli_script_lock_renew, "2 order other $m $o $o", 2},
    {&rli_script_lock_look, "2 order other $o $o", 2},
    {&rli_script_lock_force, "1 $l ch", 1},
    {&rli_script_lock_force, "1 $W $C", 2},
    {&rli_script_lock_state, "1 $l $o", 2},
    {&rli_script_spin_release, "1 $l $o $r $m", 2},
    {&rli_script_spin_handoff, "1 $l $o $o $m", 2},
    {&rli_script_spin_force, "1 $l", 1},
    {&rli_script_fenced_acquire, "2 $l token $o $m $c $v ch", 4},
    {&rli_script_fenced_acquire, "2 $W token $O $m $c ~ $C $g 0", 3},
    {&rli_script_fenced_raise, "2 $l token $o $F", 3},
    {&rli_script_fenced_set, "2 row fence a $F $o $F", 5},
    {&rli_script_token_acquire, "1 $T $o $m $c $v ch", 8},
    {&rli_script_token_release, "1 $T ch $o $r $m", 6},
    {&rli_script_token_renew, "2 tok $l $m $o $o", 3},
    {&rli_script_token_look, "2 tok $l $o $o", 2},
    {&rli_script_token_force, "1 $T ch", 1},
    {&rli_script_token_state, "1 $T $o", 2},
    {&rli_script_signal_release, "2 $T signals $o $r $m", 4},
    {&rli_script_signal_force, "2 $T signals", 1},
    {&rli_script_signal_pass_on, "2 $T signals", 2},
    {&rli_script_fair_acquire, "4 $q $o $m $c $v $w $h $w", 20},
    {&rli_script_fair_release, "4 $q $o $r $m $h $h $m $w $h", 8},
    {&rli_script_fair_acquire, "4 $Q $O $m $c ~ 30000 ~ 30000 1", 8},
    {&rli_script_fair_release, "4 $Q $O 0 $m ~ ~ 0 0 ~", 6},
    {&rli_script_fair_release, "4 $Q $O $r $m ~ $V $m $w ~", 3},
    {&rli_script_fair_force, "4 $q", 1},
    {&rli_script_fair_give_up, "4 $q $o $w $b", 4},
    {&rli_script_fair_give_up, "4 $Q $O $w $b", 2},
    {&rli_script_read_acquire, "2 order $p $o $m $c $v $h rw", 8},
    {&rli_script_read_release, "2 order $p rw $o $r $c", 6},
    {&rli_script_read_renew, "1 order $m $o", 2},
    {&rli_script_read_renew, "2 order other 0 $o $o", 1},
    {&rli_script_read_look, "2 order other $o $o", 2},
    {&rli_script_read_force, "1 order rw", 1},
    {&rli_script_read_state, "1 order $o", 1},
    {&rli_script_write_acquire, "2 order $p rw $o $m $c $v", 8},
    {&rli_script_write_release, "2 order $p rw $o $r $m", 6},
    {&rli_script_write_renew, "2 order other $m $o $o", 2},
    {&rli_script_write_look, "2 order other $o $o", 2},
    {&rli_script_write_force, "1 order rw", 1},
    {&rli_script_write_state, "1 order $o", 1},
    {&rli_script_group_acquire, "1 group $o $m $c $v ch $G", 8},
    {&rli_script_group_release, "1 group ch $o $r $m $G", 6},
    {&rli_script_group_renew, "1 group $m $o $G", 3},
    {&rli_script_group_renew, "1 group 0 $o $G", 1},
    {&rli_script_group_force, "1 group ch $G", 1},
    {&rli_script_group_state, "1 group $o $G", 2},
    {&rli_script_inspect_look, "5 order oq ot set token $p", 3},
    {&rli_script_inspect_look, "5 sem oq ot set token $p", 2},
    {&rli_script_inspect_look, "5 group oq ot set token $p", 3},
    {&rli_script_inspect_look, "5 tok oq ot set token $p", 2},
    {&rli_script_semaphore_acquire, "1 sem $n", 3},
    {&rli_script_semaphore_release, "1 sem semch $n 0", 2},
    {&rli_script_semaphore_release, "1 sem semch $n 1", 2},
    {&rli_script_semaphore_set, "1 sem semch $n 0", 2},
    {&rli_script_semaphore_set, "1 sem semch $n $m", 2},
    {&rli_script_semaphore_add, "1 sem semch $n", 2},
    {&rli_script_semaphore_drain, "1 sem", 1},
    {&rli_script_semaphore_available, "1 sem", 1},
    {&rli_script_semaphore_delete, "1 sem", 1},
    {&rli_script_count_down_latch_set, "1 latch $n lch", 2},
    {&rli_script_count_down_latch_count_down, "1 latch lch", 3},
    {&rli_script_count_down_latch_state, "1 latch", 1},
    {&rli_script_count_down_latch_delete, "1 latch lch", 1},
    {&rli_script_object_expire, "1 sem $m 0 $e ~", 2},
    {&rli_script_object_expire, "1 latch $a 1 $e lch", 2},
    {&rli_script_object_expire, "2 sem set $m 0 $e ~", 2},
    {&rli_script_object_clear_expire, "1 latch", 1},
    {&rli_script_object_clear_expire, "2 sem set", 1},
    {&rli_script_object_state, "1 sem", 2},
    {&rli_script_object_rename, "2 sem sem2 $b semch2 ~", 1},
    {&rli_script_object_rename, "2 latch latch2 $b lch2 lch", 1},
    {&rli_script_object_rename, "4 sem2 sem set2 set $b semch ~", 1},
    {&rli_script_object_rename, "4 sem sem2 set set2 $b semch2 ~", 1},
    {&rli_script_permit_semaphore_acquire, "3 $k 1 $t $i", 6},
    {&rli_script_permit_semaphore_acquire, "3 $k 2 $t " A B, 2},
    {&rli_script_permit_semaphore_acquire, "3 $k 3 $t " B C D, 2},
    {&rli_script_permit_semaphore_replace, "1 set $J", 2},
    {&rli_script_permit_semaphore_undo, "3 $k $I", 2},
    {&rli_script_permit_semaphore_release, "3 $k $i", 4},
    {&rli_script_permit_semaphore_release_many, "3 $k $I", 3},
    {&rli_script_permit_semaphore_update_lease, "3 $k $i $t", 2},
    {&rli_script_permit_semaphore_renew, "1 set $I $t", 2},
    {&rli_script_permit_semaphore_lease, "3 $k $i", 2},
    {&rli_script_permit_semaphore_state, "3 $k", 2},
    {&rli_script_permit_semaphore_try_set, "3 $k $n", 3},
    {&rli_script_permit_semaphore_set, "3 $k $n", 3},
    {&rli_script_permit_semaphore_add, "3 $k $n", 2},
    {&rli_script_permit_semaphore_delete, "3 $k", 1},
};
#define RUNS (sizeof runs / sizeof *runs)

/* Others' doings on the same keys. */
static const hunt_phrase hands[] = {
    {"SET row x", 1}, {"RPUSH row x", 1}, {"DEL row", 2}, {"DEL fence", 1}, {"SET fence x", 1},
    {"HSET group $U $o", 2}, {"HSET group $U:$o:expire_time $a", 2}, {"HSET group $U:$o:expire_time $x", 1},
    {"HSET group $U:$o:lock_count $x", 1}, {"HDEL group $U", 1}, {"HDEL group $U:$o:expire_time", 1}, {"PERSIST group", 1},
    {"PEXPIRE group $m", 2}, {"DEL group", 1}, {"SET group x", 1},
    {"DEL tok", 1}, {"LPOP signals", 2}, {"SET signals x", 1}, {"DEL signals", 1}, {"SET tok $o PX $m", 1}, {"SET tok $x", 1}, {"PERSIST tok", 1}, {"PEXPIRE tok $m", 1},
    {"SUBSCRIBE $C:" OWNER_A, 3}, {"UNSUBSCRIBE $C:" OWNER_A, 2}, {"SUBSCRIBE $C:" OWNER_B, 2}, {"SUBSCRIBE $C", 1},
    {"UNSUBSCRIBE $C", 2}, {"SUBSCRIBE $C:guards", 1}, {"UNSUBSCRIBE $C:guards", 1}, {"SSUBSCRIBE $C:" OWNER_A, 2},
    {"DEL rlock_waiters:{w}", 1}, {"ZADD rlock_waiters:{w} $a x", 1}, {"SET rlock_waiters:{w} x", 1}, {"DEL $W", 1},
    {"SUBSCRIBE $C:$O", 6}, {"UNSUBSCRIBE $C:$O", 2}, {"DEL rlock_waiters:{w}:fair", 1},
    {"HSET rlock_waiters:{w}:fair $O $x", 1}, {"SET rlock_waiters:{w}:fair x", 1}, {"DEL wq", 1},
    {"HSET $W $o 1", 1},
    {"DEL $l", 2}, {"DEL oq", 1}, {"DEL ot", 1}, {"DEL sem", 1}, {"HSET $l $o $x", 2}, {"HSET order mode read", 2},
    {"HSET order mode write", 2}, {"HSET order mode $x", 1}, {"HSET order $o:write $x", 2}, {"HDEL order $o", 1},
    {"HDEL order mode", 1}, {"PEXPIRE $l $m", 3}, {"PERSIST $l", 1}, {"SET $l $x", 1}, {"SET token $x", 1}, {"SET sem $n", 3}, {"SET sem $x", 1},
    {"SET latch $n", 1}, {"SET latch $x", 1}, {"DEL latch", 1}, {"RPUSH oq $o", 2}, {"LPOP oq", 1}, {"ZADD ot $a $o", 3}, {"ZREM ot $o", 2}, {"SET ot 1", 1},
    {"SADD och x", 1}, {"SET oq x", 1}, {"ZADD set $a $i", 2}, {"DEL set sem", 4}, {"PEXPIRE sem $m", 1}, {"SET set x", 1}, {"RPUSH sem x", 1},
    {"SET {order}:$o:rwlock_timeout:$c 1 PX $m", 2}, {"SET {order}:$o:rwlock_timeout:1 1", 1},
    {"SUBSCRIBE och:$o", 4}, {"UNSUBSCRIBE och:$o", 3}, {"SUBSCRIBE ch", 2}, {"UNSUBSCRIBE ch", 1}, {"SUBSCRIBE semch", 1},
    {"SUBSCRIBE rw", 1}, {"SSUBSCRIBE och:$o", 2}, {"SUNSUBSCRIBE och:$o", 1}, {"SSUBSCRIBE ch", 1}, {"SUBSCRIBE lch", 1},
};
#define HANDS (sizeof hands / sizeof *hands)

static void run_scripts(rli_pubsub_mode spread)
{
    static char words[RUNS][200];
    static hunt_phrase phrases[RUNS + HANDS + 1];
    static const char *texts[128];
    size_t count = 0;
    for (; rli_scripts[count]; count++) {
        size_t length;
        texts[count] = rli_script_text(rli_scripts[count], spread, &length);
        cr_assert(texts[count] && count + 1 < sizeof texts / sizeof *texts);
    }
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(words[i], sizeof words[i], "EVALSHA %s %s", runs[i].script->sha1[spread], runs[i].words);
        phrases[i] = (hunt_phrase){words[i], runs[i].weight};
    }
    memcpy(phrases + RUNS, hands, sizeof hands);
    hunt_run(&(hunt_plan){.phrases = phrases, .blanks = blanks, .scripts = texts, .sequences = 250, .steps = 120});
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)texts[i]);
}

/* Each script is among those that run. */
Test(model_scripts, are_all_run_by_these_tests)
{
    for (size_t i = 0; rli_scripts[i]; i++) {
        bool found = false;
        for (size_t k = 0; k < RUNS; k++)
            found |= runs[k].script == rli_scripts[i];
        cr_assert(found, "no run of the script with the SHA-1 %s", rli_scripts[i]->sha1[RLI_COUNTED]);
    }
}

Test(model_scripts, leave_what_a_real_server_leaves)
{
    run_scripts(RLI_COUNTED);
}

Test(model_scripts, leave_what_a_real_server_leaves_when_messages_are_scattered)
{
    run_scripts(RLI_SCATTERED);
}

Test(model_scripts, leave_what_a_real_server_leaves_when_messages_are_sharded)
{
    run_scripts(RLI_SHARDED);
}
