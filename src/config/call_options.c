/* Call options: the timeout and retries of one handle, where they differ from the client's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/call_options.h"

#include "base/error.h"
#include "base/sized.h"

#define MOST_ATTEMPTS    1000
#define MOST_INTERVAL_MS 3600000

static rlock_status check(const rlock_call_options *options, const rli_settings *settings)
{
    if (options->timeout_ms != -1 && (options->timeout_ms < 1 || options->timeout_ms > settings->timeout_ms))
        return rli_fail(
            RLOCK_INVALID,
            "the call options' timeout_ms is %lld; it must be from 1 to %lld, which is the client's timeout, or "
            "-1",
            (long long)options->timeout_ms, (long long)settings->timeout_ms);
    if (options->retry_attempts < -1 || options->retry_attempts > MOST_ATTEMPTS)
        return rli_fail(RLOCK_INVALID, "the call options' retry_attempts is %lld; it must be from 0 to %d, or -1",
                        (long long)options->retry_attempts, MOST_ATTEMPTS);
    if (options->retry_interval_ms < -1 || options->retry_interval_ms > MOST_INTERVAL_MS)
        return rli_fail(RLOCK_INVALID, "the call options' retry_interval_ms is %lld; it must be from 0 to %d, or -1",
                        (long long)options->retry_interval_ms, MOST_INTERVAL_MS);
    return RLOCK_OK;
}

rlock_status rli_call_options_read(rlock_call_options *own, const rlock_call_options *given,
                                   const rli_settings *settings, bool sets)
{
    static const rli_sized sized = RLI_SIZED(rlock_call_options, retry_interval_ms, "options",
                                             "RLOCK_CALL_OPTIONS_INIT");
    rlock_call_options full = RLOCK_CALL_OPTIONS_INIT;
    rlock_status status = rli_sized_read(&full, given, &sized);
    if (status == RLOCK_OK)
        status = check(&full, settings);
    if (status == RLOCK_OK && sets)
        *own = full;
    return status;
}
