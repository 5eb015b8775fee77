/* Value codec: the bytes that codecs of Redisson make of a String or a Long. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_VALUE_CODEC_H
#define RLI_VALUE_CODEC_H

#include "config/settings.h"

#include <rlock/group_lock.h>

#define RLI_LONG_BYTES 24 /* no more of a number */

/* Writes the bytes of a text of UTF-8 (checked before) or of a number to `to`; NULL: only counts them. Returns how many
 * there are. */
size_t rli_codec_string(rlock_codec codec, const char *text, unsigned char *to);
size_t rli_codec_long(rlock_codec codec, int64_t number, unsigned char *to);

/* Replaces RLOCK_CODEC_CONFIGURED by the codec that the configuration says. RLOCK_OK; RLOCK_INVALID: there is no such
 * codec, or it is not the one that the configuration says. */
rlock_status rli_codec_choose(rlock_codec *codec, rli_stated_codec stated);
/* RLOCK_OK; RLOCK_INVALID: there is no such codec; the text is NULL or not UTF-8. */
rlock_status rli_codec_check(rlock_codec codec);
rlock_status rli_codec_check_text(const char *text);

#endif
