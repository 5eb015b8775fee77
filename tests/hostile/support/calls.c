/* Calls: every operation of every object, with arguments that dice choose. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/calls.h"

#include <rlock/listener.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ONE_OF(by, list) (list)[dice_roll((by), (int)(sizeof(list) / sizeof *(list)))]

/* --- handles --- */

/* Few names, so that threads meet; one of them is of a lock and of everything else. */
static const char *const names[] = {"a", "b", "c"};

static rlock *side(rlock_client *client, const char *name, rlock *(*get)(rlock_read_write_lock *))
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(client, name);
    rlock *lock = pair ? get(pair) : NULL;
    rlock_read_write_lock_free(pair);
    return lock;
}

static int add_locks(rlock **to, rlock_client *client, const char *name)
{
    static rlock *(*const kinds[])(rlock_client *, const char *) = {
        rlock_get_lock, rlock_get_spin_lock, rlock_get_fair_lock, rlock_get_fenced_lock,
        rlock_get_non_reentrant_lock, rlock_get_non_reentrant_fair_lock};
    char own[32];
    int count = 0;
    for (; count < 5; count++) {
        snprintf(own, sizeof own, "%s%d", name, count % 4); /* two kinds have the same name */
        to[count] = kinds[count + (*name == 'c')](client, own);
    }
    snprintf(own, sizeof own, "%s:rw", name);
    to[count++] = side(client, own, rlock_read_lock);
    to[count++] = side(client, own, rlock_write_lock);
    snprintf(own, sizeof own, "%s:t", name);
    to[count++] = rlock_get_token_lock(client, own);
    snprintf(own, sizeof own, "{%s}:l", name);
    to[count++] = rlock_get_signal_lock(client, own);
    return count;
}

/* Two values, of which each lock has one in common with the others; the group has the name of a lock. */
static rlock *group(rlock_client *client, int which)
{
    const int64_t values[] = {which, (which + 1) % CALLS_OBJECTS};
    return rlock_get_group_lock_of_longs(client, "b0", RLOCK_CODEC_KRYO5, values, 2);
}

bool handles_make(handles *self, rlock_client *client)
{
    int count = 0;
    *self = (handles){.client = client};
    for (int i = 0; i < CALLS_OBJECTS; i++) {
        char own[32];
        count += add_locks(self->locks + count, client, names[i]);
        snprintf(own, sizeof own, i ? "%s:n" : "%s0", names[i]);
        self->semaphores[i] = rlock_get_semaphore(client, own);
        self->latches[i] = rlock_get_count_down_latch(client, own);
        self->permit_semaphores[i] = rlock_get_permit_expirable_semaphore(client, i ? names[i] : "a0");
    }
    bool made = true;
    for (int i = 0; i < CALLS_OBJECTS; i++)
        self->locks[count++] = group(client, i);
    for (int i = 0; i < count; i++)
        made = made && self->locks[i];
    for (int i = 0; i < CALLS_OBJECTS; i++)
        made = made && self->semaphores[i] && self->latches[i] && self->permit_semaphores[i];
    rlock *const several[] = {self->locks[0], self->locks[11], self->locks[22], self->locks[9], self->locks[count - 1]};
    self->locks[count++] = made ? rlock_get_multi_lock(several, 5) : NULL;
    self->locks[count++] = made ? rlock_get_red_lock(several, 3) : NULL;
    self->locks[count] = made ? rlock_for_owner(self->locks[1], 7) : NULL;
    return made && self->locks[count - 2] && self->locks[count - 1] && self->locks[count];
}

void handles_free(handles *self)
{
    for (int i = 0; i < CALLS_LOCKS; i++)
        rlock_free(self->locks[i]);
    for (int i = 0; i < CALLS_OBJECTS; i++) {
        rlock_semaphore_free(self->semaphores[i]);
        rlock_permit_semaphore_free(self->permit_semaphores[i]);
        rlock_count_down_latch_free(self->latches[i]);
    }
    *self = (handles){0};
}

/* --- arguments --- */

static rlock *lock(caller *self)
{
    return self->with->locks[dice_roll(&self->dice, CALLS_LOCKS)];
}

static rlock_semaphore *semaphore(caller *self)
{
    return self->with->semaphores[dice_roll(&self->dice, CALLS_OBJECTS)];
}

