/* Tally: how the members of a red lock answered a pass, which tries to take them, and what that means for the whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/tally.h"

#include "base/error.h"

#include <stdio.h>

void rli_tally_begin(rli_tally *tally, size_t members, size_t need)
{
    *tally = (rli_tally){.members = members, .need = need};
}

/* Whether a status ends the whole call. */
static bool is_final(rlock_status status)
{
    return status == RLOCK_CANCELLED || status == RLOCK_FORKED || status == RLOCK_NO_MEMORY;
}

/* Keeps the first status that waiting cannot change; RLOCK_UNAVAILABLE gives way to any other status. */
static void note_failure(rli_tally *tally, rlock_status status)
{
    tally->silent += status == RLOCK_UNAVAILABLE;
    tally->failed += status != RLOCK_UNAVAILABLE;
    if (tally->failure != RLOCK_OK && tally->failure != RLOCK_UNAVAILABLE)
        return;
    tally->failure = status;
    snprintf(tally->why, sizeof tally->why, "%s", rlock_last_error());
}

void rli_tally_count(rli_tally *tally, rlock_status status)
{
    if (status == RLOCK_OK)
        tally->granted++;
    else if (status == RLOCK_TIMEOUT)
        tally->refused++;
    else
        note_failure(tally, status);
    if (!is_final(status))
        return;
    tally->final = status;
    snprintf(tally->why, sizeof tally->why, "%s", rlock_last_error());
}

bool rli_tally_can_win(const rli_tally *tally)
{
    return tally->final == RLOCK_OK && tally->refused + tally->silent + tally->failed <= tally->members - tally->need;
}

bool rli_tally_has_won(const rli_tally *tally)
{
    return tally->granted >= tally->need;
}

/* Returns the status of a pass that has failed. RLOCK_TIMEOUT: others hold too many members, so waiting may
 * help. */
static rlock_status meaning(const rli_tally *tally, size_t valid)
{
    size_t spare = tally->members - tally->need;
    bool again = valid >= tally->need; /* it is held: members that are not are not asked, and stand in for no other */
    if (tally->refused > spare)
        return RLOCK_TIMEOUT;
    bool lost = tally->failure == RLOCK_LOST; /* counts as refused while the others still make a majority */
    if (lost && !again)
        return RLOCK_LOST;
    if (!lost && tally->failed > (again ? 0 : spare))
        return tally->failure;
    /* Those that did not answer could have made a majority. */
    return tally->silent > 0 && tally->refused + tally->failed <= spare ? RLOCK_UNAVAILABLE : RLOCK_TIMEOUT;
}

rlock_status rli_tally_say(const rli_tally *tally, size_t valid, int64_t lease_ms)
{
    if (tally->final != RLOCK_OK && !tally->in_vain)
        return rli_fail_text(tally->final, tally->why);
    if (tally->in_vain)
        return rli_fail(RLOCK_TIMEOUT,
                        "a red lock of %zu: the lease of %lld ms ended, or too little of it was left, before %zu "
                        "members were acquired",
                        tally->members, (long long)lease_ms, tally->need);
    rlock_status status = meaning(tally, valid);
    if (status != RLOCK_TIMEOUT)
        return rli_fail(status, "a red lock: %zu of %zu taken, %zu needed; %s", tally->granted, tally->members,
                        tally->need, tally->why);
    return rli_fail(RLOCK_TIMEOUT, "a red lock: %zu of %zu taken, %zu needed; %zu are held by other owners%s%s",
                    tally->granted, tally->members, tally->need, tally->refused, *tally->why ? "; " : "", tally->why);
}

bool rli_passes_end(rli_passes *passes, const rli_tally *tally, size_t valid, int64_t lease_ms, int attempts)
{
    rlock_status status = passes->status = rli_tally_say(tally, valid, lease_ms);
    snprintf(passes->said, sizeof passes->said, "%s", rlock_last_error());
    passes->silent = status == RLOCK_UNAVAILABLE ? passes->silent + 1 : 0;
    passes->vain = tally->in_vain ? passes->vain + 1 : 0;
    return (status == RLOCK_TIMEOUT && passes->vain < RLI_IN_VAIN) ||
           (status == RLOCK_UNAVAILABLE && passes->silent < attempts);
}
