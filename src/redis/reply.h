/* Replies: the one place that reads what the server answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPLY_H
#define RLI_REPLY_H

#include <hiredis/hiredis.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stdint.h>

/* An error that passes by itself, such as LOADING: worth another attempt. */
bool rli_reply_is_passing(const redisReply *reply);
bool rli_reply_is_noscript(const redisReply *reply);

/* RLOCK_SERVER with the server's words and what to do about them. */
rlock_status rli_reply_refusal(const redisReply *reply, const char *key);

bool rli_reply_is_nil(const redisReply *reply);
/* The integer, also from its text; false: it is none. */
bool rli_reply_integer(const redisReply *reply, int64_t *value);
/* RLOCK_SERVER for an answer that no script of ours gives. */
rlock_status rli_reply_unexpected(const redisReply *reply, const char *key);

#endif
