/* SHA-1, by which scripts are known. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_SHA1_H
#define SIM_SERVER_SHA1_H

#include <stddef.h>

/* 40 hex digits and a NUL. */
void sha1_hex(const char *of, size_t length, char digits[41]);

#endif
