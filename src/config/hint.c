/* Hint: the known name that an unknown name may have been meant to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/hint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 63

/* A user who writes lock-watchdog-timeout means lockWatchdogTimeout. */
static const char *without_hyphens(const char *name, char plain[LONGEST + 2])
{
    size_t length = 0;
    for (; *name && length <= LONGEST; name++) {
        if (*name != '-')
            plain[length++] = *name;
    }
    plain[length] = 0;
    return plain;
}

/* The edit distance between two names: how many letters must be inserted, deleted or changed, ignoring case and
 * hyphens. */
static size_t distance(const char *name, const char *known)
{
    char plain[LONGEST + 2], plain_known[LONGEST + 2];
    const char *a = without_hyphens(name, plain), *b = without_hyphens(known, plain_known);
    size_t row[LONGEST + 1], b_length = strlen(b);
    if (strlen(a) > LONGEST || b_length > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < other ? change : other;
        }
    }
    return row[b_length];
}

/* The name in `names` for what has another name in Redisson; NULL: none is known. */
static const char *our_name(const char *name, rli_names_fn *names)
{
    static const struct {
        const char *redissons, *ours;
    } others[] = {
        {"nameMapper", "namePrefix"},
        {"natMapper", "natMap"},
        {"retryDelay", "retryBaseDelay"},
        {"retryInterval", "retryBaseDelay"},
        {"masterConnectionPoolSize", "connectionPoolSize"},
        {"redis+uds", "unix"},
        {"valkey+uds", "unix"},
        {"valkey", "redis"},
        {"valkeys", "rediss"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *one = "";
        if (strcmp(others[i].redissons, name) != 0)
            continue;
        for (size_t j = 0; one && strcmp(one, others[i].ours) != 0; j++)
            one = names(j);
        return one;
    }
    return NULL;
}

const char *rli_hint(const char *name, rli_names_fn *names, char shown[RLI_HINT_SHOWN])
{
    const char *known = our_name(name, names), *like = known, *one;
    size_t length = strlen(name), best = length > 5 ? 3 : length > 2 ? 2 : 1; /* a smaller distance counts as similar */
    for (size_t i = 0; !known && (one = names(i)); i++) {
        size_t away = distance(name, one);
        if (away < best) {
            best = away;
            like = one;
        }
    }
    for (size_t i = 0; !like && length > 3 && (one = names(i)); i++) {
        if (strcasestr(one, name))
            like = one; /* `name` is a part of it */
    }
    shown[0] = 0;
    if (like)
        snprintf(shown, RLI_HINT_SHOWN, " (did you mean \"%s\"?)", like);
    return shown;
}
