/* YAML loader: the state while Redisson's configuration file is read; messages, and access to nodes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redisson_file/yaml_loader.h"

#include "config/redisson_file/yaml_scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t rli_yaml_line(const yaml_node_t *at)
{
    return at->start_mark.line + 1;
}

/* Finds the warning of a ${NAME} that stayed as it is in the value: that is mostly why the value is wrong. Sets
 * *length to that of its text. */
static const char *find_unset(const rli_yaml_loader *loader, const yaml_node_t *value, size_t *length)
{
    char place[RLI_NAME_SHOWN + 30];
    size_t ahead = (size_t)snprintf(place, sizeof place, "%s:%zu: ", loader->file, rli_yaml_line(value));
    const char *line = value->type == YAML_SCALAR_NODE ? rli_owned_warnings(loader->owned) : "";
    for (; *line; line += *length + 1) {
        *length = strcspn(line, "\n");
        if (strncmp(line, place, ahead) == 0 && strncmp(line + ahead, "${", 2) == 0) {
            *length -= ahead;
            return line + ahead;
        }
    }
    *length = 0;
    return "";
}

rlock_status rli_yaml_fail(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status,
                           const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    size_t length;
    const char *unset = find_unset(loader, at, &length);
    return rli_fail(status, "%s:%zu: %s%s%.*s", loader->file, rli_yaml_line(at), what, length ? "; " : "", (int)length,
                    unset);
}

rlock_status rli_yaml_fail_missing(const rli_yaml_loader *loader, const yaml_node_t *at, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return rli_yaml_fail(loader, at, RLOCK_INVALID, "%s%s%s", what, *loader->stray ? "; " : "", loader->stray);
}

rlock_status rli_yaml_fail_again(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status)
{
    char what[400];
    snprintf(what, sizeof what, "%s", rlock_last_error());
    return rli_yaml_fail(loader, at, status, "%s", what);
}

rlock_status rli_yaml_warn(rli_yaml_loader *loader, size_t line, const char *format, ...)
{
    char what[400], whole[600];
    if (loader->again)
        return RLOCK_OK;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s:%zu: %s", loader->file, line, what);
    return rli_owned_warn(loader->owned, whole);
}

const char *rli_yaml_text(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE || strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
        return NULL;
    return (const char *)node->data.scalar.value;
}

bool rli_yaml_is_nothing(const yaml_node_t *node)
{
    const char *text = rli_yaml_text(node);
    return text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && rli_yaml_is_null(text);
}
