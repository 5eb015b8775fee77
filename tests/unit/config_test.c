/* Settings: Redisson's defaults, and each value out of range refused by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/config/fields.h"
#include "src/config/settings.h"
#include "tests/support/test.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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
    cr_assert(!config.addresses && !config.address_count && !config.owned);
    cr_assert(!config.master_name && !config.sentinel_username && !config.sentinel_password);
    cr_assert(!config.nat_map);
    cr_assert(!config.ssl_truststore && !config.ssl_truststore_password && !config.ssl_keystore);
    cr_assert(!config.ssl_keystore_password && !config.ssl_protocols && !config.ssl_ciphers);
    cr_assert(config.ssl_verification_mode == RLOCK_SSL_STRICT);
    cr_assert(config.sharded_subscription_mode == RLOCK_SHARDED_AUTO);
    cr_assert(config.slaves_sync_timeout_ms == 1000);
    cr_assert(config.scan_interval_ms == 0);
    cr_assert(config.dns_monitoring_interval_ms == 5000);
    cr_assert(config.ping_connection_interval_ms == 30000);
    cr_assert(config.tcp_keep_alive_count == 0 && config.tcp_keep_alive_idle_s == 0);
    cr_assert(config.tcp_keep_alive_interval_s == 0 && config.tcp_user_timeout_ms == 0);
    cr_assert(!config.loss_tracking && config.loss_tracking_max_holds == 100000);
    cr_assert(config.check_lock_synced_slaves && config.unlock_waits && config.tcp_keep_alive && !config.local_hand_over);
}

/* The words of a cell of the row of docs/configuration.md whose first cell names the setting, of as many names and words as
 * there are the part for this one. NULL: no row has it. To be freed. */
static char *cell_of(const char *page, const char *name, int cell)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    for (const char *row = page; (row = strstr(row, "\n| `")); row++) {
        const char *end = strstr(row + 3, " |"), *found = strstr(row, quoted), *words = end + 3;
        if (!found || found > end)
            continue;
        for (; cell > 1; cell--)
            words = strstr(words, "| ") + 2;
        for (const char *comma = row; (comma = strstr(comma, ", `")) && comma < found; comma++)
            words = strstr(words, ", ") + 2;
        words += *words == '`';
        return strndup(words, strcspn(words, "`,|;("));
    }
    return NULL;
}

static void assert_range(const rli_field *field, const char *said)
{
    long long lowest, highest = field->highest;
    char to[16] = "";
    if (!said || sscanf(said, "%lld to %15[a-z0-9 ]", &lowest, to) != 2)
        return;
    if (strncmp(to, "a day", 5) == 0)
        highest = 86400000;
    else if (strncmp(to, "a year", 6) == 0)
        highest = INT64_C(365) * 86400000;
    else
        cr_assert(sscanf(to, "%lld", &highest) == 1, "%s: %s", field->name, said);
    cr_assert(lowest == field->lowest && highest == field->highest, "%s: %s", field->name, said);
}

/* Those of texts are none, and those of some settings are told in words. */
Test(config, page_has_each_default_and_range)
{
    static char page[65536];
    FILE *file = fopen("docs/configuration.md", "re");
    rlock_config config;
    int numbers = 0;
    cr_assert(file != NULL);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    rlock_config_init(&config);
    for (size_t i = 0; rli_field_at(i); i++) {
        const rli_field *field = rli_field_at(i);
        char *said = cell_of(page, field->name, 1), *range = cell_of(page, field->name, 2), *end;
        cr_assert(said != NULL, "no row has %s", field->name);
        /* 0 stands for the interval that goes with the servers */
        bool told = (field->kind == RLI_SPAN || field->kind == RLI_COUNT) && strcmp(field->name, "scanInterval") != 0;
        int64_t value = told || field->kind == RLI_FLAG ? rli_field_load(field, (const char *)&config + field->in_config) : 0;
        long long number = strtoll(said, &end, 10);
        if (field->kind == RLI_FLAG)
            cr_assert(strcmp(said, value ? "true" : "false") == 0, "%s: %s", field->name, said);
        if (told && end > said && !strstr(field->name, "tcp"))
            cr_assert(number == value && ++numbers, "%s: %s", field->name, said);
        if (told)
            assert_range(field, range);
        free(said);
        free(range);
    }
    cr_assert(numbers > 12, "%d", numbers);
}

