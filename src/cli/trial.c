/* Trial: takes and frees locks, to see whether the user has all rights that locks need. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trial.h"

#include "base/clock.h"
#include "cli/options.h"

#include <rlock/lock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_MS 30000
/* Long enough for the other owner to subscribe, which is what it waits for: it asks for the lock, subscribes and asks
 * again, each of which takes no longer than an acquisition did, and this more. */
#define WAIT_MS      100
#define WAIT_MOST_MS (LEASE_MS / 6)
#define REQUESTS     4
/* After the wait the other owner leaves, and a question follows. If they take so much longer than acquisitions did, the
 * server or this process was late, and so may the subscription have been: then it waits again, for longer. */
#define REQUESTS_AFTER 3
#define LATE_MS        10
#define ROUNDS         3

/* The advice of the message before it, to give the user rights to the name, helps nobody: the trial made that up. */
#define OWN_NAME "; or give the beginning of the names that the user may use: rlock doctor NAME"

static rlock_status take(rlock *lock, int64_t wait_ms, rlock_cancel *cancel)
{
    rlock_lock_options how = RLOCK_LOCK_OPTIONS_INIT;
    how.wait_ms = wait_ms;
    how.lease_ms = LEASE_MS;
    how.cancel = cancel;
    return rlock_lock_with(lock, &how);
}

/* Has another owner try `lock`, which is taken, for `wait_ms`. Returns RLOCK_OK if it waited in vain, as it should. */
static rlock_status wait_in_vain(rlock *other, int64_t wait_ms, rlock_cancel *cancel)
{
    rlock_status status = take(other, wait_ms, cancel);
    if (status == RLOCK_OK) {
        status = rlock_unlock(other);
        return status == RLOCK_OK ? RLOCK_ALREADY_HELD : status; /* the lock let two in */
    }
    return status == RLOCK_TIMEOUT ? RLOCK_OK : status;
}

/* The same, but it tries again with a longer wait when the server answered late. `took_ms`: how long it took to acquire
 * the lock. */
static rlock_status wait_for(rlock *lock, int64_t took_ms, rlock_cancel *cancel)
{
    int64_t late_ms = took_ms, wait_ms = WAIT_MS;
    rlock *other = rlock_for_owner(lock, 1);
    if (!other)
        return RLOCK_NO_MEMORY;
    rlock_status status = RLOCK_OK;
    bool late = true, locked;
    for (int round = 0; status == RLOCK_OK && late && round < ROUNDS; round++) { /* the lease outlasts them all */
        int64_t began_ms = rli_now_ms();
        wait_ms = rli_earlier(wait_ms + REQUESTS * late_ms, WAIT_MOST_MS);
        status = wait_in_vain(other, wait_ms, cancel);
        if (status == RLOCK_OK)
            status = rlock_is_locked(other, &locked); /* a server that stood still answers this late */
        late_ms = rli_now_ms() - began_ms - wait_ms;
        late = late_ms > REQUESTS_AFTER * took_ms + LATE_MS;
    }
    rlock_free(other);
    return status;
}

/* What failed, and why. */
typedef struct failure {
    const char *step;
    char why[512];
} failure;

static void note(failure *found, const char *why)
{
    snprintf(found->why, sizeof found->why, "%s", why);
}

/* Acquires the free lock, ready to wait, which needs more rights; renews it, has another owner wait for `contended`,
 * releases. */
static rlock_status try(rlock *lock, rlock *contended, rlock_cancel *cancel, failure *found)
{
    found->step = "could not acquire";
    int64_t began_ms = rli_now_ms();
    rlock_status status = take(lock, WAIT_MS, cancel);
    int64_t took_ms = rli_now_ms() - began_ms;
    bool taken = status == RLOCK_OK;
    if (taken) {
        found->step = "could not renew";
        status = rlock_extend(lock, LEASE_MS);
    }
    if (status == RLOCK_OK) {
        found->step = "a wait failed";
        status = wait_for(contended, took_ms, cancel);
    }
    note(found, rlock_last_error());
    if (status == RLOCK_ALREADY_HELD && rlock_valid_for(lock) == 0) {
        status = RLOCK_LOST;
        note(found, "the lease ended in the middle: rlock was stopped, or waited long for the server");
    }
    rlock_status freed = taken ? rlock_unlock(lock) : RLOCK_OK;
    if (status != RLOCK_OK || freed == RLOCK_OK)
        return status;
    found->step = "could not release";
    note(found, rlock_last_error());
    return freed;
}

/* `named`: the user said what the name begins with. Returns false when the token has ended it. */
static bool try_kind(cli_findings *findings, rlock_client *client, const char *name, const cli_kind *kind, bool named,
                     rlock_cancel *cancel)
{
    char subject[40];
    failure found = {.step = "could not acquire"};
    snprintf(subject, sizeof subject, "trial of %s", kind->name);
    /* Readers share the lock, so a writer waits. */
    const cli_kind *other = strcmp(kind->name, "read") == 0 ? kind_find("write") : kind;
    rlock *lock = kind->lock(client, name), *contended = other->lock(client, name);
    rlock_status status = RLOCK_INVALID;
    if (lock && contended)
        status = try(lock, contended, cancel, &found);
    else
        note(&found, rlock_last_error());
    if (status == RLOCK_OK)
        finding(findings, FOUND_OK, "locks", subject, "acquired, renewed, waited for, released");
    else if (status == RLOCK_ALREADY_HELD)
        finding(findings, FOUND_PROBLEM, "locks", subject, "two owners held it at the same time");
    else if (status != RLOCK_CANCELLED)
        finding(findings, FOUND_PROBLEM, "locks", subject, "%s: %s%s", found.step, found.why,
                strstr(found.why, "NOPERM") && !named ? OWN_NAME : "");
    rlock_free(lock);
    rlock_free(contended);
    return status != RLOCK_CANCELLED;
}

void trial_run(cli_findings *findings, rlock_client *client, const char *name, rlock_cancel *cancel)
{
    static const char *const kinds[] = {"lock", "fair", "read", "write"};
    bool named = name != NULL;
    bool goes_on = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && goes_on; i++) {
        char *own = NULL;
        if (asprintf(&own, "%s%s:%s", named ? name : "rlock:doctor:", rlock_client_id(client), kinds[i]) < 0) {
            finding(findings, FOUND_PROBLEM, "locks", "trial", "out of memory");
            return;
        }
        goes_on = try_kind(findings, client, own, kind_find(kinds[i]), named, cancel);
        free(own);
    }
}
