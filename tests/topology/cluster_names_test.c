/* Names in a cluster: all keys of an object in one slot, or a clear refusal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/topology/support/shards.h"

#include <rlock/inspect.h>
#include <string.h>

TestSuite(cluster_names, .fini = shards_close);

static const char *const split[] = {"a{b", "{}x", "a}b", "x{}y{z}", "}", "{", "a{b{c", "a}{"};
static const char *const together[] = {"plain", "with:colon", "{tag}:x", "x{tag}", "}{tag}", "{a{b}", "a{b}{}c"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void assert_refused(const char *what, const void *handle, const char *name, const char *words)
{
    cr_assert(handle == NULL, "a %s \"%s\" was taken", what, name);
    const char *why = rlock_last_error();
    cr_assert(strstr(why, what) && strstr(why, name) && strstr(why, words), "for a %s \"%s\": %s", what, name, why);
}

Test(cluster_names, whose_keys_would_be_in_different_slots_are_refused_for_every_object)
{
    shards_start(MASTERS, 0, NULL);
    rlock_client *client = shards_client(NULL);
    for (size_t i = 0; i < COUNT(split); i++) {
        for (size_t k = 0; k < KINDS; k++)
            assert_refused(all_kinds[k] == &kind_group ? "group" : "lock", all_kinds[k]->get(client, split[i]), split[i], "slot");
        assert_refused("semaphore", rlock_get_semaphore(client, split[i]), split[i], "slot");
        assert_refused("permit-expirable semaphore", rlock_get_permit_expirable_semaphore(client, split[i]), split[i],
                       "slot");
        assert_refused("latch", rlock_get_count_down_latch(client, split[i]), split[i], "slot");
        rlock_inspection *seen = NULL;
        assert_status(rlock_inspect(client, split[i], &seen), RLOCK_INVALID);
        cr_assert(!seen && strstr(rlock_last_error(), "slot"));
    }
}

Test(cluster_names, with_one_tag_or_none_serve_every_object)
{
    shards_start(MASTERS, 0, NULL);
    rlock_client *client = shards_client(PATIENT);
    for (size_t i = 0; i < COUNT(together); i++) {
        for (size_t k = 0; k < KINDS; k++) {
            if (all_kinds[k] == &kind_signal && !strchr(together[i], '{')) {
                assert_refused("lock", rlock_get_signal_lock(client, together[i]), together[i], "between { and }");
                continue;
            }
            rlock *lock = kind_of(all_kinds[k], client, together[i]);
            assert_ok(rlock_lock(lock));
            assert_ok(rlock_unlock(lock));
        }
        freeReplyObject(server_command(cluster_at(shards.cluster, together[i]), "DEL %s", together[i]));
        freeReplyObject(server_command(cluster_at(shards.cluster, together[i]), "DEL lock-signal:%s", together[i]));
        rlock_permit_semaphore *permits = permits_of(client, together[i]);
        rlock_permit permit;
        bool set = false, deleted = false;
        assert_ok(rlock_permit_semaphore_try_set_permits(permits, 2, &set));
        assert_ok(rlock_permit_semaphore_acquire(permits, 30000, &permit));
        assert_ok(rlock_permit_semaphore_release(permits, permit.id));
        assert_ok(rlock_permit_semaphore_delete(permits, &deleted));
        cr_assert(set && deleted);
    }
}

/* Redisson's latch has braces around its whole name. */
Test(cluster_names, with_braces_are_refused_for_a_latch_only_where_messages_go_by_slot)
{
    shards_start(MASTERS, 0, NULL);
    if (!shards_go_by_slot())
        cr_skip_test("servers without messages by slot");
    assert_refused("latch", rlock_get_count_down_latch(shards_client(NULL), "a{b}"), "a{b}", "shardedSubscriptionMode");
    rlock_count_down_latch *latch = latch_of(shards_client("shardedSubscriptionMode=OFF"), "a{b}");
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_ok(rlock_count_down_latch_await(latch));
    cr_assert(set);
}

Test(cluster_names, of_a_single_server_may_have_any_braces)
{
    stage_open();
    for (size_t i = 0; i < COUNT(split); i++) {
        for (size_t k = 0; k < KINDS; k++) {
            rlock *lock = kind_of(all_kinds[k], stage.client, split[i]);
            assert_ok(rlock_lock(lock));
            assert_ok(rlock_unlock(lock));
        }
    }
}

/* The prefix is part of what the cluster goes by. */
Test(cluster_names, are_judged_with_the_client_s_prefix)
{
    shards_start(MASTERS, 0, NULL);
    rlock_client *tagged = shards_client("namePrefix={app}:"), *open = shards_client("namePrefix=app{:");
    rlock *lock = lock_of(tagged, "a}b");
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(cluster_at(shards.cluster, "{app}"), "EXISTS {app}:a}b") == 1);
    assert_ok(rlock_unlock(lock));
    assert_refused("lock", rlock_get_lock(open, "x"), "app{:x", "slot");
    assert_ok(rlock_lock(lock_of(open, "x}")));
}