static rlock_permit_semaphore *permits(caller *self)
{
    return self->with->permit_semaphores[dice_roll(&self->dice, CALLS_OBJECTS)];
}

static rlock_count_down_latch *latch(caller *self)
{
    return self->with->latches[dice_roll(&self->dice, CALLS_OBJECTS)];
}

static int64_t wait_ms(caller *self)
{
    static const int64_t waits[] = {0, 0, 0, 0, 0, -1, 1, 5, 20, 50};
    return ONE_OF(&self->dice, waits);
}

static int64_t lease_ms(caller *self)
{
    static const int64_t leases[] = {RLOCK_WATCHDOG, RLOCK_WATCHDOG, 1, 20, 100, 1000, 60000, RLOCK_LEASE_MAX_MS};
    return ONE_OF(&self->dice, leases);
}

static int number(caller *self)
{
    static const int numbers[] = {0, 1, 1, 1, 2, 3, 100, 100000, 2147483647};
    return ONE_OF(&self->dice, numbers);
}

static rlock_permit *place(caller *self, int count)
{
    return &self->permits[dice_roll(&self->dice, CALLS_PERMITS - count + 1)];
}

static void find(caller *self, const char *wrong)
{
    if (!self->wrong)
        self->wrong = wrong;
}

/* --- locks --- */

static rlock_status try_lock(caller *self)
{
    return rlock_try_lock(lock(self), wait_ms(self), lease_ms(self));
}

static rlock_status lock_with(caller *self)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = self->cancel;
    options.lease_ms = lease_ms(self);
    options.wait_ms = dice_roll(&self->dice, 8) ? wait_ms(self) : RLOCK_FOREVER;
    options.named_owner = dice_roll(&self->dice, 3) == 0;
    options.owner = dice_roll(&self->dice, 3);
    return rlock_lock_with(lock(self), &options);
}

static rlock_status lock_for_ever(caller *self)
{
    return dice_roll(&self->dice, 2) ? rlock_lock(lock(self)) : rlock_lock_lease(lock(self), 100);
}

static rlock_status lock_and_get_token(caller *self)
{
    uint64_t token;
    return rlock_try_lock_and_get_token(lock(self), wait_ms(self), lease_ms(self), &token);
}

static rlock_status get_token(caller *self)
{
    uint64_t token;
    return rlock_get_token(lock(self), &token);
}

static rlock_status unlock(caller *self)
{
    return rlock_unlock(lock(self));
}

static rlock_status unlock_all(caller *self)
{
    rlock_status status = RLOCK_OK;
    for (int i = 0; i < CALLS_LOCKS; i++)
        status = rlock_unlock(self->with->locks[i]);
    return status;
}

static rlock_status extend(caller *self)
{
    return rlock_extend(lock(self), lease_ms(self));
}

static rlock_status force_unlock(caller *self)
{
    bool was_locked;
    return rlock_force_unlock(lock(self), &was_locked);
}

static rlock_status with(caller *self)
{
    rlock_status status = RLOCK_OK;
    rlock *named = rlock_for_owner(self->with->locks[dice_roll(&self->dice, CALLS_LOCKS)], dice_roll(&self->dice, 5));
    if (rlock_try_lock(named, wait_ms(self), lease_ms(self)) == RLOCK_OK)
        status = rlock_unlock(named);
    rlock_free(named);
    return status;
}

static rlock_status questions(caller *self)
{
    rlock *about = lock(self);
    bool flag;
    int count;
    int64_t ms;
    switch (dice_roll(&self->dice, 5)) {
    case 0:
        return rlock_is_locked(about, &flag);
    case 1:
        return rlock_remain_time_to_live(about, &ms);
    case 2:
        return rlock_is_held(about, &flag);
    case 3:
        return rlock_get_hold_count(about, &count);
    default:
        if (rlock_valid_for(about) < 0)
            find(self, "rlock_valid_for() answered less than 0");
        return RLOCK_OK;
    }
}