/* The one default that is not the same in each mode. */
Test(config, servers_are_asked_each_second_and_those_of_a_cluster_each_five)
{
    static const struct {
        const char *address;
        int64_t interval_ms;
    } cases[] = {{"redis-sentinel://a?masterName=m", 1000},
                 {"redis-replicated://a", 1000},
                 {"redis-cluster://a", 5000},
                 {"redis-cluster://a?scanInterval=70", 70}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rlock_config config;
        rli_settings settings;
        rlock_config_init(&config);
        config.address = cases[i].address;
        assert_ok(rli_settings_make(&settings, &config));
        cr_assert(settings.scan_interval_ms == cases[i].interval_ms, "%s", cases[i].address);
        rli_settings_free(&settings);
    }
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
        {offsetof(rlock_config, slaves_sync_timeout_ms), true, 0, "slavesSyncTimeout"},
        {offsetof(rlock_config, scan_interval_ms), true, -1, "scanInterval"},
        {offsetof(rlock_config, dns_monitoring_interval_ms), true, -2, "dnsMonitoringInterval"},
        {offsetof(rlock_config, ping_connection_interval_ms), true, -1, "pingConnectionInterval"},
        {offsetof(rlock_config, tcp_keep_alive_count), false, 128, "tcpKeepAliveCount"},
        {offsetof(rlock_config, tcp_keep_alive_idle_s), false, -1, "tcpKeepAliveIdle"},
        {offsetof(rlock_config, tcp_keep_alive_interval_s), false, 32768, "tcpKeepAliveInterval"},
        {offsetof(rlock_config, tcp_user_timeout_ms), false, -1, "tcpUserTimeout"},
        {offsetof(rlock_config, ssl_verification_mode), false, 3, "sslVerificationMode"},
        {offsetof(rlock_config, sharded_subscription_mode), false, 3, "shardedSubscriptionMode"},
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

/* ---- Servers with users of their own ---- */

static rlock_status make(rli_settings *settings, const char *const *addresses, size_t count)
{
    rlock_config config;
    rlock_config_init(&config);
    config.addresses = addresses;
    config.address_count = count;
    config.username = "all";
    config.password = "common";
    config.master_name = strncmp(addresses[0], "redis-sentinel", 14) == 0 ? "m" : NULL;
    return rli_settings_make(settings, &config);
}

Test(config, each_of_several_addresses_may_have_a_user_of_its_own)
{
    const char *const addresses[] = {"redis-sentinel://a:1", "redis-sentinel://u:p%40@b:2", "redis-sentinel://:q@c/"};
    rli_settings settings;
    assert_ok(make(&settings, addresses, 3));
    cr_assert(settings.mode == RLI_SENTINEL && settings.address_count == 3);
    cr_assert(strcmp(settings.username, "all") == 0 && strcmp(settings.password, "common") == 0);
    cr_assert(!settings.addresses[0].username && !settings.addresses[0].password);
    cr_assert(strcmp(settings.addresses[1].username, "u") == 0 && strcmp(settings.addresses[1].password, "p@") == 0);
    cr_assert(!settings.addresses[2].username && strcmp(settings.addresses[2].password, "q") == 0);
    cr_assert(settings.addresses[2].port == 26379 && settings.addresses[2].sentinel);
    rli_settings_free(&settings);
}

/* Redisson's rule: such an address stands for all that it resolves to, an IP for one node. */
Test(config, user_of_a_clusters_only_address_is_that_of_all_nodes_unless_it_is_an_ip)
{
    const char *const name[] = {"redis-cluster://u:p@cluster.example:1"}, *const ip[] = {"redis-cluster://u:p@10.0.0.1"};
    rli_settings settings;
    assert_ok(make(&settings, name, 1));
    cr_assert(strcmp(settings.username, "u") == 0 && strcmp(settings.password, "p") == 0);
    cr_assert(!settings.addresses[0].username && !settings.addresses[0].password);
    rli_settings_free(&settings);
    assert_ok(make(&settings, ip, 1));
    cr_assert(strcmp(settings.username, "all") == 0 && strcmp(settings.password, "common") == 0);
    cr_assert(strcmp(settings.addresses[0].username, "u") == 0);
    rli_settings_free(&settings);
}

Test(config, addresses_that_do_not_go_together_are_refused)
{
    static const struct {
        const char *addresses[2];
        const char *word;
    } cases[] = {
        {{"redis://a", "redis://b"}, "take one"},
        {{"unix:///a", "unix:///b"}, "take one"},
        {{"redis-cluster://a", "rediss-cluster://b"}, "rediss-cluster://"},
        {{"redis-cluster://a", "redis-replicated://b"}, "redis-replicated://"},
        {{"redis-cluster://a", "redis-cluster://a:6379"}, "twice"},
        {{"redis-cluster://a", NULL}, "addresses[1] is NULL"},
        {{"redis-cluster://a,b", "redis-cluster://c"}, "one server"},
        {{"redis-cluster://a/0", "redis-cluster://c"}, "one server"},
        {{"redis-cluster://a?timeout=3", "redis-cluster://c"}, "one server"},
        {{"redis-cluster://a", "b"}, "scheme"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rli_settings settings;
        assert_status(make(&settings, cases[i].addresses, 2), RLOCK_INVALID);
        cr_assert(strstr(rlock_last_error(), cases[i].word), "case %zu: %s", i, rlock_last_error());
    }
    rlock_config both = defaults();
    both.addresses = cases[0].addresses;
    both.address_count = 1;
    assert_refused(&both, "both address and addresses");
}

Test(config, what_has_no_meaning_for_the_servers_is_refused)
{
    rlock_config config = defaults();
    config.master_name = "m";
    assert_refused(&config, "masterName");
    config = defaults();
    config.address = "redis-sentinel://a";
    assert_refused(&config, "masterName");
    config = defaults();
    config.nat_map = "a=b";
    assert_refused(&config, "natMap");
}

/* Redisson's rule: who names whom to trust wants that checked. */
Test(config, a_truststore_is_looked_at_even_when_nothing_else_is)
{
    rlock_config config = defaults();
    rli_settings settings;
    config.address = "rediss://a";
    config.ssl_verification_mode = RLOCK_SSL_NONE;
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.tls.verification == RLI_VERIFY_NONE);
    rli_settings_free(&settings);
    config.ssl_truststore = "/ca.pem";
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.tls.verification == RLI_VERIFY_CA_ONLY);
    rli_settings_free(&settings);
}

