/* Values of a group lock: the bytes that Redisson's codecs make of objects, and the fields that stand for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/values.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

TestSuite(group_values);

/* What org.redisson.misc.Hash.hash128toBase64 makes of n bytes, the i-th of which is 7 i + n. */
static const struct {
    size_t length;
    const char *field;
} hashes[] = {
    {0, "t6rZwibGo2uy1OSmNVe8pg"},
    {1, "GGdH1a44no0rjd23Ul9XXg"},
    {2, "EVRE6b2rdX75Ss37qfPajw"},
    {3, "LNeSS2+GZVoNGLa6Lh67KA"},
    {4, "XBNYBuwumJeay1jj1V4jjQ"},
    {5, "aJWUXQe/UW4icBbNhJYsSA"},
    {7, "5cFQq85PmDDvTT23KLx6pw"},
    {8, "VA2C8G/CwvNaHcKf1abTjg"},
    {15, "OkJqPNMSX/ht42LNjjhFMw"},
    {16, "Fj4dtX4yeHBAZ6u2NWy5iQ"},
    {17, "E+fWrtN4vGdvsOajh/VFPw"},
    {19, "LcwvIkEkg2JqjU+lSswysg"},
    {20, "z9KCvwICHGuA1HESfGHH6g"},
    {22, "pblMer0JeL6c2whs/fl0WQ"},
    {31, "/15uXZic9mPOzzaitqr8ug"},
    {32, "bgo1eeBagzUqV3txwhbwNg"},
    {33, "7/3k0t4ZK3iDRHM60ZPzdQ"},
    {47, "huEJdP61JQ1Hqhn+o6VEog"},
    {48, "J3AQdGRw7/92Me4/55aYig"},
    {49, "ovr1yniOs/aPxEGkagiiHg"},
    {63, "6hxcD9GPLQ2VkexEU7rwjQ"},
    {64, "GVshLaEbOMuPoe58h2PPJA"},
    {65, "QXookkbnotkJIu45NRCxCA"},
    {100, "G2amBRCoXR/zd9XPXd4ESw"},
    {1000, "1XSXG5EVHqOQnXTZ5j3a0A"},
};

Test(group_values, have_redissons_fields)
{
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        unsigned char bytes[1000];
        for (size_t k = 0; k < hashes[i].length; k++)
            bytes[k] = (unsigned char)(7 * k + hashes[i].length);
        rli_values *values = rli_values_new(1);
        cr_assert(values != NULL);
        rli_values_put(values, bytes, hashes[i].length);
        rli_values_close(values);
        cr_assert(strlen(hashes[i].field) == RLI_VALUE_FIELD);
        cr_assert(memcmp(values->fields, hashes[i].field, RLI_VALUE_FIELD) == 0, "%zu bytes: %.22s, expected %s",
                  hashes[i].length, values->fields, hashes[i].field);
        rli_values_unref(values);
    }
}

Test(group_values, are_ordered_and_once_each)
{
    rli_values *one = rli_values_new(4), *other = rli_values_new(3);
    cr_assert(one && other);
    for (int i = 0; i < 4; i++)
        rli_values_put(one, &"abca"[i], 1);
    for (int i = 0; i < 3; i++)
        rli_values_put(other, &"cba"[i], 1);
    rli_values_close(one);
    rli_values_close(other);
    cr_assert(one->count == 3 && other->count == 3);
    cr_assert(memcmp(one->fields, other->fields, 3 * RLI_VALUE_FIELD) == 0);
    cr_assert(memcmp(one->digest, other->digest, sizeof one->digest) == 0);
    rli_values_unref(one);
    rli_values_unref(other);
}

/* --- codecs --- */

static void assert_bytes(rlock_status status, const unsigned char *bytes, size_t length, const char *hex)
{
    char shown[2 * 128 + 1] = "";
    assert_ok(status);
    for (size_t i = 0; i < length && i < 128; i++)
        sprintf(shown + 2 * i, "%02x", bytes[i]);
    cr_assert(strncmp(shown, hex, strlen(hex)) == 0 && (length > 30 || strlen(hex) == 2 * length), "%s, expected %s", shown, hex);
}

