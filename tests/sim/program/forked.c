/* Forks: a child of a process of the plan. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/forked.h"

#include "tests/sim/actors/actor.h"
#include "tests/sim/check/heard.h"
#include "tests/sim/check/losses.h"
#include "tests/sim/check/watch.h"
#include "tests/sim/program/flights.h"
#include "tests/sim/program/lock_of.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/process.h"

#include <unistd.h>

/* With a client of the child's own: its lock is renewed as any other's, though its thread had locked before the fork. */
static void use_own_client(const worker *self)
{
    rlock_client *client = NULL;
    bool held = false;
    if (rlock_client_open(&client, servers_url("lockWatchdogTimeout=1000")) != RLOCK_OK)
        return;
    rlock *lock = rlock_get_lock(client, "child");
    rlock_status status = lock ? rlock_lock(lock) : RLOCK_NO_MEMORY;
    if (status == RLOCK_OK) {
        thread_sleep(self, world_now_ns() + INT64_C(3000000000), 0, "its lock to be renewed");
        if (run_is_calm() && (rlock_valid_for(lock) == 0 || rlock_is_held(lock, &held) != RLOCK_OK || !held))
            finding("the lock of a forked child was not renewed: %s", rlock_last_error());
        status = rlock_unlock(lock);
        if (run_is_calm() && status != RLOCK_OK)
            finding("a forked child's unlock answered %s: %s", rlock_strstatus(status), rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
}

static void call_in_child(worker *self, const plan_step *step)
{
    for (int i = 0; i < run_worker_count(); i++)
        run_worker(i)->waits_for = -1; /* its parent's threads are not there */
    actors_forget();
    losses_forget();
    heard_forget();
    watch_in_child();
    rlock *lock = self->locks[step->object][0];
    if (lock && (rlock_try_lock(lock, 0, 1000) != RLOCK_FORKED || rlock_unlock(lock) != RLOCK_FORKED ||
                 rlock_valid_for(lock) != 0))
        finding("a forked child may use its parent's lock");
    flights_in_child(self->of);
    use_own_client(self);
    fflush(stdout);
    _exit(RUN_WELL);
}

void fork_and_call(worker *self, const plan_step *step)
{
    if (object_is_lock(self->of->plan->objects[step->object].kind))
        worker_lock(self, step->object, 0);
    timeline(thread_title(self->thread), "forks");
    pid_t pid = os_fork();
    if (pid == 0)
        call_in_child(self, step);
    if (pid > 0 && process_wait(pid) != RUN_WELL)
        finding("the run of a forked child ended with a finding");
}
