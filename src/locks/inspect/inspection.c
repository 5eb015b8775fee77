/* Inspection: parses the answer of lua/inspect/look.lua. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/inspect/inspection.h"

#include "base/error.h"
#include "locks/inspect/processes.h"
#include "net/reply.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The elements of the answer. */
enum { TTL, MODE, HOLDERS, WAITERS, TOKEN, AVAILABLE, PERMITS, PARTS };

void rlock_inspection_free(rlock_inspection *inspection)
{
    if (!inspection)
        return;
    for (size_t i = 0; i < inspection->holder_count; i++)
        free(inspection->holders[i].owner);
    for (size_t i = 0; i < inspection->waiter_count; i++)
        free(inspection->waiters[i].owner);
    for (size_t i = 0; i < inspection->permit_count; i++)
        free(inspection->permits[i].id);
    free(inspection->holders);
    free(inspection->value_counts);
    free(inspection->waiters);
    free(inspection->permits);
    rli_processes_free(inspection);
    free(inspection);
}

static rlock_status no_memory(void)
{
    return rli_fail(RLOCK_NO_MEMORY, "out of memory for an inspection");
}

/* Allocates an array for a list that has `words` elements per entry. One entry more than needed, so that NULL
 * always means out of memory. */
static void *room(const redisReply *list, size_t words, size_t size)
{
    return calloc(list->elements / words + 1, size);
}

static bool is_list(const redisReply *reply, size_t words)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements % words == 0;
}

static bool is_text(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING;
}

size_t rli_owner_length(const char *text, size_t length)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:";
    size_t at = sizeof form - 1;
    if (length <= at)
        return 0;
    for (size_t i = 0; form[i]; i++) {
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return 0;
    }
    at += at + 1 < length && text[at] == '-'; /* Java programs may name any number */
    if (!isdigit((unsigned char)text[at]))
        return 0;
    while (at < length && isdigit((unsigned char)text[at]))
        at++;
    return at;
}

static bool is_owner(const redisReply *reply)
{
    return rli_owner_length(reply->str, reply->len) == reply->len;
}

static const char *side_of(const redisReply *reply)
{
    return strcmp(reply->str, "read") == 0 ? "read" : strcmp(reply->str, "write") == 0 ? "write" : NULL;
}

/* Reads the four elements of a holder, the next of `inspection`. */
static rlock_status read_holder(rlock_inspection *inspection, redisReply **at, const char *name)
{
    rlock_holder *holder = &inspection->holders[inspection->holder_count];
    if (!is_text(at[0]) || !is_text(at[2]) || !rli_reply_integer(at[3], &holder->left_ms))
        return rli_reply_unexpected(at[0], name);
    bool token = strcmp(at[2]->str, "token") == 0;
    char shown[RLI_NAME_SHOWN], field[RLI_NAME_SHOWN];
    if (!token && !is_owner(at[0]))
        return rli_fail(RLOCK_SERVER,
                        "the hash \"%s\" has the field \"%s\", which names no owner: it is not a lock of rlock or "
                        "Redisson",
                        rli_show_name(name, shown), rli_show_name(at[0]->str, field));
    if (!rli_reply_integer(at[1], &holder->hold_count))
        return rli_fail(RLOCK_SERVER, "the hash \"%s\" has a field that is not a hold count: it is not a lock",
                        rli_show_name(name, shown));
    holder->side = side_of(at[2]);
    if (token)
        inspection->kind = "token";
    if (inspection->value_counts && !rli_reply_integer(at[2], &inspection->value_counts[inspection->holder_count]))
        return rli_reply_unexpected(at[2], name);
    if (!(holder->owner = strdup(at[0]->str)))
        return no_memory();
    inspection->holder_count++;
    return RLOCK_OK;
}

static rlock_status read_holders(rlock_inspection *inspection, const redisReply *list, const char *name)
{
    rlock_status status = RLOCK_OK;
    if (!is_list(list, 4))
        return rli_reply_unexpected(list, name);
    if (!(inspection->holders = room(list, 4, sizeof *inspection->holders)))
        return no_memory();
    if (inspection->kind && !(inspection->value_counts = room(list, 4, sizeof *inspection->value_counts)))
        return no_memory();
    for (size_t i = 0; status == RLOCK_OK && i < list->elements; i += 4)
        status = read_holder(inspection, &list->element[i], name);
    return status;
}

