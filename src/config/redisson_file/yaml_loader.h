/* What is known while Redisson's configuration file is read. */
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
    char file[RLI_NAME_SHOWN]; /* for messages */
    yaml_document_t document;
    rlock_config draft;       /* becomes the caller's config when all went well */
    rli_owned *owned;         /* what the draft owns */
    const char *given_prefix; /* the caller's name_prefix: it stands for any nameMapper */
    rli_mode mode;
    rli_yaml_server *master, *servers, **last_server; /* the one of an …address; those of a list */
    bool tls, tls_known;
    bool delay_given; /* retryDelay: it goes before retryInterval */
    char stray[240];  /* the first key that is unknown or misplaced, for the message of one that is missing */
    int merges;       /* how many << were followed */
    bool again;       /* the second look at the top: nothing is warned of twice */
} rli_yaml_loader;

/* Notes "file:line: …" for rlock_last_error(); answers `status`. */
rlock_status rli_yaml_fail(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same, RLOCK_INVALID, of something that is missing: what may have been meant to be it is named. */
rlock_status rli_yaml_fail_missing(const rli_yaml_loader *loader, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same before what rlock_last_error() has. */
rlock_status rli_yaml_fail_again(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status);
/* Adds such a line to the warnings. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_yaml_warn(rli_yaml_loader *loader, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t rli_yaml_line(const yaml_node_t *at);

/* Whether the node is an unquoted nothing. */
bool rli_yaml_is_nothing(const yaml_node_t *node);
/* The text of a scalar; NULL: it is none, or has a 0 in it. */
const char *rli_yaml_text(const yaml_node_t *node);

/* Takes the value of a key that is no section into the draft (yaml_use.c). */
rlock_status rli_yaml_use(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);

/* The uses of the values that are Java objects (yaml_object.c). */
rlock_status rli_yaml_use_delay(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_prefix(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_nat(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_java(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);

/* The uses of addresses (yaml_servers.c), and what becomes of them in the end. */
rlock_status rli_yaml_use_address(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_use_addresses(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value);
rlock_status rli_yaml_finish_servers(rli_yaml_loader *loader, const char *section, const yaml_node_t *at);

#endif
