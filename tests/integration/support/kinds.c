/* Kinds: the locks of one interface, for suites that are stamped out per kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/kinds.h"

#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNERS 16

#define LOCK_CHANNEL "redisson_lock__channel"
#define SIDES_CHANNEL "redisson_rwlock"

#define SCRIPTS(has_acquire, has_release, has_force)                                                \
    .acquire = &rli_script_##has_acquire, .release = &rli_script_##has_release, .force = &rli_script_##has_force
#define LOCK_SCRIPTS SCRIPTS(lock_acquire, lock_release, lock_force)
#define FAIR_SCRIPTS SCRIPTS(fair_acquire, fair_release, fair_force)

const kind kind_reentrant = {.name = "reentrant", .get = rlock_get_lock, .channel = LOCK_CHANNEL, .field = "",
                             LOCK_SCRIPTS};
const kind kind_spin = {.name = "spin", .get = rlock_get_spin_lock, .field = "",
                        SCRIPTS(lock_acquire, spin_release, spin_force)};
const kind kind_fenced = {.name = "fenced", .get = rlock_get_fenced_lock, .channel = LOCK_CHANNEL, .field = "",
                          SCRIPTS(fenced_acquire, lock_release, lock_force)};
const kind kind_read = {.name = "read", .get = get_read, .shared = true, .both_sides = true,
                        .channel = SIDES_CHANNEL, .field = "", SCRIPTS(read_acquire, read_release, read_force)};
const kind kind_write = {.name = "write", .get = get_write, .both_sides = true, .channel = SIDES_CHANNEL,
                         .field = ":write", SCRIPTS(write_acquire, write_release, write_force)};
const kind kind_non_reentrant = {.name = "non_reentrant", .get = rlock_get_non_reentrant_lock, .once = true,
                                 .channel = LOCK_CHANNEL, .field = "", LOCK_SCRIPTS};
const kind kind_fair = {.name = "fair", .get = rlock_get_fair_lock, .fair = true, .channel = LOCK_CHANNEL, .field = "",
                        FAIR_SCRIPTS};
const kind kind_non_reentrant_fair = {.name = "non_reentrant_fair", .get = rlock_get_non_reentrant_fair_lock,
                                      .once = true, .fair = true, .channel = LOCK_CHANNEL, .field = "", FAIR_SCRIPTS};
const kind kind_token = {.name = "token", .get = rlock_get_token_lock, .channel = "rlock_token_channel",
                         SCRIPTS(token_acquire, token_release, token_force)};
const kind kind_signal = {.name = "signal", .get = rlock_get_signal_lock, .before = "lock:",
                          SCRIPTS(token_acquire, signal_release, signal_force)};

/* Of two values. */
static rlock *get_group(rlock_client *client, const char *name)
{
    static const char *const values[] = {"a", "b"};
    return rlock_get_group_lock_of_strings(client, name, RLOCK_CODEC_STRING, values, 2);
}

const kind kind_group = {.name = "group", .get = get_group, .grouped = true, .channel = LOCK_CHANNEL, .field = "",
                         SCRIPTS(group_acquire, group_release, group_force)};

#define ADDRESS(nothing, of_kind) &kind_##of_kind,
const kind *const all_kinds[KINDS] = {FOR_EACH_KIND(ADDRESS, )};

rlock *kind_of(const kind *of, rlock_client *client, const char *name)
{
    return stage_keep(of->get(client, name));
}

rlock *rival_of(const kind *of, rlock_client *client, const char *name)
{
    return kind_of(of->shared ? &kind_write : of, client, name);
}

rlock *group_of(rlock_client *client, const char *group, const char *values)
{
    char texts[8][2] = {""};
    const char *all[8];
    size_t count = 0;
    for (; values[count]; count++) {
        texts[count][0] = values[count];
        all[count] = texts[count];
    }
    return stage_keep(rlock_get_group_lock_of_strings(client, group, RLOCK_CODEC_STRING, all, count));
}

const char *kind_name(const kind *of, const char *name)
{
    static char names[8][256];
    static int turn;
    if (of != &kind_signal || strchr(name, '{'))
        return name;
    char *tagged = names[turn++ % 8];
    snprintf(tagged, sizeof names[0], "{%s}", name);
    return tagged;
}

const char *kind_key(const kind *of, const char *name)
{
    static char key[256];
    snprintf(key, sizeof key, "%s%s", of->before ? of->before : "", name);
    return key;
}

void assert_free_keys(const kind *of, const char *name)
{
    char *keys = server_keyspace(stage.server);
    cr_assert(server_integer(stage.server, "EXISTS %s", kind_key(of, name)) == 0, "%s", keys);
    if (of == &kind_signal)
        freeReplyObject(server_command(stage.server, "DEL lock-signal:%s", name));
    cr_assert(server_integer(stage.server, "DBSIZE") == (of == &kind_fenced ? 1 : 0), "%s", keys);
    free(keys);
}

const char *kind_channel(const kind *of, const char *name)
{
    static char channel[256];
    snprintf(channel, sizeof channel, strchr(name, '{') ? "%s:%s" : "%s:{%s}", of->channel, name);
    return channel;
}

char *with_letters(rlock_client *client, char *text)
{
    static char owners[OWNERS][64];
    const char *id = rlock_client_id(client);
    char *lettered = NULL;
    size_t size;
    FILE *out = open_memstream(&lettered, &size);
    cr_assert(out != NULL);
    for (const char *at = text; *at;) {
        size_t length = strlen(id) + 1, owner = 0;
        if (strncmp(at, id, strlen(id)) != 0 || at[strlen(id)] != ':') {
            fputc(*at++, out);
            continue;
        }
        while (isdigit((unsigned char)at[length]))
            length++;
        cr_assert(length < sizeof owners[0]);
        while (owner < OWNERS && *owners[owner] &&
               (strlen(owners[owner]) != length || strncmp(owners[owner], at, length) != 0))
            owner++;
        cr_assert(owner < OWNERS, "too many owners");
        memcpy(owners[owner], at, length);
        fputc('A' + (int)owner, out);
        at += length;
    }
    fclose(out);
    free(text);
    return lettered;
}

void assert_keyspace(rlock_client *client, const char *expected)
{
    char *keys = with_letters(client, server_keyspace(stage.server));
    cr_assert(strcmp(keys, expected) == 0, "the keyspace is:\n%s\nexpected:\n%s", keys, expected);
    free(keys);
}