static void look_at(caller *self, const rlock_inspection *found)
{
    size_t length = strlen(found->kind);
    for (size_t i = 0; i < found->holder_count; i++)
        length += strlen(found->holders[i].owner) + (found->holders[i].side ? strlen(found->holders[i].side) : 0);
    for (size_t i = 0; i < found->waiter_count; i++)
        length += strlen(found->waiters[i].owner);
    for (size_t i = 0; i < found->permit_count; i++)
        length += strlen(found->permits[i].id);
    if (length == 0)
        find(self, "rlock_inspect() found nothing at all");
}

static rlock_status inspect(caller *self)
{
    rlock_inspection *found = NULL;
    rlock_status status = rlock_inspect(self->with->client, rlock_semaphore_name(semaphore(self)), &found);
    if ((status == RLOCK_OK) != (found != NULL))
        find(self, "rlock_inspect() left its answer in doubt");
    if (found)
        look_at(self, found);
    rlock_inspection_free(found);
    return status;
}

static void look_for_processes(caller *self, const char *name, rlock_inspection *found)
{
    size_t length = 0;
    if (rlock_inspect_processes(self->with->client, name, found) != RLOCK_OK && found->process_count)
        find(self, "rlock_inspect_processes() failed and found something");
    for (size_t i = 0; i < found->process_count; i++)
        length += strlen(found->processes[i]->client) + strlen(found->processes[i]->host) + strlen(found->processes[i]->address);
    for (size_t i = 0; i < found->holder_count; i++) {
        const rlock_process *process = rlock_inspection_process(found, found->holders[i].owner);
        if (process && strncmp(process->client, found->holders[i].owner, strlen(process->client)) != 0)
            find(self, "rlock_inspection_process() found another's process");
    }
    if (found->process_count && length == 0)
        find(self, "rlock_inspect_processes() found nothing at all");
}

/* How many names a server may send before the search is ended: the cursor of a hostile one may lead on and on. */
#define NAMES_MOST 20

typedef struct search {
    caller *by;
    int names;
} search;

static bool find_one(const char *name, void *arg)
{
    search *self = arg;
    if (!*name)
        find(self->by, "rlock_find() found a name that is empty");
    return ++self->names < NAMES_MOST;
}

static rlock_status find_names(caller *self)
{
    static const rlock_find_what kinds[] = {RLOCK_FIND_LOCKS, RLOCK_FIND_STRINGS};
    search found = {.by = self};
    return rlock_find(self->with->client, "a*", ONE_OF(&self->dice, kinds), find_one, &found);
}

static void look_at_server(const rlock_server *server, void *arg)
{
    if (!server->address || server->clock_error_ms < 0)
        find(arg, "rlock_examine() told of a server that is none");
}

static rlock_status examine(caller *self)
{
    return rlock_examine(self->with->client, look_at_server, self);
}

static rlock_status inspect_lock(caller *self)
{
    rlock_inspection *found = NULL;
    const char *name = rlock_name(self->with->locks[dice_roll(&self->dice, 21)]);
    rlock_status status = rlock_inspect(self->with->client, name, &found);
    if (found) {
        look_at(self, found);
        look_for_processes(self, name, found);
    }
    rlock_inspection_free(found);
    return status;
}

/* --- semaphores --- */

static rlock_status acquire(caller *self)
{
    return rlock_semaphore_try_acquire(semaphore(self), number(self), wait_ms(self));
}

static rlock_status acquire_with(caller *self)
{
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.cancel = self->cancel;
    return rlock_semaphore_acquire_with(semaphore(self), 1 + dice_roll(&self->dice, 2), &options);
}

static rlock_status acquire_for_ever(caller *self)
{
    return rlock_semaphore_acquire(semaphore(self), 1);
}

static rlock_status release(caller *self)
{
    bool released;
    return dice_roll(&self->dice, 2) ? rlock_semaphore_release(semaphore(self), 1 + dice_roll(&self->dice, 3))
                                     : rlock_semaphore_release_if_exists(semaphore(self), 1, &released);
}

static rlock_status change_semaphore(caller *self)
{
    bool flag;
    int count;
    switch (dice_roll(&self->dice, 6)) {
    case 0:
        return rlock_semaphore_try_set_permits(semaphore(self), number(self), &flag);
    case 1:
        return rlock_semaphore_try_set_permits_ttl(semaphore(self), number(self), 1000, &flag);
    case 2:
        return rlock_semaphore_add_permits(semaphore(self), dice_roll(&self->dice, 5) - 2);
    case 3:
        return rlock_semaphore_drain_permits(semaphore(self), &count);
    case 4:
        return rlock_semaphore_available_permits(semaphore(self), &count);
    default:
        return rlock_semaphore_delete(semaphore(self), &flag);
    }
}

