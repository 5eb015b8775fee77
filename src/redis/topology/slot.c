/* Slots: CRC16 (XMODEM: polynomial 0x1021, initial value 0) of the part of a key that counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/slot.h"

#include <stdint.h>
#include <string.h>

/* Four bits per step, so that a table of 16 entries is enough. */
static unsigned crc16(const char *bytes, size_t length)
{
    static const uint16_t steps[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                       0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned byte = (unsigned char)bytes[i];
        crc = (crc << 4 ^ steps[(crc >> 12 ^ byte >> 4) & 15]) & 0xffff;
        crc = (crc << 4 ^ steps[(crc >> 12 ^ byte) & 15]) & 0xffff;
    }
    return crc;
}

unsigned rli_slot_of(const char *key, size_t length)
{
    const char *open = memchr(key, '{', length);
    const char *close = open ? memchr(open, '}', length - (size_t)(open - key)) : NULL;
    if (close && close > open + 1)
        return crc16(open + 1, (size_t)(close - open) - 1) % RLI_SLOTS;
    return crc16(key, length) % RLI_SLOTS;
}
