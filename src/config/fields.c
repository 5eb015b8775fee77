/* The one list of settings: name, range, and place in rlock_config and in rli_settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/fields.h"

#include "base/error.h"
#include "config/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS                 INT64_C(86400000)
#define BOTH(a, b)             .in_config = offsetof(rlock_config, a), .in_settings = offsetof(rli_settings, b)
#define COUNT(a, b, from, to)  .kind = RLI_COUNT, BOTH(a, b), .lowest = from, .highest = to
#define SPAN(a, b, from, to)   .kind = RLI_SPAN, BOTH(a, b), .lowest = from, .highest = to
#define TEXT(a, b)             .kind = RLI_TEXT, BOTH(a, b)
#define SECRET(a, b)           .kind = RLI_TEXT, .secret = true, BOTH(a, b)
#define FLAG(a, b)             .kind = RLI_FLAG, BOTH(a, b), .lowest = 0, .highest = 1
#define WORD(a, b, list, last) .kind = RLI_WORD, BOTH(a, b), .words = list, .lowest = 0, .highest = (int64_t)(last)

static const char *const verifications[] = {"STRICT", "CA_ONLY", "NONE", NULL};
static const char *const shardings[] = {"AUTO", "ON", "OFF", NULL};
static const char *const codecs[] = {"UNSET", "KRYO5", "STRING", "OTHER", NULL};
static const char *const flags[] = {"false", "true", NULL};

_Static_assert((int)RLOCK_SSL_STRICT == RLI_VERIFY_STRICT && (int)RLOCK_SSL_CA_ONLY == RLI_VERIFY_CA_ONLY &&
                   (int)RLOCK_SSL_NONE == RLI_VERIFY_NONE,
               "the public enum and ours have the same values");
_Static_assert((int)RLOCK_SHARDED_AUTO == RLI_SHARDING_AUTO && (int)RLOCK_SHARDED_ON == RLI_SHARDING_ON &&
                   (int)RLOCK_SHARDED_OFF == RLI_SHARDING_OFF,
               "the public enum and ours have the same values");
_Static_assert((int)RLOCK_CONFIG_CODEC_UNSET == RLI_STATES_NO_CODEC &&
                   (int)RLOCK_CONFIG_CODEC_KRYO5 == RLI_STATES_KRYO5 &&
                   (int)RLOCK_CONFIG_CODEC_STRING == RLI_STATES_STRING &&
                   (int)RLOCK_CONFIG_CODEC_OTHER == RLI_STATES_OTHER_CODEC,
               "the public enum and ours have the same values");
_Static_assert(sizeof(rlock_ssl_verification_mode) == sizeof(int) && sizeof(rli_verification) == sizeof(int) &&
                   sizeof(rlock_sharded_subscription_mode) == sizeof(int) && sizeof(rli_sharding) == sizeof(int) &&
                   sizeof(rlock_config_codec) == sizeof(int) && sizeof(rli_stated_codec) == sizeof(int),
               "enums are loaded and stored as int");

/* Redisson's names, and names of settings that only this library has, with the ranges that make sense here. */
static const rli_field fields[] = {
    /* With a watchdog timeout of less than 30 ms, renewals would be less than 10 ms apart. */
    {"lockWatchdogTimeout", SPAN(lock_watchdog_timeout_ms, watchdog_timeout_ms, 30, 365 * DAY_MS)},
    {"lockWatchdogBatchSize", COUNT(lock_watchdog_batch_size, batch_size, 1, 1000)},
    {"timeout", SPAN(timeout_ms, timeout_ms, 1, DAY_MS)},
    {"connectTimeout", SPAN(connect_timeout_ms, connect_timeout_ms, 1, DAY_MS)},
    {"subscriptionTimeout", SPAN(subscription_timeout_ms, subscription_timeout_ms, 1, DAY_MS)},
    {"fairLockWaitTimeout", SPAN(fair_lock_wait_timeout_ms, fair_wait_timeout_ms, 1, 365 * DAY_MS)},
    {"retryAttempts", COUNT(retry_attempts, retry_attempts, 0, 1000)},
    {"retryBaseDelay", SPAN(retry_base_delay_ms, retry_base_delay_ms, 0, DAY_MS)},
    {"retryMaxDelay", SPAN(retry_max_delay_ms, retry_max_delay_ms, 0, DAY_MS)},
    {"connectionPoolSize", COUNT(connection_pool_size, pool_size, 1, 64)},
    {"database", COUNT(database, database, 0, INT_MAX)},
    {"clientName", TEXT(client_name, client_name)},
    {"namePrefix", TEXT(name_prefix, name_prefix)},
    {"masterName", TEXT(master_name, master_name)},
    {"sentinelUsername", TEXT(sentinel_username, sentinel_username)},
    {"sentinelPassword", SECRET(sentinel_password, sentinel_password)},
    {"natMap", TEXT(nat_map, nat_map)},
    {"sslTruststore", TEXT(ssl_truststore, tls.truststore)},
    {"sslTruststorePassword", SECRET(ssl_truststore_password, tls.truststore_password)},
    {"sslKeystore", TEXT(ssl_keystore, tls.keystore)},
    {"sslKeystorePassword", SECRET(ssl_keystore_password, tls.keystore_password)},
    {"sslProtocols", TEXT(ssl_protocols, tls.protocols)},
    {"sslCiphers", TEXT(ssl_ciphers, tls.ciphers)},
    {"sslVerificationMode", WORD(ssl_verification_mode, tls.verification, verifications, RLI_VERIFY_NONE)},
    {"shardedSubscriptionMode", WORD(sharded_subscription_mode, sharding, shardings, RLI_SHARDING_OFF)},
    {"codec", WORD(codec, codec, codecs, RLI_STATES_OTHER_CODEC)},
    {"checkLockSyncedSlaves", FLAG(check_lock_synced_slaves, check_synced)},
    {"localHandOver", FLAG(local_hand_over, local_hand_over)},
    {"unlockWaits", FLAG(unlock_waits, unlock_waits)},
    {"lazyInitialization", FLAG(lazy_initialization, lazy)},
    {"lossTracking", FLAG(loss_tracking, loss_tracking)},
    {"lossTrackingMaxHolds", COUNT(loss_tracking_max_holds, loss_tracking_max_holds, 1, INT_MAX)},
    {"slavesSyncTimeout", SPAN(slaves_sync_timeout_ms, sync_timeout_ms, 1, DAY_MS)},
    {"scanInterval", SPAN(scan_interval_ms, scan_interval_ms, 0, DAY_MS)},
    {"dnsMonitoringInterval", SPAN(dns_monitoring_interval_ms, dns_interval_ms, -1, DAY_MS)},
    {"pingConnectionInterval", SPAN(ping_connection_interval_ms, ping_interval_ms, 0, DAY_MS)},
    {"tcpKeepAlive", FLAG(tcp_keep_alive, tcp_keep_alive)},
    /* Linux accepts values up to these. */
    {"tcpKeepAliveCount", COUNT(tcp_keep_alive_count, tcp_keep_alive_count, 0, 127)},
    {"tcpKeepAliveIdle", COUNT(tcp_keep_alive_idle_s, tcp_keep_alive_idle_s, 0, 32767)},
    {"tcpKeepAliveInterval", COUNT(tcp_keep_alive_interval_s, tcp_keep_alive_interval_s, 0, 32767)},
    {"tcpUserTimeout", COUNT(tcp_user_timeout_ms, tcp_user_timeout_ms, 0, INT_MAX)},
};
#define FIELD_COUNT (sizeof fields / sizeof *fields)