/* --- permits --- */

static rlock_status take_permit(caller *self)
{
    static const int64_t leases_ms[] = {RLOCK_PERMIT_FOREVER, RLOCK_PERMIT_WATCHDOG, 1000};
    return rlock_permit_semaphore_try_acquire(permits(self), wait_ms(self), leases_ms[dice_roll(&self->dice, 3)],
                                              place(self, 1));
}

static rlock_status take_permits(caller *self)
{
    return rlock_permit_semaphore_try_acquire_many(permits(self), 3, wait_ms(self), 1000, place(self, 3));
}

static rlock_status take_permits_with(caller *self)
{
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    options.cancel = self->cancel;
    return rlock_permit_semaphore_acquire_with(permits(self), 2, &options, place(self, 2));
}

static rlock_status take_permits_for_ever(caller *self)
{
    return dice_roll(&self->dice, 2) ? rlock_permit_semaphore_acquire(permits(self), 1000, place(self, 1))
                                     : rlock_permit_semaphore_acquire_many(permits(self), 2, 1000, place(self, 2));
}

static rlock_status give_permit(caller *self)
{
    bool released;
    return dice_roll(&self->dice, 2) ? rlock_permit_semaphore_release(permits(self), place(self, 1)->id)
                                     : rlock_permit_semaphore_try_release(permits(self), place(self, 1)->id, &released);
}

static rlock_status give_permits(caller *self)
{
    int released;
    return dice_roll(&self->dice, 2)
               ? rlock_permit_semaphore_release_many(permits(self), 3, place(self, 3))
               : rlock_permit_semaphore_try_release_many(permits(self), 2, place(self, 2), &released);
}

static rlock_status change_permits(caller *self)
{
    bool flag;
    int count;
    int64_t ms;
    switch (dice_roll(&self->dice, 9)) {
    case 0:
        return rlock_permit_semaphore_try_set_permits(permits(self), number(self), &flag);
    case 1:
        return rlock_permit_semaphore_set_permits(permits(self), number(self));
    case 2:
        return rlock_permit_semaphore_add_permits(permits(self), dice_roll(&self->dice, 5) - 2);
    case 3:
        return rlock_permit_semaphore_update_lease_time(permits(self), place(self, 1)->id, 1000, &flag);
    case 4:
        return rlock_permit_semaphore_get_lease_time(permits(self), place(self, 1)->id, &ms);
    case 5:
        return rlock_permit_semaphore_available_permits(permits(self), &count);
    case 6:
        return rlock_permit_semaphore_acquired_permits(permits(self), &count);
    case 7:
        return rlock_permit_semaphore_get_permits(permits(self), &count);
    default:
        return rlock_permit_semaphore_delete(permits(self), &flag);
    }
}

/* --- latches --- */

static rlock_status await(caller *self)
{
    return rlock_count_down_latch_try_await(latch(self), wait_ms(self));
}

static rlock_status await_with(caller *self)
{
    rlock_await_options options = RLOCK_AWAIT_OPTIONS_INIT;
    options.cancel = self->cancel;
    return rlock_count_down_latch_await_with(latch(self), &options);
}

static rlock_status await_for_ever(caller *self)
{
    return rlock_count_down_latch_await(latch(self));
}

static rlock_status change_latch(caller *self)
{
    bool flag;
    int64_t count;
    switch (dice_roll(&self->dice, 4)) {
    case 0:
        return rlock_count_down_latch_try_set_count(latch(self), dice_roll(&self->dice, 4), &flag);
    case 1:
        return rlock_count_down_latch_count_down(latch(self));
    case 2:
        return rlock_count_down_latch_get_count(latch(self), &count);
    default:
        return rlock_count_down_latch_delete(latch(self), &flag);
    }
}

