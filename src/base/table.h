/* A hash table of items that carry their own link. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TABLE_H
#define RLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_link {
    struct rli_link *next;
} rli_link;

typedef struct rli_table {
    uint32_t (*hash)(const rli_link *link); /* of an item; set by whoever makes the table */
    rli_link **buckets;
    size_t bucket_count, count;
} rli_table;

/* Adds `link`; false: out of memory (only while the table has no bucket at all). */
bool rli_table_add(rli_table *table, rli_link *link);
void rli_table_remove(rli_table *table, rli_link *link);
/* The chain to walk for `hash`; it may hold links of other hashes. */
rli_link *rli_table_chain(const rli_table *table, uint32_t hash);
void rli_table_free(rli_table *table); /* the buckets, not the items */

uint32_t rli_hash(const void *bytes, size_t length, uint32_t seed);

#define RLI_ITEM(type, link, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

#endif
