/* The parts of an owner as the server has it: "<client id>:<number>". */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OWNER_H
#define CLI_OWNER_H

#include <stdio.h>

/* The length of the client's id; that of all when another program wrote it. */
size_t owner_client_length(const char *owner);
/* The digits of the number, within `owner`; NULL: it has none. */
const char *owner_number(const char *owner);

/* "client <id>, number <n>" for people. */
void owner_print(FILE *out, const char *owner);

#endif
