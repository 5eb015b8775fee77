/* A reader of JSON that is as strict as RFC 8259, to judge what the command prints. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMAND_JSON_H
#define COMMAND_JSON_H

#include <stdbool.h>

/* Whether `text` is one JSON value and nothing but white space behind it. */
bool json_is_valid(const char *text);

/* The member `name` of the object `text`: a string decoded to UTF-8, anything else as it stands.
 * To be freed; NULL: there is none. */
char *json_member(const char *text, const char *name);
/* Element `index` of the array `text`, in the same way. */
char *json_element(const char *text, int index);

#endif
