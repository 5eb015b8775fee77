/* Applies the single values and plain lists of Redisson's configuration file to a config. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/percent.h"
#include "config/fields.h"
#include "config/redisson_file/yaml_loader.h"
#include "config/redisson_file/yaml_scalar.h"

#include <stdlib.h>
#include <string.h>

static rlock_status no_single_value(const rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be a single value, without a 0 byte in it", key->name);
}

static void *place_of(rli_yaml_loader *loader, const rli_field *field)
{
    return (char *)&loader->draft + field->in_config;
}

static const rli_field *field_of(const rli_yaml_key *key)
{
    return rli_field_find(key->field ? key->field : key->name);
}

static rlock_status keep_text(rli_yaml_loader *loader, const char **field, const char *text, size_t length)
{
    const char *copy = rli_owned_text(loader->owned, text, length);
    if (!copy)
        return RLOCK_NO_MEMORY;
    *field = copy;
    return RLOCK_OK;
}

static rlock_status keep_secret(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value,
                                const char **field)
{
    const char *text = rli_yaml_text(value);
    if (!text)
        return no_single_value(loader, key, value);
    if (strncmp(text, "{aes}", 5) == 0)
        return rli_yaml_fail(loader, value, RLOCK_UNSUPPORTED,
                             "%s is encrypted, which only Redisson PRO can read; write "
                             "${NAME} to take it from the environment",
                             key->name);
    return keep_text(loader, field, text, strlen(text));
}

/* Reads a number in any of YAML's forms, a word, or a flag. */
static rlock_status read_value(const rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value,
                               int64_t *found)
{
    const rli_field *field = field_of(key);
    const char *text = rli_yaml_text(value);
    if (!text)
        return no_single_value(loader, key, value);
    if (field->kind == RLI_WORD)
        return rli_field_read(field, text, found) == RLOCK_OK ? RLOCK_OK
                                                              : rli_yaml_fail_again(loader, value, RLOCK_INVALID);
    if (field->kind == RLI_FLAG) {
        bool flag;
        if (!rli_yaml_flag(text, &flag))
            return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s is \"%.40s\"; it must be true or false", key->name,
                                 text);
        *found = flag;
        return RLOCK_OK;
    }
    if (!rli_yaml_number(text, found))
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s is \"%.40s\"; it must be a whole number%s", key->name,
                             text, field->kind == RLI_SPAN ? " of milliseconds" : "");
    return RLOCK_OK;
}

static rlock_status check_number(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value,
                                 int64_t *number)
{
    const rli_field *field = field_of(key);
    if (*number > field->highest && (key->use == RLI_USE_CAPPED || key->use == RLI_USE_NONZERO)) {
        int64_t given = *number;
        *number = field->highest;
        return rli_yaml_warn(loader, rli_yaml_line(value), "%s is %lld; rlock uses %lld, the most that it supports",
                             key->name, (long long)given, (long long)field->highest);
    }
    if (*number < field->lowest || *number > field->highest)
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s is %lld; it must be from %lld to %lld%s", key->name,
                             (long long)*number, (long long)field->lowest, (long long)field->highest,
                             field->kind == RLI_SPAN ? " ms" : "");
    return RLOCK_OK;
}

static rlock_status use_field(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    const rli_field *field = field_of(key);
    if (field->secret)
        return keep_secret(loader, key, value, place_of(loader, field));
    if (field->kind == RLI_TEXT) {
        const char *text = rli_yaml_text(value);
        return text ? keep_text(loader, place_of(loader, field), text, strlen(text))
                    : no_single_value(loader, key, value);
    }
    int64_t number;
    rlock_status status = read_value(loader, key, value, &number);
    if (status == RLOCK_OK)
        status = check_number(loader, key, value, &number);
    if (status == RLOCK_OK && (number || key->use != RLI_USE_NONZERO))
        rli_field_store(field, place_of(loader, field), number);
    return status;
}

static rlock_status use_user(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    bool is_name = strcmp(key->name, "username") == 0;
    return keep_secret(loader, key, value, is_name ? &loader->draft.username : &loader->draft.password);
}

/* As in Redisson: STRICT, the default, at the top level does not override the section's value. */
static rlock_status use_verification(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    int64_t mode;
    rlock_status status = read_value(loader, key, value, &mode);
    if (status == RLOCK_OK && (mode != RLOCK_SSL_STRICT || !loader->again))
        loader->draft.ssl_verification_mode = (rlock_ssl_verification_mode)mode;
    return status;
}

static rlock_status use_endpoint(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    const char *text = rli_yaml_text(value);
    bool check;
    if (!text || !rli_yaml_flag(text, &check))
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be true or false", key->name);
    loader->draft.ssl_verification_mode = check ? RLOCK_SSL_STRICT : RLOCK_SSL_NONE;
    return RLOCK_OK;
}

/* The path in file:/path, file:///path or file://localhost/path; NULL: it is on another machine. */
static const char *local_path(const char *url)
{
    const char *path = url + strlen("file:");
    if (strncmp(path, "//", 2) != 0)
        return path;
    const char *host = path + 2;
    path = strchr(host, '/');
    return path && (path == host || strncmp(host, "localhost/", 10) == 0) ? path : NULL;
}

/* Copies `path` with %XX decoded, other than %00; any other % stays as it is. */
static void decode_path(char *to, const char *path)
{
    for (; *path; path++) {
        char byte = rli_percent_byte(path);
        *to++ = byte ? byte : *path;
        path += byte ? 2 : 0;
    }
}

