/* Calls for names whose slot is on its way to another node, cut off between ASKING and the answer to what was
 * asked there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut_calls.h"
#include "tests/fault/support/fronts.h"
#include "tests/integration/support/stage.h"
#include "tests/support/cluster.h"
#include "tests/support/test.h"

static cluster *moving;

static void open_moving(void)
{
    fronts_begin();
    moving = cluster_start(2, 0, NULL);
    const char *key = cluster_key(moving, 0, "n");
    cluster_move_begin(moving, cluster_slot(key), 1);
    server *to = cluster_node(moving, 1);
    cuts_open_asking(to, front_of(to), cluster_url(moving), key);
}

static void close_moving(void)
{
    cuts_close_asking();
    fronts_end();
    cluster_stop(moving);
}

TestSuite(cut_asking, .init = open_moving, .fini = close_moving);

static void drop(cell *self, bool done)
{
    int permits = -1;
    (void)done;
    assert_ok(rlock_semaphore_available_permits(self->semaphore, &permits));
    past(self, "DEL %s");
}

static const operation locks[] = {
    {"try", &kind_reentrant, NULL, try_lock, .undone = true, .brief = true, .says = -1, .has = 1},
    {"second try", &kind_reentrant, NULL, try_lock, .brief = true, .says = -1, .had = 1, .has = 2},
    {"last unlock", &kind_reentrant, NULL, unlock, .ends = true, .says = -1, .had = 1},
};

static const operation semaphores[] = {
    {"acquire", NULL, five, try_acquire, drop, .once = true, .says = -1, .is = FIVE, .becomes = "N string 3\n"},
    {"release", NULL, five, release, drop, .once = true, .says = -1, .is = FIVE, .becomes = "N string 7\n"},
};

Test(cut_asking, lock_is_held_once_or_not_at_all_however_it_is_cut)
{
    cut_operations(locks, COUNT(locks));
}

Test(cut_asking, semaphore_counts_no_permit_twice_however_a_call_is_cut)
{
    cut_operations(semaphores, COUNT(semaphores));
}

/* The word before the request is lost, or its answer not whole: the request may have followed it by then. */
Test(cut_asking, lock_is_held_once_when_the_word_before_its_request_is_cut)
{
    for (size_t i = 0; i < COUNT(locks); i++) {
        rlock_client *client = cut_client(CUT_CALM);
        for (int bytes = 0; bytes <= 5; bytes++) { /* +OK\r\n */
            cut_with(&locks[i], client, &(proxy_rule){PROXY_CUT_BEFORE, "ASKING", .times = 1, .amount = bytes}, false);
            cut_with(&locks[i], client, &(proxy_rule){PROXY_CUT_AFTER, "ASKING", .times = 1, .amount = bytes}, false);
        }
        cut_end(client);
    }
}