static rlock_status change_object(caller *self)
{
    bool flag;
    int64_t ms;
    rlock_object *objects[] = {rlock_semaphore_object(semaphore(self)), rlock_permit_semaphore_object(permits(self)),
                               rlock_count_down_latch_object(latch(self))};
    rlock_object *object = ONE_OF(&self->dice, objects);
    rlock_expire_when when = (rlock_expire_when)dice_roll(&self->dice, 5);
    switch (dice_roll(&self->dice, 8)) {
    case 0:
        return rlock_object_exists(object, &flag);
    case 1:
        return rlock_object_expire(object, lease_ms(self), when, &flag);
    case 2:
        return rlock_object_expire_at(object, lease_ms(self), when, &flag);
    case 3:
        return rlock_object_clear_expire(object, &flag);
    case 4:
        return rlock_object_remain_time_to_live(object, &ms);
    case 5:
        return rlock_object_get_expire_time(object, &ms);
    case 6:
        return rlock_object_rename(object, ONE_OF(&self->dice, names));
    default:
        return rlock_object_rename_if_absent(object, ONE_OF(&self->dice, names), &flag);
    }
}

/* --- listeners --- */

static void note(const rlock_event *of, void *arg)
{
    atomic_int *heard = arg;
    atomic_fetch_add(heard, of->kind == RLOCK_EVENT_DELETED || of->kind == RLOCK_EVENT_EXPIRED);
}

static rlock_status hear(caller *self)
{
    atomic_int heard = 0;
    rlock_listener *listener;
    rlock_status status = rlock_add_listener(lock(self), note, &heard, &listener);
    if (status == RLOCK_OK)
        rlock_remove_listener(listener);
    return status;
}

/* --- all of them --- */

static const call calls[] = {
    {"try_lock", 20, false, try_lock},
    {"lock_with", 8, false, lock_with},
    {"lock", 1, true, lock_for_ever},
    {"lock_and_get_token", 5, false, lock_and_get_token},
    {"get_token", 2, false, get_token},
    {"unlock", 24, false, unlock},
    {"unlock, all", 1, false, unlock_all},
    {"extend", 2, false, extend},
    {"force_unlock", 2, false, force_unlock},
    {"try_lock and unlock by a named owner", 6, false, with},
    {"questions about a lock", 6, false, questions},
    {"inspect", 2, false, inspect},
    {"inspect a lock", 4, false, inspect_lock},
    {"find", 2, false, find_names},
    {"examine", 2, false, examine},
    {"semaphore_try_acquire", 4, false, acquire},
    {"semaphore_acquire_with", 1, false, acquire_with},
    {"semaphore_acquire", 1, true, acquire_for_ever},
    {"semaphore_release", 4, false, release},
    {"changes of a semaphore", 5, false, change_semaphore},
    {"permit_semaphore_try_acquire", 4, false, take_permit},
    {"permit_semaphore_try_acquire_many", 3, false, take_permits},
    {"permit_semaphore_acquire_with", 1, false, take_permits_with},
    {"permit_semaphore_acquire", 1, true, take_permits_for_ever},
    {"permit_semaphore_release", 4, false, give_permit},
    {"permit_semaphore_release_many", 4, false, give_permits},
    {"changes of a permit semaphore", 6, false, change_permits},
    {"latch_try_await", 3, false, await},
    {"latch_await_with", 1, false, await_with},
    {"latch_await", 1, true, await_for_ever},
    {"changes of a latch", 5, false, change_latch},
    {"time to live and name of an object", 3, false, change_object},
    {"add_listener", 1, false, hear},
};
enum { CALLS = sizeof calls / sizeof *calls };

const call *calls_choose(dice *by, bool endless)
{
    int weights[CALLS];
    for (int i = 0; i < CALLS; i++)
        weights[i] = calls[i].endless && !endless ? 0 : calls[i].weight;
    return &calls[dice_weighted(by, weights, CALLS)];
}

static bool is_one_line(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
}

rlock_status calls_run(const call *of, caller *self)
{
    rlock_status status = of->run(self);
    if (strcmp(rlock_strstatus(status), "unknown status") == 0)
        find(self, "a status that is none");
    if (status == RLOCK_FORKED || status == RLOCK_NO_MEMORY)
        find(self, "a status for which there is no reason");
    if (!is_one_line(rlock_last_error()))
        find(self, "a message with control characters");
    return status;
}
