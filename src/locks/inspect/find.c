/* rlock_find: finds the names of locks, by SCAN on all masters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/inspect.h>

#include "base/error.h"
#include "client/client.h"
#include "locks/inspect/inspection.h"
#include "locks/inspect/servers.h"
#include "net/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURSOR_SIZE 24
/* How many keys a server looks at for one answer: some tenths of a millisecond. */
#define SCAN_COUNT "1000"
/* More than any server needs: enough for four thousand million keys. */
#define SCANS_MAX (1u << 22)

typedef struct search {
    rli_operation *op;
    char *pattern;        /* with the client's prefix */
    size_t prefix_length; /* of each name */
    rlock_find_what what;
    rlock_found_fn *found;
    void *arg;
    bool over; /* `found` has ended the search */
} search;

/* The client's prefix, in which no character means anything to SCAN, and the pattern. NULL: out of memory. */
static char *make_pattern(const char *prefix, const char *pattern)
{
    char *text = malloc(2 * strlen(prefix) + strlen(pattern) + 1), *to = text;
    for (; to && *prefix; prefix++) {
        if (strchr("*?[]^-\\", *prefix))
            *to++ = '\\';
        *to++ = *prefix;
    }
    if (to)
        strcpy(to, pattern);
    return text;
}

static rlock_status refused(const rli_node *node, const char *what, const redisReply *reply)
{
    char said[RLI_ERROR_TEXT];
    const char *address = node->address.text, *text = rli_reply_error_text(reply, NULL, said);
    if (rli_reply_action_of(reply) == RLI_LATER)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s does not answer %s now: %s", address, what, text);
    return rli_fail(RLOCK_SERVER, "Redis at %s refused %s: %s%s", address, what, text,
                    rli_refusal_of(reply) == RLI_LACKS_RIGHT ? "; a search needs the right to SCAN and HSCAN" : "");
}

/* Reads an answer of SCAN or HSCAN: { cursor, { item, ... } }. NULL: it has another form. */
static const redisReply *items_of(const redisReply *reply, char cursor[CURSOR_SIZE])
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[1]->type != REDIS_REPLY_ARRAY)
        return NULL;
    const redisReply *next = reply->element[0];
    if (next->len == 0 || next->len >= CURSOR_SIZE || strspn(next->str, "0123456789") != next->len)
        return NULL;
    memcpy(cursor, next->str, next->len + 1);
    return reply->element[1];
}

/* Whether a field and its value are those of a lock: an owner, or what a group lock stores of one of its values. */
#define GROUP_VALUE 22
static bool is_of_lock(const redisReply *field, const redisReply *value)
{
    if (field->type != REDIS_REPLY_STRING || value->type != REDIS_REPLY_STRING)
        return false;
    if (field->len == GROUP_VALUE)
        return rli_owner_length(value->str, value->len) > 0;
    bool of_group = field->len > GROUP_VALUE + 1 && field->str[GROUP_VALUE] == ':';
    size_t skipped = of_group ? GROUP_VALUE + 1 : 0;
    return rli_owner_length(field->str + skipped, field->len - skipped) > 0;
}

/* Whether the error concerns this key alone: it is no hash any more, it is another node's, or the user may not read
 * it. */
static bool passes_over(const redisReply *reply)
{
    rli_reply_action action = rli_reply_action_of(reply);
    return strncmp(reply->str, "WRONGTYPE", 9) == 0 || action == RLI_MOVED || action == RLI_ASK ||
           rli_reply_refuses_key(reply);
}

/* Whether a hash is a lock: one of its first fields is an owner. RLOCK_OK; else as rli_servers_ask. */
static rlock_status is_lock(const search *self, rli_node *node, const char *key, bool *lock)
{
    char cursor[CURSOR_SIZE];
    redisReply *reply;
    *lock = false;
    rlock_status status = rli_servers_ask(node, self->op, (const char *const[]){"HSCAN", key, "0", "COUNT", "2", NULL},
                                          &reply);
    if (status != RLOCK_OK)
        return status;
    const redisReply *fields = items_of(reply, cursor);
    if (fields) {
        for (size_t i = 0; !*lock && i + 1 < fields->elements && i < 4; i += 2)
            *lock = is_of_lock(fields->element[i], fields->element[i + 1]);
    } else if (reply->type == REDIS_REPLY_ERROR && !passes_over(reply)) {
        status = refused(node, "HSCAN", reply);
    }
    freeReplyObject(reply);
    return status;
}

