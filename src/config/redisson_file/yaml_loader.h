/* YAML loader: the state while Redisson's configuration file is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YAML_LOADER_H
#define RLI_YAML_LOADER_H

#include "base/error.h"
#include "config/owned.h"
#include "config/redisson_file/yaml_keys.h"
#include "config/settings.h"

#include <rlock/config.h>
#include <stdbool.h>
#include <yaml.h>

typedef struct rli_yaml_server {
    const char *url;
    char place[160]; /* for messages and comparisons */
    struct rli_yaml_server *next;
} rli_yaml_server;

typedef struct rli_yaml_loader {
    char file[RLI_NAME_SHOWN]; /* its name, for messages */
    yaml_document_t document;
    rlock_config draft;       /* becomes the caller's config on success */
    rli_owned *owned;         /* memory of the draft */
    bool replaced;            /* something in the file was replaced from the environment */
    const char *given_prefix; /* the caller's name_prefix; it replaces any nameMapper */
    rli_mode mode;
    /* The server of an …address key, and those of a list. */
    rli_yaml_server *master, *servers, **last_server;
    bool tls, tls_known;
    bool delay_given; /* retryDelay was given, which overrides retryInterval */
    /* The first key that is unknown or misplaced, for the message about a key that is missing. */
    char stray[240];
    int merges, nested_merges; /* how many << were followed, in all, and to where it reads now */
    /* The top level is read for the second time: no warning is given twice. */
    bool again;
} rli_yaml_loader;

/* Sets rlock_last_error() to "file:line: …", with the warning of a ${NAME} in that value that is not set; returns
 * `status`. */
rlock_status rli_yaml_fail(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with RLOCK_INVALID, for a key that is missing. The message also names `stray`, which may be that
 * key misspelt. */
rlock_status rli_yaml_fail_missing(const rli_yaml_loader *loader, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with the current text of rlock_last_error() after "file:line: ". */
rlock_status rli_yaml_fail_again(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status);
/* Adds a line "file:line: …" to the warnings. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_yaml_warn(rli_yaml_loader *loader, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t rli_yaml_line(const yaml_node_t *at);

/* Whether the node is an unquoted null. */
bool rli_yaml_is_nothing(const yaml_node_t *node);
/* The text of a scalar; NULL: the node is not a scalar, or contains a 0 byte. */
const char *rli_yaml_text(const yaml_node_t *node);

/* Applies the value of a key, unless it is a section, to the draft (yaml_use.c). */
rlock_status rli_yaml_use(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);

/* Apply values that are Java objects (yaml_object.c). */
rlock_status rli_yaml_use_delay(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_prefix(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_nat(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_codec(rli_yaml_loader *loader, yaml_node_t *value);
rlock_status rli_yaml_use_java(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);

/* Apply addresses; rli_yaml_finish_servers then sets the draft's addresses (yaml_servers.c). */
rlock_status rli_yaml_use_address(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_addresses(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_finish_servers(rli_yaml_loader *loader, const char *section, const yaml_node_t *at);

#endif
