/* Entry: a name in use; of a group lock, a group and its values. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/entry.h"

#include "base/list.h"
#include "engine/engine.h"
#include "engine/values.h"

#include <stdlib.h>
#include <string.h>

/* Where an entry has what only those of group locks have: behind the name, aligned. */
static size_t group_offset(size_t length)
{
    size_t align = _Alignof(rli_entry_group);
    return (offsetof(rli_entry, name) + length + align) / align * align;
}

static rli_entry_group *group_of(const rli_entry *entry)
{
    return (rli_entry_group *)(void *)((char *)(uintptr_t)entry + group_offset(entry->length));
}

const rli_values *rli_entry_values(const rli_entry *entry)
{
    return entry->grouped ? group_of(entry)->values : NULL;
}

/* Group locks of the same values are one entry: the digest of their fields tells them apart. */
static uint32_t name_hash(const char *name, size_t length, const rli_values *values)
{
    return rli_hash(name, length, values ? rli_hash(values->digest, sizeof values->digest, 1) : 0);
}

static bool same_values(const rli_values *one, const rli_values *other)
{
    return one == other || (one && other && memcmp(one->digest, other->digest, sizeof one->digest) == 0);
}

uint32_t rli_entry_hash(const rli_link *link)
{
    const rli_entry *entry = RLI_ITEM(rli_entry, link, link);
    return name_hash(entry->name, entry->length, rli_entry_values(entry));
}

static rli_entry *find(const rli_engine *engine, const char *name, size_t length, const rli_values *values)
{
    uint32_t hash = name_hash(name, length, values);
    for (rli_link *link = rli_table_chain(&engine->entries, hash); link; link = link->next) {
        rli_entry *entry = RLI_ITEM(rli_entry, link, link);
        if (entry->length == length && memcmp(entry->name, name, length) == 0 &&
            same_values(rli_entry_values(entry), values))
            return entry;
    }
    return NULL;
}

rli_entry *rli_entry_find(const rli_engine *engine, const rli_names *names)
{
    return find(engine, names->name, names->length, names->values);
}

rli_entry *rli_entry_find_name(const rli_engine *engine, const char *name, size_t length)
{
    return find(engine, name, length, NULL);
}

/* NULL: out of memory. */
static rli_entry *make_entry(rli_engine *engine, const rli_names *names)
{
    size_t own = offsetof(rli_entry, name) + names->length + 1;
    if (own < sizeof(rli_entry))
        own = sizeof(rli_entry);
    rli_entry *entry = malloc(names->values ? group_offset(names->length) + sizeof(rli_entry_group) : own);
    if (!entry)
        return NULL;
    *entry = (rli_entry){.length = names->length & INT32_MAX, .grouped = names->values != NULL};
    memcpy(entry->name, names->name, names->length + 1);
    if (names->values)
        *group_of(entry) = (rli_entry_group){.values = names->values, .entry = entry};
    if (!rli_table_add(&engine->entries, &entry->link)) {
        free(entry);
        return NULL;
    }
    if (names->values) {
        rli_values_ref(names->values);
        RLI_LIST_ADD(engine->groups, group_of(entry));
    }
    return entry;
}

rli_entry *rli_entry_ref(rli_engine *engine, const rli_names *names)
{
    rli_entry *entry = rli_entry_find(engine, names);
    if (!entry)
        entry = make_entry(engine, names);
    if (entry)
        entry->references++;
    return entry;
}

rlock_status rli_entry_names(const rli_entry *entry, const rli_naming *naming, rli_names *names)
{
    rlock_status status = rli_names_make(names, NULL, entry->name, naming);
    if (status == RLOCK_OK && entry->grouped)
        names->values = rli_values_ref(group_of(entry)->values);
    return status;
}

static bool owns(const rli_session *session, const rli_owner *owner)
{
    rli_owner own = rli_session_owner(session);
    return own.number == owner->number && own.named == owner->named;
}

/* Returns whether both are group locks of one group, with other values. */
static bool is_of_same_group(const rli_entry *one, const rli_entry *other)
{
    return one != other && one->length == other->length && memcmp(one->name, other->name, one->length) == 0;
}

static bool is_held_by(const rli_entry *entry, const rli_owner *owner)
{
    for (const rli_session *session = entry->sessions; session; session = session->next) {
        if (session->phase == RLI_OPEN && session->count > 0 && !session->releasing && owns(session, owner) &&
            rli_now_ms() < session->deadline_ms)
            return true;
    }
    return false;
}

bool rli_entry_has_rival(const rli_engine *engine, const rli_entry *entry, const rli_owner *owner)
{
    for (const rli_entry_group *group = engine->groups; group; group = group->next) {
        const rli_entry *other = group->entry;
        if (is_of_same_group(entry, other) && rli_values_meet(group->values, group_of(entry)->values) &&
            is_held_by(other, owner))
            return true;
    }
    return false;
}

void rli_entry_each_meeting(const rli_engine *engine, rli_entry *entry, void (*act)(void *, rli_entry *),
                            void *argument)
{
    act(argument, entry);
    for (rli_entry_group *group = entry->grouped ? engine->groups : NULL; group; group = group->next) {
        rli_entry *other = group->entry;
        if (is_of_same_group(entry, other) && rli_values_meet(group->values, group_of(entry)->values))
            act(argument, other);
    }
}

void rli_entry_each_waited(const rli_engine *engine, rli_entry *entry, void (*act)(void *, rli_entry *), void *argument)
{
    if (entry->queues)
        act(argument, entry);
    for (rli_waited_group *group = entry->grouped ? engine->waited_groups : NULL; group; group = group->next) {
        if (is_of_same_group(entry, group->entry) &&
            rli_values_meet(group_of(group->entry)->values, group_of(entry)->values))
            act(argument, group->entry);
    }
}

void rli_entry_unref(rli_engine *engine, rli_entry *entry)
{
    if (--entry->references > 0)
        return;
    rli_table_remove(&engine->entries, &entry->link);
    if (entry->grouped) {
        RLI_LIST_REMOVE(engine->groups, group_of(entry));
        if (entry->queues)
            RLI_LIST_REMOVE(engine->waited_groups, &group_of(entry)->waited);
        rli_values_unref(group_of(entry)->values);
    }
    free(entry->queues);
    free(entry);
}

bool rli_entry_open_queues(rli_engine *engine, rli_entry *entry)
{
    if (entry->queues || !(entry->queues = calloc(1, sizeof *entry->queues)))
        return entry->queues;
    if (entry->grouped) {
        group_of(entry)->waited.entry = entry;
        RLI_LIST_ADD(engine->waited_groups, &group_of(entry)->waited);
    }
    rli_yield_begin(&entry->queues->yield, &engine->missed[rli_entry_hash(&entry->link) % RLI_MISSED_SLOTS]);
    return true;
}