/* Takes the path from a file: URL; also accepts a plain path. */
static rlock_status use_file(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    const char *text = rli_yaml_text(value), *colon = text ? strchr(text, ':') : NULL;
    if (!text)
        return no_single_value(loader, key, value);
    if (strncmp(text, "file:", 5) != 0) {
        if (colon && colon[1] == '/')
            return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be a file: write file:/path/to/store",
                                 key->name);
        return keep_text(loader, place_of(loader, field_of(key)), text, strlen(text));
    }
    const char *path = local_path(text);
    if (!path)
        return rli_yaml_fail(loader, value, RLOCK_INVALID,
                             "%s names a file of another machine: write file:/path/to/store", key->name);
    char *copy = rli_owned_memory(loader->owned, strlen(path) + 1);
    if (!copy)
        return RLOCK_NO_MEMORY;
    decode_path(copy, path);
    *(const char **)place_of(loader, field_of(key)) = copy;
    return RLOCK_OK;
}

/* Joins a list of strings, with commas between them. */
static rlock_status use_list(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    if (value->type != YAML_SEQUENCE_NODE)
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be a list: [a, b], or lines that begin with -",
                             key->name);
    size_t length = 1;
    yaml_node_item_t *from = value->data.sequence.items.start, *end = value->data.sequence.items.top;
    for (yaml_node_item_t *item = from; item < end; item++) {
        const yaml_node_t *one = yaml_document_get_node(&loader->document, *item);
        const char *text = rli_yaml_text(one);
        if (!text || !*text)
            return rli_yaml_fail(loader, one, RLOCK_INVALID, "%s has an entry that is not text", key->name);
        length += strlen(text) + 1;
    }
    char *all = rli_owned_memory(loader->owned, length), *to = all;
    if (!all)
        return RLOCK_NO_MEMORY;
    for (yaml_node_item_t *item = from; item < end; item++) {
        if (item > from)
            *to++ = ',';
        to = stpcpy(to, rli_yaml_text(yaml_document_get_node(&loader->document, *item)));
    }
    *(const char **)place_of(loader, field_of(key)) = *all ? all : NULL;
    return RLOCK_OK;
}

/* Redisson 3's setting, which retryDelay replaced. */
static rlock_status use_interval(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    const rli_field *base = rli_field_find("retryBaseDelay");
    const char *text = rli_yaml_text(value);
    int64_t ms;
    if (!text)
        return no_single_value(loader, key, value);
    if (!rli_yaml_number(text, &ms) || ms < base->lowest || ms > base->highest)
        return rli_yaml_fail(loader, value, RLOCK_INVALID,
                             "%s is \"%.40s\"; it must be a whole number of milliseconds "
                             "from %lld to %lld",
                             key->name, text, (long long)base->lowest, (long long)base->highest);
    if (!loader->delay_given)
        loader->draft.retry_base_delay_ms = loader->draft.retry_max_delay_ms = ms;
    return RLOCK_OK;
}

/* Only true can be followed here. */
static rlock_status use_discovery(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    const char *text = rli_yaml_text(value);
    bool flag;
    if (!text || !rli_yaml_flag(text, &flag))
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be true or false", key->name);
    return flag ? RLOCK_OK
                : rli_yaml_warn(loader, rli_yaml_line(value),
                                "%s is false, which has no effect here: sentinels that the configured ones know are "
                                "asked as well",
                                key->name);
}

/* Null means not set for an object, a string or a list. Java has no null for a number or flag. */
static bool says_nothing(const rli_yaml_key *key, const yaml_node_t *value)
{
    if (!rli_yaml_is_nothing(value))
        return false;
    switch (key->use) {
    case RLI_USE_FIELD:
        return field_of(key)->kind == RLI_TEXT;
    case RLI_USE_CAPPED:
    case RLI_USE_NONZERO:
    case RLI_USE_ENDPOINT:
    case RLI_USE_INTERVAL:
    case RLI_USE_DISCOVERY:
        return false;
    default:
        return true;
    }
}

rlock_status rli_yaml_use(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    if (says_nothing(key, value))
        return RLOCK_OK;
    switch (key->use) {
    case RLI_USE_FIELD:
    case RLI_USE_CAPPED:
    case RLI_USE_NONZERO:
        return use_field(loader, key, value);
    case RLI_USE_USER:
        return use_user(loader, key, value);
    case RLI_USE_LIST:
        return use_list(loader, key, value);
    case RLI_USE_FILE:
        return use_file(loader, key, value);
    case RLI_USE_VERIFICATION:
        return use_verification(loader, key, value);
    case RLI_USE_ENDPOINT:
        return use_endpoint(loader, key, value);
    case RLI_USE_ADDRESS:
        return rli_yaml_use_address(loader, key, value);
    case RLI_USE_ADDRESSES:
        return rli_yaml_use_addresses(loader, key, value);
    case RLI_USE_DELAY:
        return rli_yaml_use_delay(loader, key, value);
    case RLI_USE_INTERVAL:
        return use_interval(loader, key, value);
    case RLI_USE_PREFIX:
        return rli_yaml_use_prefix(loader, key, value);
    case RLI_USE_NAT:
        return rli_yaml_use_nat(loader, key, value);
    case RLI_USE_CODEC:
        return rli_yaml_use_codec(loader, value);
    case RLI_USE_JAVA:
    case RLI_USE_JAVA_NEEDED:
        return rli_yaml_use_java(loader, key, value);
    case RLI_USE_DISCOVERY:
        return use_discovery(loader, key, value);
    case RLI_USE_SECTION:
    case RLI_USE_NOT:
        break;
    }
    return RLOCK_OK;
}
