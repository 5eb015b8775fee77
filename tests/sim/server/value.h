/* Values: what a key holds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_VALUE_H
#define SIM_SERVER_VALUE_H

#include "tests/sim/server/table.h"

typedef enum value_type { VALUE_STRING, VALUE_HASH, VALUE_LIST, VALUE_SET, VALUE_ZSET } value_type;

#define NO_EXPIRY (-1)

typedef struct sim_value {
    value_type type;
    int64_t expires_ms; /* after that instant it is gone; NO_EXPIRY */
    union {
        bytes string;
        table members; /* of a hash: with a text each; of a set */
        struct {
            bytes *items; /* `first` of them are free */
            size_t first, end, room;
        } list;
        struct {
            table scores;
            entry **order; /* by score, then by name */
            size_t room;
        } zset;
    };
} sim_value;

sim_value *value_make(value_type type, uint64_t seed);
void value_free(sim_value *own);
sim_value *value_copy(const sim_value *from, uint64_t seed);
size_t value_size(const sim_value *own); /* members; 1 for a string */
const char *value_type_name(value_type type);

void list_push(sim_value *list, text item, bool at_the_end);
void list_take(sim_value *list, size_t at); /* removes it */
static inline size_t list_size(const sim_value *list)
{
    return list->list.end - list->list.first;
}
static inline text list_item(const sim_value *list, size_t at)
{
    const bytes *item = &list->list.items[list->list.first + at];
    return (text){item->at, item->length};
}
void list_set(sim_value *list, size_t at, text item);
void list_insert(sim_value *list, size_t at, text item); /* before the item that is there */

/* Redis 6.2 keeps -0, later versions do not. True: it is new. */
bool zset_set(sim_value *zset, text member, double score);
bool zset_remove(sim_value *zset, text member);
/* How many have a lower score; `inclusive`: or that one. */
size_t zset_below(const sim_value *zset, double score, bool inclusive);
size_t zset_rank(const sim_value *zset, const entry *member);

#endif
