/* Replies: the one place that reads what the server answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPLY_H
#define RLI_REPLY_H

#include <hiredis/hiredis.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a request's answer calls for. */
typedef enum rli_advice {
    RLI_TAKE,    /* it is no error */
    RLI_REFUSED, /* an error that stays */
    RLI_LATER,   /* an error that passes by itself, such as LOADING */
    RLI_DEMOTED, /* the server is a replica now: another is the master, or will be */
    RLI_LOAD,    /* the script is not known there: send its text */
    RLI_MOVED,   /* another node serves the slot from now on */
    RLI_ASK      /* another node serves this key already: ask it, this once */
} rli_advice;
rli_advice rli_reply_advice(const redisReply *reply);

/* Whether an error ended a script that was running, and may have written: for want of a right, of a command
 * that the server has by another name, or of a key, whose slot is on the move. */
bool rli_reply_broke_off(const redisReply *reply);

/* Where an RLI_MOVED or RLI_ASK points. An empty host: the same as of the one that answered. */
typedef struct rli_redirect {
    const char *host; /* within the reply */
    size_t length;
    int port;
} rli_redirect;
/* False: the text is malformed. */
bool rli_reply_redirect(const redisReply *reply, rli_redirect *redirect);

/* An error's words for a message, without the arguments of the command that the server repeats in them, and cut where
 * they are long. `secret`: a password that was among those, or NULL; words with a part of it are not shown at all. */
#define RLI_SAID 204
const char *rli_reply_said(const redisReply *reply, const char *secret, char said[RLI_SAID]);

/* RLOCK_SERVER with the server's words and what to do about them. */
rlock_status rli_reply_refusal(const redisReply *reply, const char *key);

bool rli_reply_is_nil(const redisReply *reply);
/* The integer, also from its text; false: it is none. */
bool rli_reply_integer(const redisReply *reply, int64_t *value);
/* RLOCK_SERVER for an answer that no script of ours gives. */
rlock_status rli_reply_unexpected(const redisReply *reply, const char *key);

#endif
