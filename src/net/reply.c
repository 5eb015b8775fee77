/* Replies: the only code that interprets what the server answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/reply.h"

#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Error inside a script: the slot is migrating, and the key has already left or has not arrived yet. */
static bool misses_key(const char *text)
{
    return strstr(text, "attempted to access a non local key");
}

/* Error inside a script: rename-command has removed the command, or the server is too old for it. */
#define UNKNOWN_COMMAND "Unknown Redis command"

/* Error inside a script, as Redis up to 7.1 words it, and as 7.2 and later do. */
static bool misses_right(const char *text)
{
    return strstr(text, "The user executing the script can't") || strstr(text, "ACL failure in script");
}

bool rli_reply_aborted_script(const redisReply *reply)
{
    return misses_key(reply->str) || misses_right(reply->str) || strstr(reply->str, UNKNOWN_COMMAND);
}

rli_reply_action rli_reply_action_of(const redisReply *reply)
{
    static const struct {
        const char *start;
        rli_reply_action action;
    } starting[] = {
        {"NOSCRIPT", RLI_LOAD},
        {"MOVED ", RLI_MOVED},
        {"ASK ", RLI_ASK},
        {"LOADING", RLI_LATER},
        {"BUSY ", RLI_LATER},
        {"TRYAGAIN", RLI_LATER},
        {"MASTERDOWN", RLI_LATER},
        {"CLUSTERDOWN", RLI_LATER},
        {"NOREPLICAS", RLI_LATER},
        {"READONLY", RLI_DEMOTED},
        /* Sent instead of the first answer when the server turns the connection away. */
        {"ERR max number of clients", RLI_LATER},
        {"DENIED", RLI_LATER},
    };
    if (reply->type != REDIS_REPLY_ERROR)
        return RLI_TAKE;
    for (size_t i = 0; i < sizeof starting / sizeof *starting; i++) {
        if (starts(reply->str, starting[i].start))
            return starting[i].action;
    }
    /* Errors inside a script: Redis 6.2 puts words and ": -" before the code. The code alone may be part of a user's
     * name. */
    if (strstr(reply->str, ": -READONLY "))
        return RLI_DEMOTED;
    return strstr(reply->str, ": -NOREPLICAS ") || misses_key(reply->str) ? RLI_LATER : RLI_REFUSED;
}

rli_refusal rli_refusal_of(const redisReply *reply)
{
    /* First, since the user's name in it may be any of the others. */
    if (starts(reply->str, "NOPERM") || misses_right(reply->str))
        return RLI_LACKS_RIGHT;
    /* Anywhere in the text: scripts put words before the code. */
    if (strstr(reply->str, "OOM "))
        return RLI_AT_MAXMEMORY;
    if (strstr(reply->str, "MISCONF "))
        return RLI_CANNOT_SAVE;
    return strstr(reply->str, "READONLY ") ? RLI_IS_REPLICA : RLI_REFUSED_ELSE;
}

bool rli_refusal_is_of_all(rli_refusal refusal)
{
    return refusal == RLI_REFUSES_LOGIN || refusal == RLI_IS_REPLICA || refusal == RLI_CANNOT_SAVE;
}

const char *rli_refusal_words(rli_refusal refusal)
{
    switch (refusal) {
    case RLI_LACKS_RIGHT:
        return "the user lacks a right (see docs/security.md)";
    case RLI_AT_MAXMEMORY:
        return "it is at its maxmemory (OOM)";
    case RLI_CANNOT_SAVE:
        return "it cannot save to its disk (MISCONF)";
    case RLI_IS_REPLICA:
        return "it is a replica now (READONLY)";
    case RLI_REFUSES_LOGIN:
        return "it refuses the login";
    default:
        return "another call for this name says why";
    }
}

bool rli_reply_redirect(const redisReply *reply, rli_host_port *to)
{
    /* MOVED 3999 127.0.0.1:6381; an IPv6 address contains colons itself */
    const char *slot = strchr(reply->str, ' ');
    const char *host = slot ? strchr(slot + 1, ' ') : NULL;
    if (!host || rli_host_port_split(to, host + 1, strlen(host + 1)))
        return false;
    if (to->length == 1 && *to->host == '?') /* the node does not know its own name */
        to->length = 0;
    return true;
}

/* Whether a missing permission is one to a key, and neither to a channel nor to a command. */
static bool is_of_key(const char *text)
{
    return !strstr(text, "channel") && strstr(text, " key");
}

bool rli_reply_refuses_key(const redisReply *reply)
{
    return starts(reply->str, "NOPERM") && is_of_key(reply->str);
}

/* Advice if the error is a missing ACL permission, as Redis 6.2, 7.0, and 7.2 and later word it. NULL: it is not.
 * `name`: of the lock; `advice` has room for what is returned. */
#define ADVICE_SIZE (RLI_NAME_SHOWN + 160)
static const char *advice_on_rights(const char *text, const char *name, char advice[ADVICE_SIZE])
{
    if (!starts(text, "NOPERM") && !misses_right(text))
        return NULL;
    if (strstr(text, "channel"))
        snprintf(advice, ADVICE_SIZE,
                 "allow the ACL user all channels of \"%s\", also those with more around the name, by the patterns "
                 "in docs/security.md; ACL LOG on the server names the refused channel",
                 name);
    else if (is_of_key(text))
        snprintf(advice, ADVICE_SIZE,
                 "allow the ACL user all keys of \"%s\", also those with more around the name, by the patterns in "
                 "docs/security.md; ACL LOG on the server names the refused key",
                 name);
    else
        return "allow the ACL user the commands in docs/security.md; ACL LOG on the server names the refused one";
    return advice;
}

