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

rlock_status rli_yaml_fail(const rli_yaml_loader *loader, const yaml_node_t *at, rlock_status status,
                           const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return rli_fail(status, "%s:%zu: %s", loader->file, rli_yaml_line(at), what);
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
