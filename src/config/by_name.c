/* rlock_config_set: sets one setting by its name, from text, for programs that do not know the struct. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/hint.h"
#include "config/owned.h"

#include <string.h>

/* Settings of a config that are not query parameters of a URL; a URL has other places for them. */
static const struct {
    const char *name;
    size_t offset;
} others[] = {
    {"address", offsetof(rlock_config, address)},
    {"username", offsetof(rlock_config, username)},
    {"password", offsetof(rlock_config, password)},
};
#define OTHER_COUNT (sizeof others / sizeof *others)

static const char *name_at(size_t i)
{
    return i < OTHER_COUNT ? others[i].name : rli_field_name(i - OTHER_COUNT);
}

/* The field that holds the string setting `name`; NULL: the setting is not a string, or does not exist. */
static const char **text_place(rlock_config *config, const char *name, const rli_field *field)
{
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        if (strcmp(others[i].name, name) == 0)
            return (const char **)(void *)((char *)config + others[i].offset);
    }
    bool text = field && field->kind == RLI_TEXT;
    return text ? (const char **)(void *)((char *)config + field->in_config) : NULL;
}

static rlock_status set_text(rlock_config *config, const char **place, const char *value)
{
    if (value) {
        if (!config->owned && !(config->owned = rli_owned_new()))
            return rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
        value = rli_owned_text(config->owned, value, strlen(value));
        if (!value)
            return RLOCK_NO_MEMORY;
    }
    *place = value;
    if (place == &config->address) { /* replaces the addresses that a file gave */
        config->addresses = NULL;
        config->address_count = 0;
    }
    return RLOCK_OK;
}

static rlock_status set(rlock_config *config, const char *name, const char *value)
{
    const rli_field *field = rli_field_find(name);
    const char **place = text_place(config, name, field);
    char hint[RLI_HINT_SHOWN];
    int64_t number;
    if (place)
        return set_text(config, place, value);
    if (!field)
        return rli_fail(RLOCK_INVALID,
                        "unknown setting \"%.60s\"%s; the names are those of Redisson, listed in "
                        "rlock(1) and <rlock/config.h>",
                        name, rli_hint(name, name_at, hint));
    if (!value)
        return rli_fail(RLOCK_INVALID, "the value of %s must not be NULL; only a text can be unset with NULL", name);
    rlock_status status = rli_field_read(field, value, &number);
    if (status == RLOCK_OK)
        rli_field_store(field, (char *)config + field->in_config, number);
    return status;
}

rlock_status rlock_config_set(rlock_config *config, const char *name, const char *value)
{
    rlock_config full;
    rlock_status status = rli_config_read_owner(&full, config);
    if (status != RLOCK_OK)
        return status;
    if (!name)
        return rli_fail(RLOCK_INVALID, "the setting's name must not be NULL");
    status = set(&full, name, value);
    config->owned = full.owned;
    if (status == RLOCK_OK)
        rli_config_write(config, &full);
    return status;
}
