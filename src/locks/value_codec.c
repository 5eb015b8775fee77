/* Value codec: the bytes that codecs of Redisson make of a String or a Long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/value_codec.h"

#include "base/error.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Kryo's numbers for the two classes, and bits of what it writes. */
#define KRYO_STRING     0x03
#define KRYO_LONG       0x09
#define LAST_OF_ASCII   0x80 /* of the last byte of a short text in ASCII */
#define COUNTED         0x80 /* of the first byte of a length */
#define LENGTH_GOES_ON  0x40 /* of that byte */
#define SHORT_ASCII_MAX 32
#define LONG_BYTES_MAX  9

typedef struct sink {
    unsigned char *to; /* NULL: only counts */
    size_t length;
} sink;

static void put(sink *self, unsigned byte)
{
    if (self->to)
        self->to[self->length] = (unsigned char)byte;
    self->length++;
}

/* A unit of UTF-16, as Kryo writes it: in up to three bytes. */
static void put_unit(sink *self, uint32_t unit)
{
    if (unit < 0x80) {
        put(self, unit);
    } else if (unit < 0x800) {
        put(self, 0xc0 | unit >> 6);
        put(self, 0x80 | (unit & 0x3f));
    } else {
        put(self, 0xe0 | unit >> 12);
        put(self, 0x80 | (unit >> 6 & 0x3f));
        put(self, 0x80 | (unit & 0x3f));
    }
}

static void put_character(sink *self, uint32_t code)
{
    if (code < 0x10000) {
        put_unit(self, code);
    } else {
        put_unit(self, 0xd800 + ((code - 0x10000) >> 10));
        put_unit(self, 0xdc00 + ((code - 0x10000) & 0x3ff));
    }
}

/* How many units of UTF-16 the text has, and whether all are ASCII. */
static size_t count_units(const char *text, bool *ascii)
{
    size_t units = 0;
    *ascii = true;
    for (uint32_t code = 0; *text; text += rli_utf8_read(text, &code), units++) {
        rli_utf8_read(text, &code);
        *ascii = *ascii && code < 0x80;
        units += code >= 0x10000;
    }
    return units;
}

static void put_count(sink *self, size_t count)
{
    put(self, COUNTED | (unsigned)(count & 0x3f) | (count > 0x3f ? LENGTH_GOES_ON : 0));
    for (count >>= 6; count > 0; count >>= 7)
        put(self, (unsigned)(count & 0x7f) | (count > 0x7f ? 0x80 : 0));
}

static void put_kryo_string(sink *self, const char *text)
{
    bool ascii;
    size_t units = count_units(text, &ascii);
    bool is_short = ascii && units > 1 && units <= SHORT_ASCII_MAX;
    put(self, KRYO_STRING);
    if (!is_short)
        put_count(self, units + 1);
    for (uint32_t code = 0; *text;) {
        text += rli_utf8_read(text, &code);
        if (is_short)
            put(self, *text ? code : code | LAST_OF_ASCII);
        else
            put_character(self, code);
    }
}

size_t rli_codec_string(rlock_codec codec, const char *text, unsigned char *to)
{
    sink self = {to, 0};
    if (codec == RLOCK_CODEC_KRYO5)
        put_kryo_string(&self, text);
    else
        for (; *text; text++)
            put(&self, (unsigned char)*text);
    return self.length;
}

/* Negative and positive numbers in turn, seven bits a byte; the ninth byte has eight. */
static void put_kryo_long(sink *self, int64_t number)
{
    uint64_t left = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
    put(self, KRYO_LONG);
    for (int i = 1; i < LONG_BYTES_MAX && left > 0x7f; i++, left >>= 7)
        put(self, (unsigned)(left & 0x7f) | 0x80);
    put(self, (unsigned)left);
}

