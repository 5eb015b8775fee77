/* Tables: chains of entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/table.h"

#include "tests/sim/server/memory.h"

#include <string.h>

void table_init(table *own, uint64_t seed)
{
    *own = (table){.seed = seed};
}

/* Eight bytes at a time; good enough for names that nobody chooses to collide. */
static uint64_t hash_of(const table *own, text name)
{
    uint64_t hash = own->seed ^ (name.length * 0x9e3779b97f4a7c15u);
    size_t left = name.length;
    for (const char *at = name.at; left; ) {
        uint64_t part = 0;
        size_t now = left < 8 ? left : 8;
        memcpy(&part, at, now);
        hash = (hash ^ part) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
        at += now;
        left -= now;
    }
    hash *= 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 29;
}

static entry **place_of(const table *own, text name, uint64_t hash)
{
    entry **place = &own->chains[hash & (own->size - 1)];
    while (*place && ((*place)->hash != hash || !text_is(entry_name(*place), name)))
        place = &(*place)->next;
    return place;
}

static void grow(table *own)
{
    size_t size = own->size ? own->size * 2 : 4;
    entry **chains = sim_new(size * sizeof *chains);
    for (size_t i = 0; i < own->size; i++) {
        for (entry *one = own->chains[i], *next; one; one = next) {
            next = one->next;
            one->next = chains[one->hash & (size - 1)];
            chains[one->hash & (size - 1)] = one;
        }
    }
    sim_free(own->chains);
    own->chains = chains;
    own->size = size;
}

entry *table_find(const table *own, text name)
{
    return own->count ? *place_of(own, name, hash_of(own, name)) : NULL;
}

entry *table_add(table *own, text name, bool *fresh)
{
    if (own->count == own->size)
        grow(own);
    uint64_t hash = hash_of(own, name);
    entry **place = place_of(own, name, hash);
    *fresh = !*place;
    if (*fresh) {
        entry *one = sim_resize(NULL, sizeof *one + name.length + 1);
        *one = (entry){.hash = hash, .name_length = name.length};
        memcpy(one->name, name.at, name.length);
        one->name[name.length] = 0;
        *place = one;
        own->count++;
    }
    return *place;
}

entry *table_take(table *own, text name)
{
    if (!own->count)
        return NULL;
    entry **place = place_of(own, name, hash_of(own, name)), *one = *place;
    if (one) {
        *place = one->next;
        own->count--;
    }
    return one;
}

entry *table_next(const table *own, const entry *before)
{
    if (before && before->next)
        return before->next;
    for (size_t i = before ? (before->hash & (own->size - 1)) + 1 : 0; i < own->size; i++) {
        if (own->chains[i])
            return own->chains[i];
    }
    return NULL;
}

void table_clear(table *own, void (*free_one)(entry *one))
{
    for (size_t i = 0; i < own->size; i++) {
        for (entry *one = own->chains[i], *next; one; one = next) {
            next = one->next;
            if (free_one)
                free_one(one);
            sim_free(one);
        }
    }
    sim_free(own->chains);
    *own = (table){.seed = own->seed};
}

void entry_put(entry *one, text value)
{
    char *copy = sim_copy(value.at, value.length);
    sim_free(one->bytes);
    one->bytes = copy;
    one->length = value.length;
}
