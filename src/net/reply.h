/* Replies: what the server answered, read without trust; what its errors mean for a call, and the advice that goes with
 * them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPLY_H
#define RLI_REPLY_H

#include "base/host_port.h"

#include <hiredis/hiredis.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the caller has to treat a reply. */
typedef enum rli_reply_action {
    RLI_TAKE,    /* use it: it is no error */
    RLI_REFUSED, /* fail: the error is permanent */
    RLI_LATER,   /* retry later: the error is temporary, such as LOADING */
    RLI_DEMOTED, /* find the master: this server is a replica now, another one is the master or will be */
    RLI_LOAD,    /* send the script's text: the server does not know the script */
    RLI_MOVED,   /* another node serves the slot from now on */
    RLI_ASK      /* another node already serves this key: ask it, this once */
} rli_reply_action;
rli_reply_action rli_reply_action_of(const redisReply *reply);

/* Why a server refuses a renewal. */
typedef enum rli_refusal {
    RLI_NOT_REFUSED,
    RLI_LACKS_RIGHT,
    RLI_AT_MAXMEMORY,
    RLI_CANNOT_SAVE,
    RLI_IS_REPLICA,
    RLI_REFUSES_LOGIN, /* it lets no connection begin */
    RLI_REFUSED_ELSE
} rli_refusal;
#define RLI_REFUSAL_BITS 3
/* Returns the reason that an error gives. `reply` must be an error. */
rli_refusal rli_refusal_of(const redisReply *reply);
/* Whether the server refuses all that writes. (At its maxmemory it refuses only what needs more.) */
bool rli_refusal_is_of_all(rli_refusal refusal);
/* In words, behind "the server refused to renew it: ". */
const char *rli_refusal_words(rli_refusal refusal);

/* Whether the error ended a script in the middle, after it may have written: for lack of a permission, of a command
 * that the server has renamed, or of a key whose slot is migrating. `reply` must be an error. */
bool rli_reply_aborted_script(const redisReply *reply);

/* Whether the user may not use a key that the command named. `reply` must be an error. */
bool rli_reply_refuses_key(const redisReply *reply);

/* Parses where an RLI_MOVED or RLI_ASK reply points. to->host is inside the reply; it is empty if it is the host that
 * answered. False: the text is malformed. */
bool rli_reply_redirect(const redisReply *reply, rli_host_port *to);

/* Copies an error's text to `said` for a message, shortened if it is long and without the command's arguments, the line
 * of a script that the server adds, and a full stop at its end, since the message goes on. Returns `said`. `secret`: a
 * password that was among those arguments, or NULL; a text that contains a part of it is replaced entirely. */
#define RLI_ERROR_TEXT 204
const char *rli_reply_error_text(const redisReply *reply, const char *secret, char said[RLI_ERROR_TEXT]);

/* Fails with RLOCK_SERVER, the server's words, and advice. `key` is what the request was about. */
rlock_status rli_reply_refusal(const redisReply *reply, const char *key);

bool rli_reply_is_nil(const redisReply *reply);
/* Reads an integer, or a string that is one. False: it is neither. */
bool rli_reply_integer(const redisReply *reply, int64_t *value);
/* Fails with RLOCK_SERVER for an answer that none of our scripts gives. */
rlock_status rli_reply_unexpected(const redisReply *reply, const char *key);

#endif
