/* HighwayHash: the 128-bit hash by which Redisson names what it hashes, with Redisson's key.
 *
 * The function is that of Alakuijala, Cox and Wassenberg, "Fast keyed hash/pseudo-random function using SIMD multiply
 * and permute" (2016). Its state is four lanes of each of four words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/highway_hash.h"

#include <stdint.h>
#include <string.h>

#define LANES  4
#define PACKET 32 /* bytes; eight a lane */

typedef struct state {
    uint64_t v0[LANES], v1[LANES], mul0[LANES], mul1[LANES];
} state;

static uint64_t swap_halves(uint64_t word)
{
    return word >> 32 | word << 32;
}

static state begin(void)
{
    static const uint64_t key[LANES] = {0x9e3779b97f4a7c15, 0xf39cc0605cedc834, 0x1082276bf3a27251, 0xf86c6a11d0c18e95};
    state self = {
        .mul0 = {0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344, 0x243f6a8885a308d3},
        .mul1 = {0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c, 0x452821e638d01377},
    };
    for (int i = 0; i < LANES; i++) {
        self.v0[i] = self.mul0[i] ^ key[i];
        self.v1[i] = self.mul1[i] ^ swap_halves(key[i]);
    }
    return self;
}

/* Byte `from` of a word, as byte `to`. */
static uint64_t moved(uint64_t word, int from, int to)
{
    return (word >> (8 * from) & 0xff) << (8 * to);
}

/* Mixes the bytes of two lanes, and adds the results to two others. */
static void zip(const uint64_t from[2], uint64_t to[2])
{
    uint64_t low = from[0], high = from[1];
    to[0] += moved(low, 3, 0) | moved(high, 4, 1) | moved(low, 2, 2) | moved(low, 5, 3) | moved(high, 6, 4) |
             moved(low, 1, 5) | moved(high, 7, 6) | moved(low, 0, 7);
    to[1] += moved(high, 3, 0) | moved(low, 4, 1) | moved(high, 2, 2) | moved(high, 5, 3) | moved(high, 1, 4) |
             moved(low, 6, 5) | moved(high, 0, 6) | moved(low, 7, 7);
}

static void update(state *self, const uint64_t lanes[LANES])
{
    for (int i = 0; i < LANES; i++) {
        self->v1[i] += self->mul0[i] + lanes[i];
        self->mul0[i] ^= (self->v1[i] & 0xffffffff) * (self->v0[i] >> 32);
        self->v0[i] += self->mul1[i];
        self->mul1[i] ^= (self->v0[i] & 0xffffffff) * (self->v1[i] >> 32);
    }
    zip(self->v1, self->v0);
    zip(self->v1 + 2, self->v0 + 2);
    zip(self->v0, self->v1);
    zip(self->v0 + 2, self->v1 + 2);
}

static void update_packet(state *self, const unsigned char packet[PACKET])
{
    uint64_t lanes[LANES] = {0};
    for (int i = 0; i < PACKET; i++)
        lanes[i / 8] |= (uint64_t)packet[i] << (8 * (i % 8));
    update(self, lanes);
}

static uint64_t rotate_halves(uint64_t word, unsigned bits)
{
    uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32);
    low = low << bits | low >> (32 - bits);
    high = high << bits | high >> (32 - bits);
    return (uint64_t)high << 32 | low;
}

/* The last packet, of 1 to 31 bytes: whole groups of four where they are, the rest in a place that depends on the
 * length. */
static void update_rest(state *self, const unsigned char *bytes, unsigned length)
{
    unsigned char packet[PACKET] = {0};
    unsigned whole = length & ~3u, rest = length & 3;
    for (int i = 0; i < LANES; i++) {
        self->v0[i] += ((uint64_t)length << 32) + length;
        self->v1[i] = rotate_halves(self->v1[i], length);
    }
    memcpy(packet, bytes, whole);
    if (length & 16) {
        memcpy(packet + 28, bytes + length - 4, 4);
    } else if (rest) {
        packet[16] = bytes[whole];
        packet[17] = bytes[whole + (rest >> 1)];
        packet[18] = bytes[whole + rest - 1];
    }
    update_packet(self, packet);
}

static void put_big_endian(uint64_t word, unsigned char bytes[8])
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(word >> (56 - 8 * i));
}

void rli_highway_hash(const void *bytes, size_t length, unsigned char hash[RLI_HIGHWAY_HASH])
{
    const unsigned char *at = bytes;
    state self = begin();
    for (; length >= PACKET; at += PACKET, length -= PACKET)
        update_packet(&self, at);
    if (length > 0)
        update_rest(&self, at, (unsigned)length);
    for (int round = 0; round < 6; round++) {
        uint64_t lanes[LANES];
        for (int i = 0; i < LANES; i++)
            lanes[i] = swap_halves(self.v0[(i + 2) % LANES]);
        update(&self, lanes);
    }
    put_big_endian(self.v0[0] + self.mul0[0] + self.v1[2] + self.mul1[2], hash);
    put_big_endian(self.v0[1] + self.mul0[1] + self.v1[3] + self.mul1[3], hash + 8);
}
