/* SHA-1 (FIPS 180-4). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t turned(uint32_t value, int bits)
{
    return value << bits | value >> (32 - bits);
}

static void add_block(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16 | (uint32_t)block[i * 4 + 2] << 8 |
               block[i * 4 + 3];
    for (int i = 16; i < 80; i++)
        w[i] = turned(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        static const uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
        uint32_t next = turned(a, 5) + f + e + k[i / 20] + w[i];
        e = d;
        d = c;
        c = turned(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static void compute(const char *of, size_t length, char digits[41])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const unsigned char *at = (const unsigned char *)of;
    size_t left = length;
    for (; left >= 64; left -= 64, at += 64)
        add_block(state, at);
    unsigned char end[128] = {0};
    memcpy(end, at, left);
    end[left] = 0x80;
    size_t size = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        end[size - 1 - (size_t)i] = (unsigned char)((uint64_t)length * 8 >> 8 * i);
    add_block(state, end);
    if (size == 128)
        add_block(state, end + 64);
    for (int i = 0; i < 5; i++)
        snprintf(digits + i * 8, 9, "%08x", state[i]);
}

/* The digits of texts that were asked for before, such as those of the library's scripts. */
static struct kept {
    char *text;
    size_t length;
    char digits[41];
} all_kept[256];

static struct kept *place_of(const char *of, size_t length)
{
    size_t mixed = length * 31 + (unsigned char)of[length / 2] * 7u + (unsigned char)of[length / 3];
    return &all_kept[mixed % (sizeof all_kept / sizeof *all_kept)];
}

void sha1_hex(const char *of, size_t length, char digits[41])
{
    if (length < 64) {
        compute(of, length, digits);
        return;
    }
    struct kept *kept = place_of(of, length);
    if (kept->length != length || memcmp(kept->text, of, length) != 0) {
        free(kept->text);
        *kept = (struct kept){.text = malloc(length), .length = length};
        if (!kept->text)
            abort();
        memcpy(kept->text, of, length);
        compute(of, length, kept->digits);
    }
    memcpy(digits, kept->digits, sizeof kept->digits);
}
