/* Taken: what an acquire of a multi lock has taken so far, and how long that is valid. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/taken.h"

#include "base/clock.h"

/* Looking at each member costs time for each: not more often than this. */
#define RECENT_MS 10

void rli_taken_begin(rli_taken *taken)
{
    taken->count = 0;
    taken->valid_until_ms = RLI_NEVER;
    taken->checked_ms = rli_now_ms();
}

uint64_t rli_taken_session(const rli_taken *taken, size_t i)
{
    return taken->sessions[i];
}

static int64_t member_valid_ms(const rli_taken *taken, size_t i)
{
    return rli_composite_valid_in(taken->on, rli_row_at(taken->row, i), rli_taken_session(taken, i));
}

void rli_taken_add(rli_taken *taken, uint64_t session_number)
{
    size_t i = taken->count++;
    taken->sessions[i] = session_number;
    taken->valid_until_ms = rli_earlier(taken->valid_until_ms, rli_after_ms(member_valid_ms(taken, i)));
}

int64_t rli_taken_check(rli_taken *taken)
{
    int64_t least_ms = RLI_NEVER;
    for (size_t i = 0; i < taken->count && least_ms > 0; i++)
        least_ms = rli_earlier(least_ms, member_valid_ms(taken, i));
    taken->checked_ms = rli_now_ms();
    taken->valid_until_ms = least_ms == RLI_NEVER ? RLI_NEVER : taken->checked_ms + least_ms;
    return least_ms;
}

int64_t rli_taken_valid_ms(rli_taken *taken, int64_t enough_ms)
{
    int64_t now_ms = rli_now_ms();
    if (taken->valid_until_ms == RLI_NEVER)
        return RLI_NEVER;
    int64_t left_ms = taken->valid_until_ms - now_ms;
    if (left_ms > enough_ms || (left_ms > 0 && now_ms - taken->checked_ms < RECENT_MS))
        return left_ms;
    return rli_taken_check(taken);
}

rli_job rli_taken_release(const rli_taken *taken, size_t i)
{
    rli_job job = rli_composite_job(taken->on, RLI_JOB_RELEASE, RLI_COMPOSITE_ANSWER_MS);
    job.only = rli_taken_session(taken, i);
    return job;
}
