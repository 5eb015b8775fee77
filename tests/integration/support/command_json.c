/* A reader of JSON that is as strict as RFC 8259, to judge what the command prints. Each skip_…
 * answers what follows the thing at `at`, or NULL when there is no such thing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_json.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_value(const char *at);

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* One UTF-8 character above ASCII. */
static const char *skip_wide(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t more = at[0] >= 0xF0 ? 3 : at[0] >= 0xE0 ? 2 : 1;
    if (at[0] < 0xC2 || at[0] > 0xF4)
        return NULL;
    for (size_t i = 1; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return NULL;
    }
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
        (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
        return NULL;
    return text + more + 1;
}

static const char *skip_escape(const char *at)
{
    if (*at == 'u')
        return strspn(at + 1, "0123456789abcdefABCDEF") >= 4 ? at + 5 : NULL;
    return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
}

static const char *skip_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (at && *at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if ((unsigned char)*at >= 0x80)
            at = skip_wide(at);
        else if (*at == '\\')
            at = skip_escape(at + 1);
        else
            at++;
    }
    return at ? at + 1 : NULL;
}

static const char *skip_number(const char *at)
{
    at += *at == '-';
    size_t digits = strspn(at, "0123456789");
    if (!digits || (*at == '0' && digits > 1))
        return NULL;
    at += digits;
    size_t fraction = *at == '.' ? strspn(at + 1, "0123456789") : 0;
    if (*at == '.' && !fraction)
        return NULL;
    return at + (fraction ? 1 + fraction : 0); /* the command prints no exponents */
}

static const char *skip_word(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0 ? at + strlen(word) : NULL;
}

/* `close` is ] or }; members of an object have a name. */
static const char *skip_list(const char *at, char close)
{
    at = skip_space(at + 1);
    if (*at == close)
        return at + 1;
    for (;; at++) {
        at = skip_space(at);
        if (close == '}') {
            at = skip_string(at);
            at = at ? skip_space(at) : NULL;
            if (!at || *at++ != ':')
                return NULL;
        }
        at = skip_value(at);
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at == close)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static const char *skip_value(const char *at)
{
    at = skip_space(at);
    switch (*at) {
    case '{':
        return skip_list(at, '}');
    case '[':
        return skip_list(at, ']');
    case '"':
        return skip_string(at);
    case 't':
        return skip_word(at, "true");
    case 'f':
        return skip_word(at, "false");
    case 'n':
        return skip_word(at, "null");
    default:
        return skip_number(at);
    }
}

bool json_is_valid(const char *text)
{
    const char *end = skip_value(text);
    return end && !*skip_space(end);
}

/* The bytes of \uXXXX, which the command uses for U+FFFD and control characters only. */
static char *put_code(char *to, unsigned long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

static char *decode(const char *at, const char *end)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *text = calloc(1, (size_t)(end - at) + 1), *to = text;
    if (*at != '"')
        return memcpy(text, at, (size_t)(end - at));
    for (at++, end--; at < end; at++) {
        if (*at != '\\') {
            *to++ = *at;
        } else if (*++at == 'u') {
            char digits[5] = "";
            memcpy(digits, at + 1, 4);
            to = put_code(to, strtoul(digits, NULL, 16));
            at += 4;
        } else {
            *to++ = meant[strchr(escapes, *at) - escapes];
        }
    }
    return text;
}

/* Walks through an object (name: the member wanted) or an array (index: the element wanted). */
static char *pick(const char *text, const char *name, int index)
{
    if (!json_is_valid(text) || *(text = skip_space(text)) != (name ? '{' : '['))
        return NULL;
    for (int i = 0;; i++) {
        bool wanted = i == index;
        text = skip_space(text + 1);
        if (*text == ']' || *text == '}')
            return NULL;
        if (name) {
            const char *end = skip_string(text);
            char *found = decode(text, end);
            wanted = strcmp(found, name) == 0;
            free(found);
            text = skip_space(skip_space(end) + 1);
        }
        const char *end = skip_value(text);
        if (wanted)
            return decode(text, end);
        text = skip_space(end);
        if (*text != ',')
            return NULL;
    }
}

char *json_member(const char *text, const char *name)
{
    return pick(text, name, -1);
}

char *json_element(const char *text, int index)
{
    return pick(text, NULL, index);
}