static rlock_status read_waiters(rlock_inspection *inspection, const redisReply *list, const char *name)
{
    if (!is_list(list, 2))
        return rli_reply_unexpected(list, name);
    if (!(inspection->waiters = room(list, 2, sizeof *inspection->waiters)))
        return no_memory();
    for (size_t i = 0; i < list->elements; i += 2) {
        redisReply **at = &list->element[i];
        rlock_waiter *waiter = &inspection->waiters[inspection->waiter_count];
        if (!is_text(at[0]) || !rli_reply_integer(at[1], &waiter->left_ms))
            return rli_reply_unexpected(list, name);
        if (!(waiter->owner = strdup(at[0]->str)))
            return no_memory();
        inspection->waiter_count++;
    }
    return RLOCK_OK;
}

/* Converts an id's bytes, as stored on the server, to the hexadecimal text that programs use. */
static char *hex(const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * length + 1);
    for (size_t i = 0; text && i < length; i++) {
        text[2 * i] = digits[(unsigned char)bytes[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
    }
    if (text)
        text[2 * length] = 0;
    return text;
}

static rlock_status read_permits(rlock_inspection *inspection, const redisReply *list, const char *name)
{
    if (!is_list(list, 2))
        return rli_reply_unexpected(list, name);
    if (!(inspection->permits = room(list, 2, sizeof *inspection->permits)))
        return no_memory();
    for (size_t i = 0; i < list->elements; i += 2) {
        redisReply **at = &list->element[i];
        rlock_taken_permit *permit = &inspection->permits[inspection->permit_count];
        if (!is_text(at[0]) || !rli_reply_integer(at[1], &permit->left_ms))
            return rli_reply_unexpected(list, name);
        if (!(permit->id = hex(at[0]->str, at[0]->len)))
            return no_memory();
        inspection->permit_count++;
    }
    return RLOCK_OK;
}

static const char *kind_of(const rlock_inspection *inspection)
{
    if (inspection->kind)
        return inspection->kind;
    if (inspection->permits)
        return "permit-expirable";
    if (inspection->has_permits)
        return "semaphore-or-latch";
    if (inspection->mode)
        return "read-write";
    if (inspection->waiter_count)
        return "fair";
    if (inspection->has_token)
        return "fenced";
    return inspection->holder_count ? "lock" : "free";
}

static rlock_status read_parts(rlock_inspection *inspection, redisReply *const parts[PARTS], const char *name)
{
    int64_t token = 0;
    if (!rli_reply_integer(parts[TTL], &inspection->ttl_ms))
        return rli_reply_unexpected(parts[TTL], name);
    if (is_text(parts[MODE]))
        inspection->mode = side_of(parts[MODE]);
    if (is_text(parts[MODE]) && strcmp(parts[MODE]->str, "group") == 0)
        inspection->kind = "group";
    rlock_status status = read_holders(inspection, parts[HOLDERS], name);
    if (status == RLOCK_OK)
        status = read_waiters(inspection, parts[WAITERS], name);
    if (status == RLOCK_OK && !rli_reply_is_nil(parts[PERMITS]))
        status = read_permits(inspection, parts[PERMITS], name);
    inspection->has_token = rli_reply_integer(parts[TOKEN], &token);
    inspection->token = (uint64_t)token;
    inspection->has_permits = !rli_reply_is_nil(parts[AVAILABLE]);
    if (status == RLOCK_OK && inspection->has_permits && !rli_reply_integer(parts[AVAILABLE], &inspection->available))
        status = rli_reply_unexpected(parts[AVAILABLE], name); /* digits, but too many */
    inspection->kind = kind_of(inspection);
    return status;
}

rlock_status rli_inspection_read(const redisReply *reply, const char *name, rlock_inspection **out)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != PARTS)
        return rli_reply_unexpected(reply, name);
    rlock_inspection *inspection = calloc(1, sizeof *inspection);
    rlock_status status = inspection ? read_parts(inspection, reply->element, name) : no_memory();
    if (status == RLOCK_OK)
        *out = inspection;
    else
        rlock_inspection_free(inspection);
    return status;
}
