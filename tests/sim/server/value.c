/* Values: making, copying and freeing them; lists; sorted sets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/value.h"

#include "tests/sim/server/memory.h"

#include <string.h>

sim_value *value_make(value_type type, uint64_t seed)
{
    sim_value *own = sim_new(sizeof *own);
    own->type = type;
    own->expires_ms = NO_EXPIRY;
    if (type == VALUE_HASH || type == VALUE_SET)
        table_init(&own->members, seed);
    else if (type == VALUE_ZSET)
        table_init(&own->zset.scores, seed);
    return own;
}

static void free_text(entry *one)
{
    sim_free(one->bytes);
}

void value_free(sim_value *own)
{
    switch (own->type) {
    case VALUE_STRING:
        bytes_free(&own->string);
        break;
    case VALUE_HASH:
        table_clear(&own->members, free_text);
        break;
    case VALUE_SET:
        table_clear(&own->members, NULL);
        break;
    case VALUE_LIST:
        for (size_t i = own->list.first; i < own->list.end; i++)
            bytes_free(&own->list.items[i]);
        sim_free(own->list.items);
        break;
    case VALUE_ZSET:
        table_clear(&own->zset.scores, NULL);
        sim_free(own->zset.order);
        break;
    }
    sim_free(own);
}

sim_value *value_copy(const sim_value *from, uint64_t seed)
{
    sim_value *copy = value_make(from->type, seed);
    copy->expires_ms = from->expires_ms;
    bool fresh;
    switch (from->type) {
    case VALUE_STRING:
        bytes_add(&copy->string, from->string.at, from->string.length);
        break;
    case VALUE_HASH:
    case VALUE_SET:
        for (entry *one = table_next(&from->members, NULL); one; one = table_next(&from->members, one)) {
            entry *own = table_add(&copy->members, entry_name(one), &fresh);
            if (from->type == VALUE_HASH)
                entry_put(own, entry_text(one));
        }
        break;
    case VALUE_LIST:
        for (size_t i = 0; i < list_size(from); i++)
            list_push(copy, list_item(from, i), true);
        break;
    case VALUE_ZSET:
        for (size_t i = 0; i < from->zset.scores.count; i++)
            zset_set(copy, entry_name(from->zset.order[i]), from->zset.order[i]->score);
        break;
    }
    return copy;
}

size_t value_size(const sim_value *own)
{
    switch (own->type) {
    case VALUE_STRING:
        break;
    case VALUE_HASH:
    case VALUE_SET:
        return own->members.count;
    case VALUE_LIST:
        return list_size(own);
    case VALUE_ZSET:
        return own->zset.scores.count;
    }
    return 1;
}

const char *value_type_name(value_type type)
{
    static const char *const names[] = {"string", "hash", "list", "set", "zset"};
    return names[type];
}

/* --- lists --- */

/* Room for one more at either end. */
static void make_room(sim_value *list)
{
    if (list->list.first > 0 && list->list.end < list->list.room)
        return;
    size_t size = list_size(list), room = size * 2 + 8, first = (room - size) / 2;
    bytes *items = sim_new(room * sizeof *items);
    if (size)
        memcpy(items + first, list->list.items + list->list.first, size * sizeof *items);
    sim_free(list->list.items);
    list->list.items = items;
    list->list.room = room;
    list->list.first = first;
    list->list.end = first + size;
}

static bytes copy_of(text item)
{
    return (bytes){sim_copy(item.at, item.length), item.length, item.length + 1};
}

void list_push(sim_value *list, text item, bool at_the_end)
{
    make_room(list);
    bytes *place = at_the_end ? &list->list.items[list->list.end++] : &list->list.items[--list->list.first];
    *place = copy_of(item);
}

void list_take(sim_value *list, size_t at)
{
    bytes *place = &list->list.items[list->list.first + at];
    bytes_free(place);
    if (at == 0) {
        list->list.first++;
        return;
    }
    memmove(place, place + 1, (list_size(list) - at - 1) * sizeof *place);
    list->list.end--;
}

void list_set(sim_value *list, size_t at, text item)
{
    bytes *place = &list->list.items[list->list.first + at], fresh = copy_of(item);
    bytes_free(place);
    *place = fresh;
}

void list_insert(sim_value *list, size_t at, text item)
{
    make_room(list);
    bytes *place = &list->list.items[list->list.first + at];
    memmove(place + 1, place, (list_size(list) - at) * sizeof *place);
    list->list.end++;
    *place = copy_of(item);
}

/* --- sorted sets --- */

static int zset_compare(const entry *member, double score, text name)
{
    if (member->score != score)
        return member->score < score ? -1 : 1;
    return text_order(entry_name(member), name);
}

/* Where a member of that score and name is, or would be. */
static size_t place_in(const sim_value *zset, double score, text name)
{
    size_t low = 0, high = zset->zset.scores.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zset_compare(zset->zset.order[middle], score, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* memmove by one place, in blocks: that of the address sanitizer goes byte by byte, which takes minutes for a hundred
 * thousand members in any order. */
#define BLOCK 512

static void move_down(entry **place, size_t count)
{
    entry *block[BLOCK];
    for (size_t done = 0, size; done < count; done += size) {
        size = count - done < BLOCK ? count - done : BLOCK;
        memcpy(block, place + done + 1, size * sizeof *place);
        memcpy(place + done, block, size * sizeof *place);
    }
}

static void move_up(entry **place, size_t count)
{
    entry *block[BLOCK];
    for (size_t left = count, size; left > 0; left -= size) {
        size = left < BLOCK ? left : BLOCK;
        memcpy(block, place + left - size, size * sizeof *place);
        memcpy(place + left - size + 1, block, size * sizeof *place);
    }
}

static void take_from_order(sim_value *zset, const entry *member)
{
    size_t at = place_in(zset, member->score, entry_name(member));
    move_down(&zset->zset.order[at], zset->zset.scores.count - at - 1);
}

bool zset_set(sim_value *zset, text member, double score)
{
    bool fresh;
    entry *one = table_find(&zset->zset.scores, member);
    if (one && one->score == score)
        return false;
    if (one) {
        take_from_order(zset, one);
        zset->zset.scores.count--; /* while it is looked for its new place */
    }
    size_t count = zset->zset.scores.count, at = place_in(zset, score, member);
    if (one) {
        zset->zset.scores.count++;
        fresh = false;
    } else {
        one = table_add(&zset->zset.scores, member, &fresh);
    }
    one->score = score;
    if (count == zset->zset.room) {
        zset->zset.room = count * 2 + 4;
        zset->zset.order = sim_resize(zset->zset.order, zset->zset.room * sizeof(entry *));
    }
    move_up(&zset->zset.order[at], count - at);
    zset->zset.order[at] = one;
    return fresh;
}

bool zset_remove(sim_value *zset, text member)
{
    const entry *one = table_find(&zset->zset.scores, member);
    if (!one)
        return false;
    take_from_order(zset, one);
    sim_free(table_take(&zset->zset.scores, member));
    return true;
}

size_t zset_below(const sim_value *zset, double score, bool inclusive)
{
    size_t low = 0, high = zset->zset.scores.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double there = zset->zset.order[middle]->score;
        if (there < score || (inclusive && there == score))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t zset_rank(const sim_value *zset, const entry *member)
{
    return place_in(zset, member->score, entry_name(member));
}
