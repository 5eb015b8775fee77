/* Outcome: the messages and exit statuses for acquiring what a command runs under, and for releasing it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/outcome.h"

#include "cli/exits.h"

#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

static const char *permits(const cli_hold *hold)
{
    return hold->permits == 1 ? "permit" : "permits";
}

/* The semaphore must exist: a wait for permits of a semaphore that nobody creates would not end. */
int outcome_find_semaphore(rlock_client *client, cli_hold *hold, const char *name, int set_permits)
{
    rlock_inspection *found = NULL;
    rlock_status status = set_permits ? hold_set_permits(hold, set_permits) : rlock_inspect(client, name, &found);
    bool there = !found || found->ttl_ms != RLOCK_NOT_THERE || found->has_permits;
    rlock_inspection_free(found);
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    else if (!there)
        complain("there is no semaphore \"%s\"; --set-permits N makes one", hold->shown);
    return there ? exit_for(status) : EXIT_REFUSED;
}

int outcome_not_held(const cli_hold *hold, rlock_status status, int signal)
{
    if (signal && status != RLOCK_UNKNOWN) {
        complain("%s ended the wait for the %s \"%s\"", strsignal(signal), hold_word(hold), hold->shown);
        return EXIT_SIGNAL + signal;
    }
    if (status == RLOCK_TIMEOUT && hold->lock)
        complain("could not acquire the lock \"%s\" in time; rlock inspect shows its holder", hold->shown);
    else if (status == RLOCK_TIMEOUT)
        complain("the semaphore \"%s\" did not have %d %s in time; rlock inspect shows how many it has", hold->shown,
                 hold->permits, permits(hold));
    else if (status == RLOCK_UNKNOWN)
        complain("the semaphore \"%s\" may have %d %s less now, for nothing: %s", hold->shown, hold->permits,
                 permits(hold), rlock_last_error());
    else if (status == RLOCK_LOST && hold->leased)
        complain("the permit \"%s\" was lost before the command began", hold->shown);
    else
        complain("%s", rlock_last_error());
    return exit_for(status);
}

/* If the server refuses PUBLISH, the lock may be free although the release failed: the script deletes the key first. */
static bool is_free(const cli_hold *hold)
{
    bool locked = true;
    return rlock_is_locked(hold->lock, &locked) == RLOCK_OK && !locked;
}

static void complain_of_lock(const cli_hold *hold, rlock_status status)
{
    char why[512];
    snprintf(why, sizeof why, "%s", rlock_last_error());
    if (status == RLOCK_LOST)
        complain("the lock \"%s\" was lost before the command ended: %s", hold->shown, why);
    else if (status == RLOCK_SERVER && is_free(hold))
        complain(
            "the lock \"%s\" is free, but its release failed after that, so those who wait for it may wait until its "
            "TTL would have ended: %s",
            hold->shown, why);
    else
        complain(
            "the lock \"%s\" could not be given back, so others wait until its TTL ends, or until rlock force-unlock: %s",
            hold->shown, why);
}

/* Permits of a plain semaphore have no lease, so the user must know that they are still taken. */
static void complain_of_permits(const cli_hold *hold, rlock_status status)
{
    if (status == RLOCK_LOST)
        complain("the permit \"%s\" was lost before the command ended", hold->shown);
    else if (status == RLOCK_UNKNOWN)
        complain("whether the semaphore \"%s\" has its %d %s back is not known: %s", hold->shown, hold->permits,
                 permits(hold), rlock_last_error());
    else
        complain("the semaphore \"%s\" does not have its %d %s back%s: %s", hold->shown, hold->permits, permits(hold),
                 hold->leased ? " before their lease ends" : "", rlock_last_error());
}

/* The command's exit status is kept, unless another owner may have held the lock while the command ran. */
int outcome_give_back(cli_hold *hold, int code)
{
    bool lost = code == EXIT_LOST && hold_valid_for(hold) <= 0;
    if (lost && hold->leased)
        hold_give_back(hold); /* of several permits, releases those that are left */
    if (lost)
        return code;
    rlock_status status = hold_give_back(hold);
    if (status == RLOCK_OK)
        return code;
    if (hold->lock)
        complain_of_lock(hold, status);
    else
        complain_of_permits(hold, status);
    return status == RLOCK_LOST ? EXIT_LOST : code;
}