/* As Redisson 4.7.0's Kryo5Codec writes them. */
Test(group_values, of_strings_are_as_kryo_writes_them)
{
    static const char x[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; /* 64 */
    static const struct {
        const char *text, *hex;
        size_t length;
    } cases[] = {
        {"", "0381", 2},
        {"a", "038261", 3},
        {"ab", "0361e2", 3},
        {"order:42", "036f726465723a34b2", 9},
        {"\u00e9", "0382c3a9", 4},
        {"a\u00e9", "038361c3a9", 5},
        {x + 32, "0378787878", 33},
        {x + 31, "03a2787878", 35},
        {x + 2, "03bf78", 64},
        {x + 1, "03c00178", 66},
        {x, "03c10178", 67},
        {"\U0001F600", "0383eda0bdedb880", 8},
        {"\u20ac", "0382e282ac", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[128];
        size_t length = sizeof bytes;
        rlock_status status = rlock_encode_string(RLOCK_CODEC_KRYO5, cases[i].text, bytes, &length);
        cr_assert(length == cases[i].length, "\"%s\": %zu bytes, expected %zu", cases[i].text, length, cases[i].length);
        assert_bytes(status, bytes, length, cases[i].hex);
    }
    unsigned char exact[3];
    size_t just = sizeof exact;
    assert_ok(rlock_encode_string(RLOCK_CODEC_KRYO5, "a", exact, &just));
    just = sizeof exact - 1;
    assert_status(rlock_encode_string(RLOCK_CODEC_KRYO5, "a", exact, &just), RLOCK_INVALID);
    cr_assert(just == sizeof exact);
    char *longest = malloc(8192);
    unsigned char *bytes = malloc(8200);
    size_t length = 8200;
    cr_assert(longest && bytes);
    memset(longest, 'x', 8191);
    longest[8191] = 0;
    assert_ok(rlock_encode_string(RLOCK_CODEC_KRYO5, longest, bytes, &length));
    cr_assert(length == 8195 && memcmp(bytes, "\x03\xc0\x80\x01xxx", 7) == 0);
    free(longest);
    free(bytes);
}

Test(group_values, of_longs_are_as_kryo_writes_them)
{
    static const struct {
        int64_t number;
        const char *hex;
    } cases[] = {
        {0, "0900"}, {1, "0902"}, {-1, "0901"}, {63, "097e"}, {64, "098001"}, {-64, "097f"},
        {INT64_MAX, "09feffffffffffffffff"}, {INT64_MIN, "09ffffffffffffffffff"}, {1234567890123, "099693d89fee47"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[16];
        size_t length = sizeof bytes;
        rlock_status status = rlock_encode_long(RLOCK_CODEC_KRYO5, cases[i].number, bytes, &length);
        assert_bytes(status, bytes, length, cases[i].hex);
    }
}

Test(group_values, are_text_under_the_string_codec)
{
    unsigned char bytes[32];
    size_t length = sizeof bytes;
    assert_ok(rlock_encode_long(RLOCK_CODEC_STRING, INT64_MIN, bytes, &length));
    cr_assert(length == 20 && memcmp(bytes, "-9223372036854775808", 20) == 0);
    length = sizeof bytes;
    assert_ok(rlock_encode_string(RLOCK_CODEC_STRING, "\u00e9x", bytes, &length));
    cr_assert(length == 3 && memcmp(bytes, "\xc3\xa9x", 3) == 0);
}

Test(group_values, say_how_much_room_they_need)
{
    unsigned char bytes[4] = {9, 9, 9, 9};
    size_t length = 2;
    assert_status(rlock_encode_string(RLOCK_CODEC_KRYO5, "ab", bytes, &length), RLOCK_INVALID);
    cr_assert(length == 3 && bytes[0] == 9);
    length = 100;
    assert_status(rlock_encode_long(RLOCK_CODEC_KRYO5, 1, NULL, &length), RLOCK_INVALID);
    cr_assert(length == 2);
    assert_status(rlock_encode_long(RLOCK_CODEC_KRYO5, 1, bytes, NULL), RLOCK_INVALID);
    assert_status(rlock_encode_string((rlock_codec)7, "ab", bytes, &length), RLOCK_INVALID);
    assert_status(rlock_encode_string(RLOCK_CODEC_KRYO5, NULL, bytes, &length), RLOCK_INVALID);
    assert_status(rlock_encode_string(RLOCK_CODEC_STRING, "\xc3(", bytes, &length), RLOCK_INVALID);
}