const rli_field *rli_field_at(size_t i)
{
    return i < FIELD_COUNT ? &fields[i] : NULL;
}

const rli_field *rli_field_find(const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    return NULL;
}

const char *rli_field_name(size_t i)
{
    return i < FIELD_COUNT ? fields[i].name : NULL;
}

rlock_status rli_field_check(const rli_field *field, int64_t value)
{
    if (value >= field->lowest && value <= field->highest)
        return RLOCK_OK;
    return rli_fail(RLOCK_INVALID, "%s is %lld; it must be from %lld to %lld%s", field->name, (long long)value,
                    (long long)field->lowest, (long long)field->highest, field->kind == RLI_SPAN ? " ms" : "");
}

static rlock_status read_word(const rli_field *field, const char *const *words, const char *text, int64_t *value)
{
    char known[60] = "";
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *value = i;
            return RLOCK_OK;
        }
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
    }
    return rli_fail(RLOCK_INVALID, "%s is \"%.40s\"; it must be %s", field->name, text, known);
}

rlock_status rli_field_read(const rli_field *field, const char *text, int64_t *value)
{
    if (field->kind == RLI_FLAG || field->kind == RLI_WORD)
        return read_word(field, field->kind == RLI_FLAG ? flags : field->words, text, value);
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return rli_fail(RLOCK_INVALID, "%s is \"%.40s\"; it must be a whole number%s", field->name, text,
                        field->kind == RLI_SPAN ? " of milliseconds" : "");
    *value = number;
    return rli_field_check(field, number);
}

int64_t rli_field_load(const rli_field *field, const void *place)
{
    switch (field->kind) {
    case RLI_SPAN:
        return *(const int64_t *)place;
    case RLI_FLAG:
        return *(const bool *)place;
    case RLI_COUNT:
    case RLI_WORD:
    case RLI_TEXT:
        break;
    }
    return *(const int *)place;
}

void rli_field_store(const rli_field *field, void *place, int64_t value)
{
    switch (field->kind) {
    case RLI_SPAN:
        *(int64_t *)place = value;
        return;
    case RLI_FLAG:
        *(bool *)place = value != 0;
        return;
    case RLI_COUNT:
    case RLI_WORD:
    case RLI_TEXT:
        break;
    }
    *(int *)place = (int)value;
}
