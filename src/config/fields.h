/* The one list of settings: name, range, and place in rlock_config and in rli_settings. */
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
    RLI_TEXT,  /* const char *; in rli_settings char * */
    RLI_FLAG,  /* bool */
    RLI_WORD   /* an enum; its values are the indexes of `words` */
} rli_field_kind;

typedef struct rli_field {
    const char *name; /* Redisson's name, also in URLs */
    rli_field_kind kind;
    bool secret; /* its value is never shown in a message */
    size_t in_config, in_settings;
    int64_t lowest, highest;  /* for numbers */
    const char *const *words; /* for RLI_WORD; ends with NULL */
} rli_field;

/* The i-th setting; NULL after the last one. */
const rli_field *rli_field_at(size_t i);
/* The setting of that name; NULL: there is none. */
const rli_field *rli_field_find(const char *name);
const char *rli_field_name(size_t i); /* name of the i-th; NULL after the last one */

/* RLOCK_OK; RLOCK_INVALID: `value` is outside the field's range. */
rlock_status rli_field_check(const rli_field *field, int64_t value);
/* Parses `text` as written in a URL: a number, a word, true or false. Not for RLI_TEXT. RLOCK_INVALID: the
 * message says what is wrong and what is allowed, but does not show the value of a secret. */
rlock_status rli_field_read(const rli_field *field, const char *text, int64_t *value);

/* Loads or stores the value at `place`, for all kinds but RLI_TEXT. */
int64_t rli_field_load(const rli_field *field, const void *place);
void rli_field_store(const rli_field *field, void *place, int64_t value);

#endif
