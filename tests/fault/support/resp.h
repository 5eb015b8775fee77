/* RESP: where a request or a reply ends. Nothing more of the protocol is needed between two who
 * speak it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_RESP_H
#define FAULT_RESP_H

#include <stddef.h>
#include <sys/types.h>

/* The length of the value that begins at `data`. 0: it has not come whole; -1: that is no RESP. */
ssize_t resp_length(const char *data, size_t length);

/* The words of a request, which are terminated in place; how many, `most` at most. */
int resp_words(char *request, size_t length, char *words[], int most);

#endif
