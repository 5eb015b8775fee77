/* rlock_config of programs of other versions, and of those that do not know the struct at all. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/config/fields.h"
#include "src/config/settings.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

TestSuite(config_size, .fini = scratch_remove);

#define FILE_TEXT "singleServerConfig:\n  address: redis://h:1\n  clientName: from-file\n"

/* As a later header will have it. */
typedef struct newer_config {
    rlock_config known;
    int64_t further[2];
} newer_config;

static const char *file(void)
{
    static char path[4200];
    scratch_write("redisson.yaml", FILE_TEXT);
    snprintf(path, sizeof path, "%s/redisson.yaml", scratch_folder());
    return path;
}

/* ---- Programs of other versions ---- */

/* They do not use what is new: it is 0, as rlock_config_init_size leaves it. */
Test(config_size, newer_program_loads_files_and_opens_clients)
{
    newer_config config;
    rli_settings settings;
    memset(&config, 0x5a, sizeof config);
    rlock_config_init_size(&config.known, sizeof config);
    assert_ok(rlock_config_load_yaml(&config.known, file()));
    cr_assert(config.known.size == sizeof config && config.further[0] == 0 && config.further[1] == 0);
    cr_assert_str_eq(config.known.client_name, "from-file");
    assert_ok(rli_settings_make(&settings, &config.known));
    cr_assert_str_eq(settings.client_name, "from-file");
    rli_settings_free(&settings);
    rlock_config_free(&config.known);
    cr_assert(config.known.size == sizeof config && !config.known.client_name && !config.known.owned);
}

Test(config_size, newer_program_that_sets_a_newer_field_is_refused)
{
    newer_config config;
    rli_settings settings;
    rlock_config_init_size(&config.known, sizeof config);
    config.further[1] = 1;
    assert_status(rlock_config_load_yaml(&config.known, file()), RLOCK_INVALID);
    assert_error("newer");
    config.known.address = "redis://h";
    assert_status(rli_settings_make(&settings, &config.known), RLOCK_INVALID);
    assert_error("newer");
}

/* The struct of the first release, with what is not the program's behind it. */
Test(config_size, oldest_program_opens_clients_and_is_told_why_it_loads_no_file)
{
    rlock_config config;
    rli_settings settings;
    memset(&config, 0x5a, sizeof config);
    (rlock_config_init)(&config);
    cr_assert(config.size == offsetof(rlock_config, addresses));
    config.address = "redis://h";
    config.timeout_ms = 77;
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.timeout_ms == 77 && settings.unlock_waits && !settings.master_name);
    rli_settings_free(&settings);
    assert_status(rlock_config_load_yaml(&config, file()), RLOCK_INVALID);
    assert_error("no room", "rlock_config_new");
    rlock_config_free(&config);
    cr_assert(*((unsigned char *)&config + offsetof(rlock_config, addresses)) == 0x5a);
}

/* ---- Programs that do not know the struct ---- */

Test(config_size, config_of_the_library_is_filled_loaded_and_deleted)
{
    rlock_config defaults, *config = rlock_config_new();
    rli_settings settings;
    rlock_config_init(&defaults);
    cr_assert(config && memcmp(config, &defaults, sizeof defaults) == 0);
    assert_ok(rlock_config_load_yaml(config, file()));
    assert_ok(rlock_config_set(config, "clientName", "from-program"));
    assert_ok(rli_settings_make(&settings, config));
    cr_assert_str_eq(settings.client_name, "from-program");
    rli_settings_free(&settings);
    rlock_config_delete(config);
    rlock_config_delete(NULL);
}

/* Each by its name in Redisson, with a value that is not the default. */
Test(config_size, every_setting_can_be_set_by_its_name)
{
    const rli_field *field;
    rlock_config *config = rlock_config_new();
    cr_assert(config != NULL);
    for (size_t i = 0; (field = rli_field_at(i)); i++) {
        char value[64];
        const void *place = (char *)config + field->in_config;
        int64_t number = field->kind == RLI_FLAG ? !rli_field_load(field, place) : field->lowest + 1;
        if (field->kind == RLI_TEXT)
            snprintf(value, sizeof value, "text %zu", i);
        else if (field->kind == RLI_FLAG)
            snprintf(value, sizeof value, "%s", number ? "true" : "false");
        else if (field->kind == RLI_WORD)
            snprintf(value, sizeof value, "%s", field->words[number]);
        else
            snprintf(value, sizeof value, "%lld", (long long)number);
        assert_ok(rlock_config_set(config, field->name, value));
        if (field->kind == RLI_TEXT)
            cr_assert_str_eq(*(const char *const *)place, value);
        else
            cr_assert(rli_field_load(field, place) == number, "%s", field->name);
    }
    rlock_config_delete(config);
}

Test(config_size, address_user_and_password_are_set_by_name_too)
{
    rlock_config *config = rlock_config_new();
    rli_settings settings;
    cr_assert(config != NULL);
    assert_ok(rlock_config_load_yaml(config, file()));
    assert_ok(rlock_config_set(config, "address", "redis://other:2")); /* instead of the file's */
    assert_ok(rlock_config_set(config, "username", "somebody"));
    assert_ok(rlock_config_set(config, "password", "secret"));
    assert_ok(rli_settings_make(&settings, config));
    cr_assert(settings.address_count == 1);
    cr_assert_str_eq(settings.addresses[0].text, "other:2");
    cr_assert_str_eq(settings.username, "somebody");
    cr_assert_str_eq(settings.password, "secret");
    rli_settings_free(&settings);
    assert_ok(rlock_config_set(config, "username", NULL));
    cr_assert(config->username == NULL);
    rlock_config_delete(config);
}

Test(config_size, what_cannot_be_set_is_named_and_nothing_changes)
{
    static const struct {
        const char *name, *value, *words[2];
    } cases[] = {
        {"adress", "redis://h", {"unknown setting \"adress\"", "\"address\""}},
        {"timout", "1", {"\"timeout\""}},
        {"timeout", "soon", {"timeout", "whole number"}},
        {"timeout", "0", {"timeout", "from 1"}},
        {"timeout", NULL, {"timeout", "must not be NULL"}},
        {"sslVerificationMode", "LAX", {"STRICT"}},
        {NULL, "1", {"name must not be NULL"}},
    };
    rlock_config before, *config = rlock_config_new();
    cr_assert(config != NULL);
    memcpy(&before, config, sizeof before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_status(rlock_config_set(config, cases[i].name, cases[i].value), RLOCK_INVALID);
        for (size_t w = 0; w < 2 && cases[i].words[w]; w++)
            assert_error(cases[i].words[w]);
        cr_assert(memcmp(config, &before, sizeof before) == 0, "case %zu changed the config", i);
    }
    assert_status(rlock_config_set(NULL, "timeout", "1"), RLOCK_INVALID);
    assert_error("config must not be NULL");
    rlock_config_delete(config);
}
