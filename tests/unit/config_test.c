/* Settings: Redisson's defaults, and each value out of range refused by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/config/settings.h"
#include "tests/support/test.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

Test(config, defaults_are_redissons)
{
    rlock_config config;
    memset(&config, 0x5a, sizeof config);
    rlock_config_init(&config);
    cr_assert(config.size == sizeof config);
    cr_assert(!config.address && !config.username && !config.password && !config.client_name && !config.name_prefix);
    cr_assert(config.database == 0);
    cr_assert(config.lock_watchdog_timeout_ms == 30000);
    cr_assert(config.lock_watchdog_batch_size == 100);
    cr_assert(config.timeout_ms == 3000);
    cr_assert(config.connect_timeout_ms == 10000);
    cr_assert(config.subscription_timeout_ms == 7500);
    cr_assert(config.retry_attempts == 4);
    cr_assert(config.retry_base_delay_ms == 1000);
    cr_assert(config.retry_max_delay_ms == 2000);
    cr_assert(config.fair_lock_wait_timeout_ms == 300000);
    cr_assert(config.connection_pool_size == 8);
}

static rlock_config defaults(void)
{
    rlock_config config;
    rlock_config_init(&config);
    config.address = "redis://127.0.0.1:1";
    return config;
}

static void assert_refused(const rlock_config *config, const char *word)
{
    rlock_client *client = (rlock_client *)(void *)&client;
    assert_status(rlock_client_open_config(&client, config), RLOCK_INVALID);
    cr_assert(client == (rlock_client *)(void *)&client, "the client was set although opening it failed");
    cr_assert(strstr(rlock_last_error(), word) != NULL, "`%s` does not name %s", rlock_last_error(), word);
}

Test(config, each_number_out_of_range_is_refused_by_name)
{
    static const struct {
        size_t offset;
        bool wide;
        int64_t value;
        const char *name;
    } cases[] = {
        {offsetof(rlock_config, lock_watchdog_timeout_ms), true, 0, "lockWatchdogTimeout"},
        {offsetof(rlock_config, lock_watchdog_timeout_ms), true, 29, "lockWatchdogTimeout"},
        {offsetof(rlock_config, lock_watchdog_timeout_ms), true, INT64_MAX, "lockWatchdogTimeout"},
        {offsetof(rlock_config, lock_watchdog_batch_size), false, 0, "lockWatchdogBatchSize"},
        {offsetof(rlock_config, timeout_ms), true, 0, "timeout"},
        {offsetof(rlock_config, timeout_ms), true, -1, "timeout"},
        {offsetof(rlock_config, connect_timeout_ms), true, 0, "connectTimeout"},
        {offsetof(rlock_config, subscription_timeout_ms), true, 0, "subscriptionTimeout"},
        {offsetof(rlock_config, fair_lock_wait_timeout_ms), true, 0, "fairLockWaitTimeout"},
        {offsetof(rlock_config, retry_attempts), false, -1, "retryAttempts"},
        {offsetof(rlock_config, retry_base_delay_ms), true, -1, "retryBaseDelay"},
        {offsetof(rlock_config, retry_max_delay_ms), true, INT64_MIN, "retryMaxDelay"},
        {offsetof(rlock_config, connection_pool_size), false, 0, "connectionPoolSize"},
        {offsetof(rlock_config, connection_pool_size), false, INT_MAX, "connectionPoolSize"},
        {offsetof(rlock_config, database), false, -1, "database"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rlock_config config = defaults();
        void *field = (char *)&config + cases[i].offset;
        if (cases[i].wide)
            *(int64_t *)field = cases[i].value;
        else
            *(int *)field = (int)cases[i].value;
        assert_refused(&config, cases[i].name);
    }
}

Test(config, what_rlock_config_init_did_not_fill_is_refused)
{
    rlock_config config = defaults();
    config.size = 0;
    assert_refused(&config, "rlock_config_init");
    config = defaults();
    config.address = NULL;
    assert_refused(&config, "address");
    assert_refused(NULL, "rlock_config_init");
    rlock_config_init(NULL);
}

Test(config, username_without_password_is_refused)
{
    rlock_config config = defaults();
    config.username = "somebody";
    assert_refused(&config, "password");
}

/* Redis would refuse such a name in CLIENT SETNAME, long after the mistake. */
Test(config, client_name_with_a_space_is_refused)
{
    rlock_config config = defaults();
    config.client_name = "two words";
    assert_refused(&config, "clientName");
}

Test(config, the_url_overrides_the_fields)
{
    rlock_config config = defaults();
    config.address = "redis://host:7000/3?timeout=5&namePrefix=in-url";
    config.database = 1;
    config.timeout_ms = 100;
    config.connect_timeout_ms = 200;
    config.name_prefix = "in-field";
    rli_settings settings;
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.database == 3);
    cr_assert(settings.timeout_ms == 5);
    cr_assert(settings.connect_timeout_ms == 200);
    cr_assert(strcmp(settings.name_prefix, "in-url") == 0);
    rli_settings_free(&settings);
}
