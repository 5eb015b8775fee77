/* Tokens of red locks under faults: what becomes of a member that is gone when its counter is to be raised. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/losses.h"

TestSuite(red_token, .init = scene_open, .fini = scene_close);

#define LEASE_MS 60000 /* nothing is renewed: only an answer says that a member is gone */

TimedTest(red_token, member_that_is_gone_when_its_counter_is_raised_is_lost)
{
    static const char *const names[] = {"alpha", "beta", "gamma"};
    rlock *members[3];
    losses told;
    losses_init(&told);
    rlock_on_lost(scene.client, losses_note, &told);
    for (int i = 0; i < 3; i++)
        members[i] = stage_keep(rlock_get_fenced_lock(scene.client, names[i]));
    rlock *red = stage_keep(rlock_get_red_lock(members, 3));
    freeReplyObject(server_command(stage.server, "SET redisson_lock_token:{alpha} 100"));
    int raise = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REQUEST,
                                                     .text = rli_script_fenced_raise.sha1[RLI_COUNTED],
                                                     .and_text = "gamma",
                                                     .times = 1});
    actor *holder = actor_start();
    actor_begin_try(holder, red, 0, LEASE_MS);
    cr_assert(proxy_await(scene.proxy, raise, PROXY_ACTED, 1, 5000), "no counter is raised: nothing is tested");
    freeReplyObject(server_command(stage.server, "DEL gamma"));
    proxy_release(scene.proxy, raise);
    assert_ok(actor_finish(holder, 5000));
    cr_assert(actor_valid_for(holder, red) > 0, "two of three are a majority");
    cr_assert(actor_valid_for(holder, members[2]) == 0, "it relies on a member that the server said is gone");
    losses_await(&told, 1, 1000);
    cr_assert(strcmp(told.all[0].name, "gamma") == 0 && told.all[0].reason == RLOCK_LOST_GONE);
    assert_ok(actor_unlock(holder, red));
    actor_end(holder);
}
