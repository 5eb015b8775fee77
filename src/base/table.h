/* A hash table of items that carry their own link.
 *
 * The caller provides the locking. */
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
    /* hash of an item; set by the owner of the table, the rest starts as zero */
    uint32_t (*hash)(const rli_link *link);
    rli_link **buckets;
    size_t bucket_count, count;
} rli_table;

/* Adds `link`. False: out of memory, possible only while the table has no buckets at all. */
bool rli_table_add(rli_table *table, rli_link *link);
/* Removes `link`, which must be in the table. */
void rli_table_remove(rli_table *table, rli_link *link);
/* The chain in which links with this hash are; NULL if it is empty. It may also hold links with other hashes. */
rli_link *rli_table_chain(const rli_table *table, uint32_t hash);
/* Frees the buckets, not the items. The table is then empty and may be used again. */
void rli_table_free(rli_table *table);

/* A hash of `length` bytes. Not for secrets: it does not resist chosen input. */
uint32_t rli_hash(const void *bytes, size_t length, uint32_t seed);

/* The item whose field `member` is `link`. */
#define RLI_ITEM(type, link, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

#endif