/* Whether `text` contains `secret` or its first four letters: servers cut long arguments. */
static bool tells(const char *text, const char *secret)
{
    size_t length = strlen(secret), enough = length < 4 ? length : 4;
    while (enough && *text && strncmp(text, secret, enough) != 0)
        text++;
    return enough && *text;
}

/* How much of an error's text is for users: neither arguments that are repeated, nor the line of the script. */
static size_t length_to_show(const char *text)
{
    const char *repeated = strstr(text, ", with args beginning with"), *script = NULL;
    const char *line = strstr(text, ", on @user_script"), *next = text;
    while (line && (next = strstr(next, " script: ")) && next < line) /* the words may hold another one before */
        script = next++;
    const char *end = repeated && (!script || repeated < script) ? repeated : script;
    return end ? (size_t)(end - text) : strlen(text);
}

/* The greatest length up to `most` that cuts no word, or at least no character. */
static size_t length_of_words(const char *text, size_t most)
{
    size_t length = most;
    while (length > 0 && text[length] != ' ')
        length--;
    return length > 0 ? length : rli_utf8_cut(text, most);
}

const char *rli_reply_error_text(const redisReply *reply, const char *secret, char said[RLI_ERROR_TEXT])
{
    static const char cut[] = "…";
    size_t length = length_to_show(reply->str);
    bool is_long = length >= RLI_ERROR_TEXT;
    if (is_long)
        length = length_of_words(reply->str, RLI_ERROR_TEXT - sizeof cut);
    else if (length > 0 && reply->str[length - 1] == '.')
        length--;
    memcpy(said, reply->str, length);
    strcpy(said + length, is_long ? cut : "");
    if (secret && tells(said, secret))
        snprintf(said, RLI_ERROR_TEXT, "(its words are not shown: the password, or a part of it, is among them)");
    return said;
}

#define SENTINEL_PERHAPS "the server runs no scripts; if it is a sentinel, use a redis-sentinel:// URL with masterName"

rlock_status rli_reply_refusal(const redisReply *reply, const char *key)
{
    /* The first that is found counts, so BUSYGROUP, say, would have to stand before BUSY. */
    static const struct {
        const char *found, *advice;
    } advices[] = {
        {"WRONGTYPE", "the name, or a key that goes with it, is in use for another kind of value: use another name"},
        {"WRONGPASS", "check user and password"},
        {"NOAUTH", "put the password into the URL: redis://user:password@host"},
        {"READONLY", "the server is a replica; connect to the master"},
        {"MASTERDOWN", "the server is a replica that has lost its master; connect to the master"},
        {"CLUSTERDOWN", "a part of the cluster is down, or a slot is served by no node: see CLUSTER INFO and "
                        "CLUSTER SLOTS"},
        {"NOREPLICAS", "fewer replicas are connected than min-replicas-to-write asks for"},
        {"max number of clients", "raise maxclients on the server, or close unused connections"},
        {"DENIED", "give the server a password, or turn off its protected-mode"},
        {"BUSY", "a script of another program runs for too long; SCRIPT KILL ends it"},
        {"CROSSSLOT", "the server is a cluster; use a redis-cluster:// URL"},
        {"MOVED", "the server is part of a cluster; use a redis-cluster:// URL"},
        {"OOM", "the server is at its maxmemory"},
        {UNKNOWN_COMMAND,
         "check that rename-command has not removed a command of docs/security.md, and that shardedSubscriptionMode "
         "is not ON with servers before Redis 7.0"},
        {"MISCONF", "the server cannot save to its disk and refuses writes"},
        {"would overflow", "a counter under the name, or of its fencing tokens, is at its limit: use another name"},
        {"value is not an integer", "the name, or a key that goes with it, holds what is no number: use another name"},
        {"unknown command 'EVAL", SENTINEL_PERHAPS},
        {"unknown command `EVAL", SENTINEL_PERHAPS}, /* wording of Redis 6.2 */
    };
    char shown[RLI_NAME_SHOWN], said[RLI_ERROR_TEXT], room[ADVICE_SIZE];
    const char *advice = advice_on_rights(reply->str, rli_show_name(key, shown), room);
    for (size_t i = 0; !advice && i < sizeof advices / sizeof *advices; i++) {
        if (strstr(reply->str, advices[i].found)) /* anywhere in the text: scripts put words before the code */
            advice = advices[i].advice;
    }
    return rli_fail(RLOCK_SERVER, "Redis refused, for \"%s\": %s%s%s", shown, rli_reply_error_text(reply, NULL, said),
                    advice ? "; " : "", advice ? advice : "");
}

bool rli_reply_is_nil(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_NIL;
}

bool rli_reply_integer(const redisReply *reply, int64_t *value)
{
    if (reply->type == REDIS_REPLY_INTEGER) {
        *value = reply->integer;
        return true;
    }
    if (reply->type != REDIS_REPLY_STRING)
        return false;
    char *end;
    errno = 0;
    *value = strtoll(reply->str, &end, 10);
    return end != reply->str && !*end && !errno;
}

/* In words, since the numbers are those of hiredis. */
static const char *what_came(const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_STRING:
        return "a string";
    case REDIS_REPLY_ARRAY:
        return "an array";
    case REDIS_REPLY_INTEGER:
        return "an integer";
    case REDIS_REPLY_NIL:
        return "nil";
    case REDIS_REPLY_STATUS:
        return "a status";
    default:
        return "another type";
    }
}

rlock_status rli_reply_unexpected(const redisReply *reply, const char *key)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_SERVER,
                    "unexpected reply for \"%s\" (%s); check for a proxy between, and for another kind of "
                    "value under this name",
                    rli_show_name(key, shown), what_came(reply));
}
