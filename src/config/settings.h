/* A client's settings: rlock_config and URL, checked and copied. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SETTINGS_H
#define RLI_SETTINGS_H

#include <rlock/config.h>
#include <stdbool.h>

typedef struct rli_settings {
    char *socket_path; /* set: a unix socket; else host and port */
    char *host;
    int port;
    char *username, *password, *client_name, *name_prefix; /* NULL: not set */
    int database;
    int64_t watchdog_timeout_ms;
    int batch_size;
    int64_t timeout_ms, connect_timeout_ms, subscription_timeout_ms, fair_wait_timeout_ms;
    int retry_attempts;
    int64_t retry_base_delay_ms, retry_max_delay_ms;
    int pool_size;
    char address[160]; /* for messages: never with user or password */
} rli_settings;

/* From a config whose address is set. On failure nothing is left to free. RLOCK_OK,
 * RLOCK_INVALID, RLOCK_UNSUPPORTED, RLOCK_NO_MEMORY. */
rlock_status rli_settings_make(rli_settings *settings, const rlock_config *config);
void rli_settings_free(rli_settings *settings);

/* Reads `url` into `settings` (url.c): scheme, place, user, database, query parameters. */
rlock_status rli_settings_read_url(rli_settings *settings, const char *url);

/* One setting by its Redisson name, as text (settings.c). RLOCK_INVALID: unknown or malformed. */
rlock_status rli_settings_set(rli_settings *settings, const char *name, const char *value);

/* Replaces *field by a copy of `length` bytes of `text`. */
rlock_status rli_settings_copy(char **field, const char *text, size_t length);

#endif
