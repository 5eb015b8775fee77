/* rlock_config of any version: its defaults and its size. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/error.h"
#include "base/sized.h"
#include "config/owned.h"

#include <stdlib.h>
#include <string.h>

/* Size of rlock_config in the releases before it had a size argument. It ended with a field that left no padding. */
#define FIRST_SIZE offsetof(rlock_config, addresses)
/* The least size that has room for `owned`. Every program that can load files has at least this. */
#define OWNER_SIZE (offsetof(rlock_config, owned) + sizeof(void *))

_Static_assert(FIRST_SIZE == offsetof(rlock_config, fair_lock_wait_timeout_ms) + sizeof(int64_t),
               "what an older program has behind its last field is not taken for a newer one");
_Static_assert(sizeof(rlock_config) == offsetof(rlock_config, codec) + sizeof(int), "nor what this one has");

static const rlock_config defaults = {
    .lock_watchdog_timeout_ms = 30000,
    .lock_watchdog_batch_size = 100,
    .timeout_ms = 3000,
    .connect_timeout_ms = 10000,
    .subscription_timeout_ms = 7500,
    .fair_lock_wait_timeout_ms = 300000,
    .retry_attempts = 4,
    .retry_base_delay_ms = 1000,
    .retry_max_delay_ms = 2000,
    .connection_pool_size = 8,
    .slaves_sync_timeout_ms = 1000,
    .dns_monitoring_interval_ms = 5000,
    .ping_connection_interval_ms = 30000,
    .check_lock_synced_slaves = true,
    .tcp_keep_alive = true,
    .unlock_waits = true,
    .loss_tracking = false,
    .loss_tracking_max_holds = 100000,
};

void rlock_config_init_size(rlock_config *config, size_t size)
{
    if (!config || size < sizeof config->size)
        return;
    /* The further fields of a newer program become 0. That program learns of its size when it opens a client. */
    memset(config, 0, size);
    memcpy(config, &defaults, size < sizeof defaults ? size : sizeof defaults);
    config->size = size;
}

/* For programs that were linked before rlock_config_init_size() existed. */
#undef rlock_config_init
void rlock_config_init(rlock_config *config)
{
    rlock_config_init_size(config, FIRST_SIZE);
}

rlock_status rli_config_read(rlock_config *full, const rlock_config *config)
{
    static const rli_sized sized = RLI_SIZED(rlock_config, fair_lock_wait_timeout_ms, "config",
                                             "rlock_config_init() or rlock_config_new()");
    *full = defaults;
    return rli_sized_read(full, config, &sized);
}

rlock_status rli_config_read_owner(rlock_config *full, const rlock_config *config)
{
    rlock_status status = rli_config_read(full, config);
    if (status == RLOCK_OK && full->size < OWNER_SIZE)
        return rli_fail(
            RLOCK_INVALID,
            "config->size is %zu, which has no room for texts that belong to the config; start "
            "with rlock_config_new(), or with rlock_config_init_size() as the macro rlock_config_init() does",
            full->size);
    return status;
}

void rli_config_write(rlock_config *config, const rlock_config *full)
{
    memcpy(config, full, full->size < sizeof *full ? full->size : sizeof *full);
}

rlock_config *rlock_config_new(void)
{
    rlock_config *config = malloc(sizeof *config);
    rlock_config_init_size(config, sizeof *config);
    if (!config)
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a config");
    return config;
}

void rlock_config_delete(rlock_config *config)
{
    rlock_config_free(config);
    free(config);
}

const char *rlock_config_warnings(const rlock_config *config)
{
    rlock_config full;
    return config && rli_config_read(&full, config) == RLOCK_OK && full.owned ? rli_owned_warnings(full.owned) : "";
}

void rlock_config_free(rlock_config *config)
{
    rlock_config full;
    if (!config || rli_config_read(&full, config) != RLOCK_OK)
        return;
    rli_owned_free(full.owned);
    rlock_config_init_size(config, full.size);
}
