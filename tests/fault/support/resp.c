/* RESP: where a request or a reply ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/resp.h"

#include <stdlib.h>
#include <string.h>

/* The length of the first line with its end; 0: not there yet. */
static size_t line_length(const char *data, size_t length)
{
    const char *end = length == 0 ? NULL : memmem(data, length, "\r\n", 2);
    return end ? (size_t)(end - data) + 2 : 0;
}

static ssize_t array_length(const char *data, size_t length, size_t line, long long elements)
{
    size_t total = line;
    for (long long i = 0; i < elements; i++) {
        ssize_t element = resp_length(data + total, length - total);
        if (element <= 0)
            return element;
        total += (size_t)element;
    }
    return (ssize_t)total;
}

ssize_t resp_length(const char *data, size_t length)
{
    size_t line = line_length(data, length);
    if (line == 0)
        return 0;
    if (strchr("+-:", data[0]))
        return (ssize_t)line;
    if (data[0] != '$' && data[0] != '*')
        return -1;
    long long count = strtoll(data + 1, NULL, 10); /* ends at the line's end */
    if (count < 0)
        return (ssize_t)line; /* nil */
    if (data[0] == '*')
        return array_length(data, length, line, count);
    size_t total = line + (size_t)count + 2;
    return total <= length ? (ssize_t)total : 0;
}

int resp_words(char *request, size_t length, char *words[], int most)
{
    int count = 0;
    char *at = request, *end = request + length;
    while (count < most && (at = memchr(at, '$', (size_t)(end - at)))) {
        size_t word = strtoul(at + 1, &at, 10);
        if (at + 2 + word >= end)
            break;
        words[count++] = at + 2;
        at += 2 + word;
        *at++ = 0;
    }
    return count;
}