size_t rli_codec_long(rlock_codec codec, int64_t number, unsigned char *to)
{
    sink self = {to, 0};
    char text[RLI_LONG_BYTES];
    if (codec == RLOCK_CODEC_KRYO5) {
        put_kryo_long(&self, number);
        return self.length;
    }
    snprintf(text, sizeof text, "%lld", (long long)number);
    return rli_codec_string(RLOCK_CODEC_STRING, text, to);
}

rlock_status rli_codec_check(rlock_codec codec)
{
    if (codec == RLOCK_CODEC_KRYO5 || codec == RLOCK_CODEC_STRING)
        return RLOCK_OK;
    return rli_fail(RLOCK_INVALID, "%d is no rlock_codec", (int)codec);
}

rlock_status rli_codec_choose(rlock_codec *codec, rli_stated_codec stated)
{
    static const char *const names[] = {[RLOCK_CODEC_KRYO5] = "KRYO5", [RLOCK_CODEC_STRING] = "STRING"};
    rlock_codec said = stated == RLI_STATES_STRING ? RLOCK_CODEC_STRING : RLOCK_CODEC_KRYO5;
    if (*codec == RLOCK_CODEC_CONFIGURED && stated != RLI_STATES_OTHER_CODEC)
        *codec = said;
    if (*codec != RLOCK_CODEC_CONFIGURED && rli_codec_check(*codec) != RLOCK_OK)
        return RLOCK_INVALID;
    if (stated == RLI_STATES_OTHER_CODEC)
        return rli_fail(RLOCK_INVALID, "the configuration names a codec whose bytes this library does not know; make "
                                       "them as Java does, and give them to rlock_get_group_lock()");
    if (stated != RLI_STATES_NO_CODEC && *codec != said)
        return rli_fail(RLOCK_INVALID,
                        "the codec of these values is %s, and the configuration says %s, so Java's clients write other "
                        "bytes for them: give RLOCK_CODEC_%s or RLOCK_CODEC_CONFIGURED",
                        names[*codec], names[said], names[said]);
    return RLOCK_OK;
}

rlock_status rli_codec_check_text(const char *text)
{
    char shown[RLI_NAME_SHOWN];
    uint32_t code;
    if (!text)
        return rli_fail(RLOCK_INVALID, "a value is NULL");
    for (const char *at = text; *at;) {
        size_t length = rli_utf8_read(at, &code);
        if (length == 0)
            return rli_fail(RLOCK_INVALID, "the value \"%s\" is not UTF-8", rli_show_name(text, shown));
        at += length;
    }
    return RLOCK_OK;
}

/* --- for programs --- */

static rlock_status check_room(size_t needed, const void *bytes, size_t *length)
{
    size_t room = *length;
    *length = needed;
    if (needed > room || (!bytes && needed > 0))
        return rli_fail(RLOCK_INVALID, "the value has %zu bytes, and there is room for %zu", needed, bytes ? room : 0);
    return RLOCK_OK;
}

rlock_status rlock_encode_string(rlock_codec codec, const char *text, void *bytes, size_t *length)
{
    rlock_status status = rli_codec_check(codec);
    if (status == RLOCK_OK)
        status = rli_codec_check_text(text);
    if (status == RLOCK_OK && !length)
        status = rli_fail(RLOCK_INVALID, "the pointer for the length must not be NULL");
    if (status == RLOCK_OK)
        status = check_room(rli_codec_string(codec, text, NULL), bytes, length);
    if (status == RLOCK_OK)
        rli_codec_string(codec, text, bytes);
    return status;
}

rlock_status rlock_encode_long(rlock_codec codec, int64_t number, void *bytes, size_t *length)
{
    rlock_status status = rli_codec_check(codec);
    if (status == RLOCK_OK && !length)
        status = rli_fail(RLOCK_INVALID, "the pointer for the length must not be NULL");
    if (status == RLOCK_OK)
        status = check_room(rli_codec_long(codec, number, NULL), bytes, length);
    if (status == RLOCK_OK)
        rli_codec_long(codec, number, bytes);
    return status;
}
