/* A hash table of items that carry their own link. It grows by doubling and never shrinks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* Average links per bucket at which the table grows. A full table then spends half a pointer per item on buckets, and
 * a longer chain costs little. */
#define LOAD 2

static void grow(rli_table *table)
{
    size_t bucket_count = table->bucket_count ? table->bucket_count * 2 : 64;
    rli_link **buckets = calloc(bucket_count, sizeof *buckets);
    if (!buckets)
        return; /* not an error: chains get longer */
    for (size_t i = 0; i < table->bucket_count; i++) {
        for (rli_link *link = table->buckets[i], *next; link; link = next) {
            rli_link **bucket = &buckets[table->hash(link) & (bucket_count - 1)];
            next = link->next;
            link->next = *bucket;
            *bucket = link;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = bucket_count;
}

bool rli_table_add(rli_table *table, rli_link *link)
{
    if (table->count >= table->bucket_count * LOAD)
        grow(table);
    if (!table->bucket_count)
        return false;
    rli_link **bucket = &table->buckets[table->hash(link) & (table->bucket_count - 1)];
    link->next = *bucket;
    *bucket = link;
    table->count++;
    return true;
}

void rli_table_remove(rli_table *table, rli_link *link)
{
    rli_link **at = &table->buckets[table->hash(link) & (table->bucket_count - 1)];
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->count--;
}

rli_link *rli_table_chain(const rli_table *table, uint32_t hash)
{
    return table->bucket_count ? table->buckets[hash & (table->bucket_count - 1)] : NULL;
}

void rli_table_free(rli_table *table)
{
    free(table->buckets);
    *table = (rli_table){.hash = table->hash};
}

uint32_t rli_hash(const void *bytes, size_t length, uint32_t seed)
{
    /* Mix in eight bytes per step; the shift folds the high bits down, so that the low bits depend on all of them. */
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ seed, word;
    for (; length > 8; at += 8, length -= 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, at, length);
    hash = (hash ^ word ^ (uint64_t)length << 56) * UINT64_C(0xD6E8FEB86659FD93);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash >> 32);
}
