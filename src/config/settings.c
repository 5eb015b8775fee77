/* A client's settings: defaults, ranges, and the one list of their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include "error.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)

/* Redisson's names with the ranges in which they make sense here. */
static const struct number {
    const char *name;
    size_t offset;
    bool wide; /* int64_t, else int */
    int64_t lowest, highest;
} numbers[] = {
    /* A watchdog of less than 30 ms would renew more often than each 10 ms. */
    {"lockWatchdogTimeout", offsetof(rli_settings, watchdog_timeout_ms), true, 30, 365 * DAY_MS},
    {"lockWatchdogBatchSize", offsetof(rli_settings, batch_size), false, 1, 1000},
    {"timeout", offsetof(rli_settings, timeout_ms), true, 1, DAY_MS},
    {"connectTimeout", offsetof(rli_settings, connect_timeout_ms), true, 1, DAY_MS},
    {"subscriptionTimeout", offsetof(rli_settings, subscription_timeout_ms), true, 1, DAY_MS},
    {"fairLockWaitTimeout", offsetof(rli_settings, fair_wait_timeout_ms), true, 1, 365 * DAY_MS},
    {"retryAttempts", offsetof(rli_settings, retry_attempts), false, 0, 1000},
    {"retryBaseDelay", offsetof(rli_settings, retry_base_delay_ms), true, 0, DAY_MS},
    {"retryMaxDelay", offsetof(rli_settings, retry_max_delay_ms), true, 0, DAY_MS},
    {"connectionPoolSize", offsetof(rli_settings, pool_size), false, 1, 64},
    {"database", offsetof(rli_settings, database), false, 0, INT_MAX},
};

static const struct text {
    const char *name;
    size_t offset;
} texts[] = {
    {"clientName", offsetof(rli_settings, client_name)},
    {"namePrefix", offsetof(rli_settings, name_prefix)},
};

void rlock_config_init(rlock_config *config)
{
    if (!config)
        return;
    *config = (rlock_config){
        .size = sizeof *config,
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
    };
}

rlock_status rli_settings_copy(char **field, const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the client's settings");
    memcpy(copy, text, length);
    copy[length] = 0;
    free(*field);
    *field = copy;
    return RLOCK_OK;
}

static rlock_status set_number(rli_settings *settings, const struct number *number, int64_t value)
{
    if (value < number->lowest || value > number->highest)
        return rli_fail(RLOCK_INVALID, "%s is %lld; it must be from %lld to %lld", number->name,
                        (long long)value, (long long)number->lowest, (long long)number->highest);
    void *field = (char *)settings + number->offset;
    if (number->wide)
        *(int64_t *)field = value;
    else
        *(int *)field = (int)value;
    return RLOCK_OK;
}

rlock_status rli_settings_set(rli_settings *settings, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, name) != 0)
            continue;
        char *end;
        errno = 0;
        long long number = strtoll(value, &end, 10);
        if (end == value || *end || errno)
            return rli_fail(RLOCK_INVALID, "%s is \"%.40s\"; it must be a whole number%s", name, value,
                            numbers[i].wide ? " of milliseconds" : "");
        return set_number(settings, &numbers[i], number);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0)
            return rli_settings_copy((char **)(void *)((char *)settings + texts[i].offset), value,
                                     strlen(value));
    }
    return rli_fail(RLOCK_INVALID,
                    "unknown setting \"%.60s\" in the URL; known are lockWatchdogTimeout, "
                    "lockWatchdogBatchSize, timeout, connectTimeout, subscriptionTimeout, fairLockWaitTimeout, "
                    "retryAttempts, retryBaseDelay, retryMaxDelay, connectionPoolSize, database "
                    "(or db), clientName and namePrefix",
                    name);
}

static rlock_status take_numbers(rli_settings *settings, const rlock_config *config)
{
    const int64_t values[] = {
        config->lock_watchdog_timeout_ms, config->lock_watchdog_batch_size,
        config->timeout_ms,               config->connect_timeout_ms,
        config->subscription_timeout_ms,  config->fair_lock_wait_timeout_ms,
        config->retry_attempts,           config->retry_base_delay_ms,
        config->retry_max_delay_ms,       config->connection_pool_size,
        config->database,
    };
    _Static_assert(sizeof values / sizeof *values == sizeof numbers / sizeof *numbers,
                   "one value for each number, in its order");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        rlock_status status = set_number(settings, &numbers[i], values[i]);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

static rlock_status take_texts(rli_settings *settings, const rlock_config *config)
{
    const struct {
        char **field;
        const char *text;
    } fields[] = {
        {&settings->username, config->username},
        {&settings->password, config->password},
        {&settings->client_name, config->client_name},
        {&settings->name_prefix, config->name_prefix},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].text)
            continue;
        rlock_status status = rli_settings_copy(fields[i].field, fields[i].text, strlen(fields[i].text));
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

static rlock_status check(const rli_settings *settings)
{
    if (settings->username && !settings->password)
        return rli_fail(RLOCK_INVALID, "a username without a password; set both or neither");
    if (settings->client_name && strpbrk(settings->client_name, " \n\r\t"))
        return rli_fail(RLOCK_INVALID, "clientName \"%.40s\" has white space, which Redis refuses",
                        settings->client_name);
    return RLOCK_OK;
}

rlock_status rli_settings_make(rli_settings *settings, const rlock_config *config)
{
    *settings = (rli_settings){.check_synced = true, .sync_timeout_ms = 1000, .scan_interval_ms = 1000,
                               .dns_interval_ms = 5000, .ping_interval_ms = 30000};
    rlock_config own;
    rlock_config_init(&own);
    if (!config)
        return rli_fail(RLOCK_INVALID, "config is NULL; start with rlock_config_init()");
    if (config->size != sizeof own)
        return rli_fail(RLOCK_INVALID, "config->size is %zu, not %zu; start with rlock_config_init()",
                        config->size, sizeof own);
    if (!config->address)
        return rli_fail(RLOCK_INVALID, "no address given; use for example redis://127.0.0.1:6379");
    rlock_status status = take_numbers(settings, config);
    if (status == RLOCK_OK)
        status = take_texts(settings, config);
    if (status == RLOCK_OK)
        status = rli_settings_read_url(settings, config->address);
    if (status == RLOCK_OK)
        status = check(settings);
    if (status != RLOCK_OK)
        rli_settings_free(settings);
    return status;
}

void rli_address_free(rli_address *address)
{
    free(address->socket_path);
    free(address->host);
    free(address->username);
    free(address->password);
    *address = (rli_address){0};
}

rli_address *rli_settings_add_address(rli_settings *settings)
{
    rli_address *addresses = realloc(settings->addresses, (settings->address_count + 1) * sizeof *addresses);
    if (!addresses) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for the client's settings");
        return NULL;
    }
    settings->addresses = addresses;
    addresses[settings->address_count] = (rli_address){0};
    return &addresses[settings->address_count++];
}

void rli_settings_free(rli_settings *settings)
{
    for (size_t i = 0; i < settings->address_count; i++)
        rli_address_free(&settings->addresses[i]);
    free(settings->addresses);
    free(settings->tls.truststore);
    free(settings->tls.truststore_password);
    free(settings->tls.keystore);
    free(settings->tls.keystore_password);
    free(settings->tls.protocols);
    free(settings->tls.ciphers);
    free(settings->master_name);
    free(settings->sentinel_username);
    free(settings->sentinel_password);
    free(settings->username);
    free(settings->password);
    free(settings->client_name);
    free(settings->name_prefix);
    *settings = (rli_settings){0};
}
