/* YAML scalars: single values, read as Java's YAML 1.1 parser reads them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redisson_file/yaml_scalar.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

bool rli_yaml_number(const char *text, int64_t *value)
{
    static const char digits[] = "0123456789abcdef";
    bool negative = *text == '-';
    text += negative || *text == '+';
    int base = 10;
    if (*text == '0' && text[1]) {
        base = text[1] == 'x' ? 16 : text[1] == 'b' ? 2 : 8;
        text += base == 8 ? 1 : 2;
    }
    int64_t total = 0;
    bool any = false;
    for (; *text; text++) {
        if (*text == '_')
            continue;
        const char *digit = strchr(digits, tolower((unsigned char)*text));
        if (!digit || digit - digits >= base || total > (INT64_MAX - base) / base)
            return false;
        total = total * base + (digit - digits);
        any = true;
    }
    *value = negative ? -total : total;
    return any;
}

/* Whether `text` is `word` in lower case, capitalized, or in upper case. */
static bool is_word(const char *text, const char *word)
{
    if (strcmp(text, word) == 0)
        return true;
    if (*text != toupper((unsigned char)*word) || strlen(text) != strlen(word))
        return false;
    bool capitals = true;
    for (size_t i = 1; text[i]; i++)
        capitals = capitals && text[i] == toupper((unsigned char)word[i]);
    return capitals || strcmp(text + 1, word + 1) == 0;
}

bool rli_yaml_flag(const char *text, bool *value)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(text, words[i])) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

bool rli_yaml_is_null(const char *text)
{
    return !*text || strcmp(text, "~") == 0 || is_word(text, "null");
}
