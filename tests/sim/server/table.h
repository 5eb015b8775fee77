/* Tables: what a text names. The order in which entries are met comes from a seed, as nobody may rely on one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_TABLE_H
#define SIM_SERVER_TABLE_H

#include "tests/sim/server/text.h"

typedef struct entry {
    struct entry *next; /* in its chain */
    uint64_t hash;
    union {
        void *pointer;
        char *bytes; /* with `length` */
        double score;
    };
    size_t length;
    size_t name_length;
    char name[];
} entry;

typedef struct table {
    entry **chains; /* a power of two */
    size_t size, count;
    uint64_t seed;
} table;

void table_init(table *own, uint64_t seed);
/* Calls `free_one`, if any, with each entry. */
void table_clear(table *own, void (*free_one)(entry *one));
entry *table_find(const table *own, text name);
/* The entry; *fresh: it was not there. */
entry *table_add(table *own, text name, bool *fresh);
/* Takes it out; sim_free frees it. NULL: not there. */
entry *table_take(table *own, text name);
/* Each once: the first with NULL. The one that was given may have been taken out, if its successor was asked before. */
entry *table_next(const table *own, const entry *before);

static inline text entry_name(const entry *one)
{
    return (text){one->name, one->name_length};
}
/* The bytes that the entry holds. */
static inline text entry_text(const entry *one)
{
    return (text){one->bytes, one->length};
}
void entry_put(entry *one, text value); /* frees what it held */

#endif
