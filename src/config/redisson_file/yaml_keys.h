/* The keys of Redisson's configuration file, and what each means here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YAML_KEYS_H
#define RLI_YAML_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Where a key may stand; a set of these. */
enum {
    RLI_AT_TOP = 1,
    RLI_IN_SINGLE = 2,
    RLI_IN_SENTINEL = 4,
    RLI_IN_CLUSTER = 8,
    RLI_IN_MASTER_SLAVE = 16,
    RLI_IN_REPLICATED = 32
};

typedef enum rli_key_use {
    RLI_USE_FIELD,        /* a setting of that name, or of that in `field` */
    RLI_USE_CAPPED,       /* the same; a number beyond our range becomes the highest */
    RLI_USE_NONZERO,      /* the same; 0 and false say nothing */
    RLI_USE_USER,         /* username, password */
    RLI_USE_LIST,         /* a setting that is a text with commas here */
    RLI_USE_FILE,         /* a setting that is a URL of a file */
    RLI_USE_VERIFICATION, /* sslVerificationMode */
    RLI_USE_ENDPOINT,     /* sslEnableEndpointIdentification */
    RLI_USE_ADDRESS,      /* one server: the only one, or the master */
    RLI_USE_ADDRESSES,    /* several */
    RLI_USE_DELAY,        /* retryDelay */
    RLI_USE_INTERVAL,     /* retryInterval */
    RLI_USE_PREFIX,       /* nameMapper */
    RLI_USE_NAT,          /* natMapper, natMap */
    RLI_USE_SECTION,      /* …ServersConfig */
    RLI_USE_JAVA,         /* a Java class of the program: only Redisson's own default can be followed */
    RLI_USE_JAVA_NEEDED,  /* the same, and without it locks would be others */
    RLI_USE_LAZY,         /* lazyInitialization: it is always off here */
    RLI_USE_DISCOVERY,    /* sentinelsDiscovery: it is always on here */
    RLI_USE_NOT           /* does not matter to locks */
} rli_key_use;

typedef struct rli_yaml_key {
    const char *name;
    unsigned where;
    rli_key_use use;
    const char *field; /* NULL: its own name */
    bool top_wins;     /* what stands at the top goes before what stands in the section */
} rli_yaml_key;

/* The key called `name` at `where`; NULL: unknown there. */
const rli_yaml_key *rli_yaml_key_find(unsigned where, const char *name);
#define RLI_YAML_KEYS_MAX 128 /* there are not more */
/* The i-th key, and its name; NULL behind the last. */
const rli_yaml_key *rli_yaml_key_at(size_t i);
const char *rli_yaml_key_name(size_t i);

#endif