/* Reports one key, if it is what is looked for. */
static rlock_status take(search *self, rli_node *node, const redisReply *key)
{
    bool wanted = true;
    if (key->type != REDIS_REPLY_STRING || key->len <= self->prefix_length || strlen(key->str) != key->len)
        return RLOCK_OK;
    rlock_status status = self->what == RLOCK_FIND_LOCKS ? is_lock(self, node, key->str, &wanted) : RLOCK_OK;
    if (status == RLOCK_OK && wanted)
        self->over = !self->found(key->str + self->prefix_length, self->arg);
    return rli_gate_is_forked(self->op->gate) ? rli_gate_check(self->op->gate) : status;
}

/* One SCAN and all keys in its answer. */
static rlock_status scan(search *self, rli_node *node, char cursor[CURSOR_SIZE])
{
    const char *type = self->what == RLOCK_FIND_LOCKS ? "hash" : "string";
    redisReply *reply;
    rlock_status status = rli_servers_ask(
        node, self->op,
        (const char *const[]){"SCAN", cursor, "MATCH", self->pattern, "COUNT", SCAN_COUNT, "TYPE", type, NULL}, &reply);
    if (status != RLOCK_OK)
        return status;
    const redisReply *keys = items_of(reply, cursor);
    if (reply->type == REDIS_REPLY_ERROR)
        status = refused(node, "SCAN", reply);
    else if (!keys)
        status = rli_reply_unexpected(reply, self->pattern);
    for (size_t i = 0; keys && status == RLOCK_OK && !self->over && i < keys->elements; i++)
        status = take(self, node, keys->element[i]);
    freeReplyObject(reply);
    return status;
}

/* Goes through all keys of one server. Within one search no cursor comes twice, so one that does would lead in a
 * circle: the search compares each with one of the cursors before, which gets later and later. */
static rlock_status search_server(search *self, rli_node *node)
{
    char cursor[CURSOR_SIZE] = "0", earlier[CURSOR_SIZE] = "";
    for (unsigned scans = 1; scans <= SCANS_MAX; scans++) {
        rlock_status status = scan(self, node, cursor);
        if (status != RLOCK_OK || self->over || strcmp(cursor, "0") == 0)
            return status;
        if (strcmp(cursor, earlier) == 0)
            return rli_fail(RLOCK_SERVER, "Redis at %s leads a search in a circle: SCAN gave the cursor %s twice",
                            node->address.text, cursor);
        if ((scans & (scans - 1)) == 0)
            strcpy(earlier, cursor);
    }
    return rli_fail(RLOCK_SERVER, "Redis at %s has not ended a search after %u SCANs", node->address.text, SCANS_MAX);
}

static rlock_status search_all(search *self, rli_topology *topology)
{
    rli_servers servers;
    rlock_status status = rli_servers_list(&servers, topology, self->op);
    for (size_t i = 0; status == RLOCK_OK && !self->over && i < servers.count; i++)
        status = search_server(self, servers.all[i]);
    rli_servers_clear(&servers);
    return status;
}

rlock_status rlock_find(rlock_client *client, const char *pattern, rlock_find_what what, rlock_found_fn *found,
                        void *arg)
{
    rlock_status status = rli_client_check(client);
    rli_operation op;
    if (status == RLOCK_OK && !found)
        status = rli_fail(RLOCK_INVALID, "the function for the names must not be NULL");
    if (status == RLOCK_OK && what != RLOCK_FIND_LOCKS && what != RLOCK_FIND_STRINGS)
        status = rli_fail(RLOCK_INVALID, "what must be RLOCK_FIND_LOCKS or RLOCK_FIND_STRINGS, not %d", (int)what);
    if (status == RLOCK_OK && pattern && !*pattern)
        status = rli_fail(RLOCK_INVALID, "the pattern is empty; * or NULL finds all names");
    if (status == RLOCK_OK)
        status = rli_operation_begin(&op, &client->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    const char *prefix = client->settings.name_prefix ? client->settings.name_prefix : "";
    search self = {.op = &op, .prefix_length = strlen(prefix), .what = what, .found = found, .arg = arg};
    self.pattern = make_pattern(prefix, pattern ? pattern : "*");
    status = self.pattern ? search_all(&self, &client->topology)
                          : rli_fail(RLOCK_NO_MEMORY, "out of memory for a search");
    free(self.pattern);
    rli_operation_end(&op);
    return status;
}
