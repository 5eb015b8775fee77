/* The one list of settings: name, range, and where each stands in rlock_config and in rli_settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_FIELDS_H
#define RLI_FIELDS_H

#include <rlock/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rli_field_kind {
    RLI_COUNT, /* int */
    RLI_SPAN,  /* int64_t, milliseconds */
    RLI_TEXT,  /* const char *, in rli_settings char * */
    RLI_FLAG,  /* bool */
    RLI_WORD   /* an enum, counted from 0 in the order of `words` */
} rli_field_kind;

typedef struct rli_field {
    const char *name; /* Redisson's, and the URL's */
    rli_field_kind kind;
    bool secret; /* never in a message */
    size_t in_config, in_settings;
    int64_t lowest, highest;  /* of numbers */
    const char *const *words; /* ends with NULL */
} rli_field;

/* The i-th setting; NULL behind the last. */
const rli_field *rli_field_at(size_t i);
/* By its name; NULL: there is none. */
const rli_field *rli_field_find(const char *name);
const char *rli_field_name(size_t i); /* of the i-th; NULL behind the last */

/* RLOCK_INVALID: `value` is out of the range of a number. */
rlock_status rli_field_check(const rli_field *field, int64_t value);
/* Reads `text` as the URL has it: a number, a word, true or false. RLOCK_INVALID: what is wrong and what
 * would be right, without the text of a secret. Not for RLI_TEXT. */
rlock_status rli_field_read(const rli_field *field, const char *text, int64_t *value);

/* The value at `place`, of any kind but RLI_TEXT. */
int64_t rli_field_load(const rli_field *field, const void *place);
void rli_field_store(const rli_field *field, void *place, int64_t value);

#endif
