/* YAML keys: the keys of Redisson's configuration file, and what each means here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YAML_KEYS_H
#define RLI_YAML_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Where in the file a key is allowed; a set of these. */
enum {
    RLI_AT_TOP = 1,
    RLI_IN_SINGLE = 2,
    RLI_IN_SENTINEL = 4,
    RLI_IN_CLUSTER = 8,
    RLI_IN_MASTER_SLAVE = 16,
    RLI_IN_REPLICATED = 32
};

typedef enum rli_key_use {
    /* The setting of that name, or of the name in `field`. */
    RLI_USE_FIELD,
    /* The same; a number above the range becomes the highest allowed. */
    RLI_USE_CAPPED,
    /* The same; 0 and false mean not set. */
    RLI_USE_NONZERO,
    RLI_USE_USER, /* username, password */
    /* A list in the file, text with commas in the setting. */
    RLI_USE_LIST,
    /* The URL of a file. */
    RLI_USE_FILE,
    RLI_USE_VERIFICATION, /* sslVerificationMode */
    RLI_USE_ENDPOINT,     /* sslEnableEndpointIdentification */
    RLI_USE_ADDRESS,      /* one server: the only one, or the master */
    RLI_USE_ADDRESSES,    /* several servers */
    RLI_USE_DELAY,        /* retryDelay */
    RLI_USE_INTERVAL,     /* retryInterval */
    RLI_USE_PREFIX,       /* nameMapper */
    RLI_USE_NAT,          /* natMapper, natMap */
    RLI_USE_CODEC,        /* codec */
    RLI_USE_SECTION,      /* …ServersConfig */
    /* An object of a Java class: only Redisson's default can be followed; others are warned of. */
    RLI_USE_JAVA,
    /* The same; others are refused, because locks would have other names or commands than in Java. */
    RLI_USE_JAVA_NEEDED,
    RLI_USE_DISCOVERY, /* sentinelsDiscovery: always true here */
    RLI_USE_NOT        /* ignored: does not concern locks */
} rli_key_use;

typedef struct rli_yaml_key {
    const char *name;
    unsigned where;
    rli_key_use use;
    const char *field; /* NULL: same as `name` */
    /* The value at the top level overrides the value in the section. */
    bool top_wins;
} rli_yaml_key;

/* The key `name`, if it is allowed at `where`; NULL: unknown there. */
const rli_yaml_key *rli_yaml_key_find(unsigned where, const char *name);
#define RLI_YAML_KEYS_MAX 128 /* at least the number of keys */
/* The i-th key, and its name; NULL after the last one. */
const rli_yaml_key *rli_yaml_key_at(size_t i);
const char *rli_yaml_key_name(size_t i);

#endif
