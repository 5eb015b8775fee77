/* Settings of a client: read from rlock_config and URLs, checked and copied. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include "base/error.h"
#include "base/host_port.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/hint.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* Redisson has settings of these names, but a URL has other places for them. */
static bool is_user_info(const char *name)
{
    return strcmp(name, "username") == 0 || strcmp(name, "password") == 0;
}

rlock_status rli_settings_set(rli_settings *settings, const char *name, const char *value, bool named)
{
    char hint[RLI_HINT_SHOWN];
    const rli_field *field = rli_field_find(name);
    if (!field && !named)
        return rli_fail(
            RLOCK_INVALID,
            "the URL has a parameter that is not a setting; if it is part of a password, write %%26 for the & in the password");
    if (!field && is_user_info(name))
        return rli_fail(RLOCK_INVALID,
                        "%s is not a parameter of a URL; write it before the host: redis://user:password@host", name);
    if (!field)
        return rli_fail(RLOCK_INVALID,
                        "unknown setting \"%.60s\" in the URL%s; the names are those of Redisson, "
                        "listed in rlock(1) and <rlock/config.h>",
                        name, rli_hint(name, rli_field_name, hint));
    void *place = (char *)settings + field->in_settings;
    if (field->kind == RLI_TEXT)
        return rli_settings_copy((char **)place, value, strlen(value));
    int64_t number;
    rlock_status status = rli_field_read(field, value, &number);
    if (status == RLOCK_OK)
        rli_field_store(field, place, number);
    return status;
}

rlock_status rli_settings_copy_text(char **field, const char *text)
{
    return text ? rli_settings_copy(field, text, strlen(text)) : RLOCK_OK;
}

static rlock_status take_fields(rli_settings *settings, const rlock_config *config)
{
    rlock_status status = rli_settings_copy_text(&settings->username, config->username);
    if (status == RLOCK_OK)
        status = rli_settings_copy_text(&settings->password, config->password);
    const rli_field *field;
    for (size_t i = 0; status == RLOCK_OK && (field = rli_field_at(i)); i++) {
        const void *from = (const char *)config + field->in_config;
        void *to = (char *)settings + field->in_settings;
        if (field->kind == RLI_TEXT) {
            status = rli_settings_copy_text((char **)to, *(const char *const *)from);
            continue;
        }
        int64_t value = rli_field_load(field, from);
        status = rli_field_check(field, value);
        if (status == RLOCK_OK)
            rli_field_store(field, to, value);
    }
    return status;
}

static rlock_status take_addresses(rli_settings *settings, const rlock_config *config)
{
    if (config->address && config->address_count)
        return rli_fail(RLOCK_INVALID,
                        "both address and addresses are given; set one of them, the other to NULL and 0");
    if (config->address)
        return rli_settings_read_url(settings, config->address);
    if (!config->address_count || !config->addresses)
        return rli_fail(RLOCK_INVALID, "no address given; use for example redis://127.0.0.1:6379");
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; status == RLOCK_OK && i < config->address_count; i++) {
        if (!config->addresses[i])
            return rli_fail(RLOCK_INVALID, "addresses[%zu] is NULL", i);
        status = rli_settings_read_server(settings, config->addresses[i], i == 0);
    }
    return status;
}

/* As in Redisson: if a cluster has one configured address and it is a host name, the user in it is the user
 * of all nodes that the name stands for. */
static void share_user(rli_settings *settings)
{
    rli_address *only = &settings->addresses[0];
    if (settings->mode != RLI_CLUSTER || settings->address_count != 1 || !only->password ||
        !rli_host_is_name(only->host))
        return;
    free(settings->username);
    free(settings->password);
    settings->username = only->username;
    settings->password = only->password;
    only->username = only->password = NULL;
}

/* Sets what follows from other settings. */
static rlock_status complete(rli_settings *settings)
{
    share_user(settings);
    if (!settings->scan_interval_ms)
        settings->scan_interval_ms = settings->mode == RLI_CLUSTER ? 5000 : 1000;
    if (settings->dns_interval_ms < 0)
        settings->dns_interval_ms = 0;
    /* As in Redisson: a program that names a truststore wants certificates to be checked against it. */
    if (settings->tls.verification == RLI_VERIFY_NONE && settings->tls.truststore)
        settings->tls.verification = RLI_VERIFY_CA_ONLY;
    return settings->nat_map ? rli_nat_read(&settings->nat, settings->nat_map) : RLOCK_OK;
}

static rlock_status check_addresses(const rli_settings *settings)
{
    for (size_t i = 0; i < settings->address_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(settings->addresses[i].text, settings->addresses[j].text) == 0)
                return rli_fail(RLOCK_INVALID, "the address %s is given twice", settings->addresses[i].text);
        }
    }
    return RLOCK_OK;
}

static rlock_status check_sentinel(const rli_settings *settings)
{
    if (settings->mode != RLI_SENTINEL &&
        (settings->master_name || settings->sentinel_username || settings->sentinel_password))
        return rli_fail(RLOCK_INVALID, "%s is given, but the address is not redis-sentinel://",
                        settings->master_name ? "masterName" : "a sentinel's user or password");
    if (settings->mode == RLI_SENTINEL && (!settings->master_name || !*settings->master_name))
        return rli_fail(
            RLOCK_INVALID,
            "masterName is missing: the name of the master at the sentinels; add for example ?masterName=mymaster");
    if (settings->sentinel_username && !settings->sentinel_password && !settings->password)
        return rli_fail(RLOCK_INVALID, "sentinelUsername without any password; set sentinelPassword as well");
    return RLOCK_OK;
}

static rlock_status check(const rli_settings *settings)
{
    if (settings->username && !settings->password)
        return rli_fail(RLOCK_INVALID, "a username without a password; set both or neither");
    if (settings->client_name && strpbrk(settings->client_name, " \n\r\t"))
        return rli_fail(RLOCK_INVALID, "clientName \"%.40s\" has white space, which Redis refuses",
                        settings->client_name);
    if (settings->nat.count && (settings->mode == RLI_SINGLE || settings->mode == RLI_MASTER_SLAVE))
        return rli_fail(
            RLOCK_INVALID,
            "natMap is given, but the address is not redis-sentinel://, redis-cluster:// or redis-replicated://; configure addresses that this process can reach");
    rlock_status status = check_sentinel(settings);
    return status == RLOCK_OK ? check_addresses(settings) : status;
}

rlock_status rli_settings_make(rli_settings *settings, const rlock_config *config)
{
    rlock_config full;
    *settings = (rli_settings){0};
    rlock_status status = rli_config_read(&full, config);
    if (status == RLOCK_OK)
        status = take_fields(settings, &full);
    if (status == RLOCK_OK)
        status = take_addresses(settings, &full);
    if (status == RLOCK_OK)
        status = complete(settings);
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
    rli_nat_free(&settings->nat);
    free(settings->nat_map);
    free(settings->master_name);
    free(settings->sentinel_username);
    free(settings->sentinel_password);
    free(settings->username);
    free(settings->password);
    free(settings->client_name);
    free(settings->name_prefix);
    *settings = (rli_settings){0};
}
