/* Texts: comparing, matching, numbers, buffers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/text.h"

#include "tests/sim/server/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

text text_of(const char *terminated)
{
    return (text){terminated, strlen(terminated)};
}

bool text_is(text one, text other)
{
    return one.length == other.length && memcmp(one.at, other.at, one.length) == 0;
}

bool text_is_word(text one, const char *word)
{
    return strlen(word) == one.length && strncasecmp(one.at, word, one.length) == 0;
}

int text_order(text one, text other)
{
    size_t shared = one.length < other.length ? one.length : other.length;
    int order = shared ? memcmp(one.at, other.at, shared) : 0;
    return order ? order : (one.length > other.length) - (one.length < other.length);
}

/* Whether the byte is in the class that begins behind `[`; *end: behind its `]`. */
static bool in_class(text pattern, size_t *end, unsigned char byte)
{
    size_t i = *end;
    bool negated = i < pattern.length && pattern.at[i] == '^', found = false;
    for (i += negated; i < pattern.length && pattern.at[i] != ']'; i++) {
        if (pattern.at[i] == '\\' && i + 1 < pattern.length)
            i++;
        unsigned char first = (unsigned char)pattern.at[i], last = first;
        if (i + 2 < pattern.length && pattern.at[i + 1] == '-') {
            last = (unsigned char)pattern.at[i + 2];
            i += 2;
        }
        found |= first <= last ? byte >= first && byte <= last : byte >= last && byte <= first;
    }
    *end = i < pattern.length ? i + 1 : i;
    return found != negated;
}

bool text_matches(text pattern, text subject)
{
    size_t p = 0, s = 0, star = SIZE_MAX, from = 0;
    while (s < subject.length || (p < pattern.length && pattern.at[p] == '*')) {
        bool goes_on = false;
        size_t next = p + 1;
        if (p < pattern.length && pattern.at[p] == '*') {
            star = ++p;
            from = s;
            continue;
        }
        if (p < pattern.length && pattern.at[p] == '[') {
            goes_on = in_class(pattern, &next, (unsigned char)subject.at[s]);
        } else if (p < pattern.length) {
            bool quoted = pattern.at[p] == '\\' && p + 1 < pattern.length;
            goes_on = (!quoted && pattern.at[p] == '?') || pattern.at[p + quoted] == subject.at[s];
            next = p + 1 + quoted;
        }
        if (goes_on) {
            p = next;
            s++;
        } else if (star != SIZE_MAX) {
            p = star;
            s = ++from;
        } else {
            return false;
        }
    }
    return p == pattern.length;
}

bool text_integer(text digits, int64_t *value)
{
    if (!digits.length || digits.length > 20)
        return false;
    bool negative = *digits.at == '-';
    size_t i = negative;
    if (i == digits.length || (digits.at[i] == '0' && digits.length > 1))
        return false;
    uint64_t sum = 0, most = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    for (; i < digits.length; i++) {
        if (digits.at[i] < '0' || digits.at[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(digits.at[i] - '0');
        if (sum > (most - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool text_number(text digits, double *value)
{
    char copy[256];
    if (!digits.length || digits.length >= sizeof copy || strchr(" \t\n\v\f\r", *digits.at))
        return false;
    memcpy(copy, digits.at, digits.length);
    copy[digits.length] = 0;
    char *end;
    *value = strtod(copy, &end);
    return end == copy + digits.length && !isnan(*value);
}

size_t integer_write(char *to, int64_t value)
{
    char reversed[NUMBER_SIZE];
    size_t length = 0, written = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        reversed[length++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        to[written++] = '-';
    while (length)
        to[written++] = reversed[--length];
    return written;
}

void bytes_add(bytes *to, const char *at, size_t length)
{
    if (to->room - to->length < length) {
        to->room = (to->length + length) * 2 + 64;
        to->at = sim_resize(to->at, to->room);
    }
    if (length)
        memcpy(to->at + to->length, at, length);
    to->length += length;
}

void bytes_print(bytes *to, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length < 0)
        abort();
    bytes_add(to, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void bytes_drop(bytes *of, size_t first)
{
    of->length -= first;
    if (of->length)
        memmove(of->at, of->at + first, of->length);
}

void bytes_free(bytes *own)
{
    sim_free(own->at);
    *own = (bytes){0};
}