/* ---- Programs that were built with another version ---- */

/* What stands behind an older program's struct is not the config's. */
Test(config, an_older_shorter_struct_goes_on_with_defaults_for_what_it_lacks)
{
    rlock_config config;
    rli_settings settings;
    memset(&config, 0x5a, sizeof config);
    size_t shorter = offsetof(rlock_config, addresses);
    rlock_config_init_size(&config, shorter);
    for (size_t i = shorter; i < sizeof config; i++)
        cr_assert(((const unsigned char *)&config)[i] == 0x5a, "byte %zu behind the struct was written", i);
    cr_assert(config.size == shorter && config.timeout_ms == 3000);
    config.address = "redis://127.0.0.1:1";
    config.timeout_ms = 17;
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.timeout_ms == 17);
    cr_assert(settings.check_synced && settings.sync_timeout_ms == 1000 && settings.ping_interval_ms == 30000);
    cr_assert(!settings.master_name && !settings.tls.truststore && settings.address_count == 1);
    rli_settings_free(&settings);
    cr_assert(strcmp(rlock_config_warnings(&config), "") == 0);
    rlock_config_free(&config);
    cr_assert(config.size == shorter && ((const unsigned char *)&config)[shorter] == 0x5a);
}

/* The function that a program linked before the macro calls. */
Test(config, the_function_fills_what_the_first_version_had)
{
    rlock_config config;
    memset(&config, 0x5a, sizeof config);
    (rlock_config_init)(&config);
    cr_assert(config.size == offsetof(rlock_config, addresses));
    cr_assert(config.fair_lock_wait_timeout_ms == 300000);
    cr_assert(((const unsigned char *)&config)[config.size] == 0x5a);
    (rlock_config_init)(NULL);
}

Test(config, a_newer_longer_struct_is_told_apart_from_none)
{
    struct {
        rlock_config config;
        char more[16];
    } newer;
    rlock_config_init_size(&newer.config, sizeof newer);
    cr_assert(newer.config.size == sizeof newer && newer.more[15] == 0);
    newer.config.address = "redis://127.0.0.1:1";
    newer.more[15] = 1;
    assert_refused(&newer.config, "newer");
    memset(&newer.config.size, 0x5a, sizeof newer.config.size);
    assert_refused(&newer.config, "rlock_config_init");
}

Test(config, freeing_what_loaded_nothing_is_harmless)
{
    rlock_config config = defaults();
    config.timeout_ms = 5;
    rlock_config_free(&config);
    cr_assert(config.timeout_ms == 3000 && !config.address);
    rlock_config_free(&config);
    rlock_config_free(NULL);
    cr_assert(strcmp(rlock_config_warnings(NULL), "") == 0);
}
