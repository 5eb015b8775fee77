/* rlock_config_load_yaml: reads Redisson's configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"
#include "config/environment.h"
#include "config/fields.h"
#include "config/hint.h"
#include "config/redisson_file/file.h"
#include "config/redisson_file/yaml_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits for mappings merged by <<: in all, and one within the other. More than that is a cycle, or a file that unfolds
 * without end, on the stack of a thread that may have little. */
#define MERGES_MAX        300
#define NESTED_MERGES_MAX 20

/* How many lists and mappings may be one within the other. Redisson's file has five. libyaml takes a time for each word
 * that grows with their number: seconds for a file of brackets. */
#define NESTED_MAX 100

/* Redisson looks for the sections in this order and takes the first that it finds. */
static const struct section {
    const char *name;
    rli_mode mode;
    unsigned where;
} sections[] = {
    {"masterSlaveServersConfig", RLI_MASTER_SLAVE, RLI_IN_MASTER_SLAVE},
    {"singleServerConfig", RLI_SINGLE, RLI_IN_SINGLE},
    {"sentinelServersConfig", RLI_SENTINEL, RLI_IN_SENTINEL},
    {"clusterServersConfig", RLI_CLUSTER, RLI_IN_CLUSTER},
    {"replicatedServersConfig", RLI_REPLICATED, RLI_IN_REPLICATED},
    {"elasticacheServersConfig", RLI_REPLICATED, RLI_IN_REPLICATED},
};
#define SECTION_COUNT (sizeof sections / sizeof *sections)

/* The part of a key that may be shown in a message: the beginning that looks like a key. A colon without a
 * space after it makes one key of "password:secret". */
static const char *show_key(const char *key, char shown[64])
{
    size_t length = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    length = length > 50 ? 50 : length;
    snprintf(shown, 64, "%.*s%s", (int)length, key, key[length] ? "…" : "");
    return shown;
}

/* Where a misplaced key belongs: in the section that is used, if it may stand there, or at the top level; else in
 * another section. */
static const char *home_of(const rli_yaml_loader *loader, const rli_yaml_key *key)
{
    const char *other = key->where & RLI_AT_TOP ? "the top level" : NULL;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        bool allowed = key->where & sections[i].where;
        if (allowed && sections[i].mode == loader->mode)
            return sections[i].name;
        if (allowed && !other)
            other = sections[i].name;
    }
    return other;
}

static rlock_status unknown_key(rli_yaml_loader *loader, const yaml_node_t *at, const char *key)
{
    char shown[64], hint[RLI_HINT_SHOWN] = "";
    show_key(key, shown);
    const rli_yaml_key *misplaced = rli_yaml_key_find(~0u, key);
    if (!misplaced && rli_field_find(key))
        return rli_yaml_warn(loader, rli_yaml_line(at),
                             "the key \"%s\" is not one of Redisson's and is ignored in a file; set it with "
                             "rlock_config_set(), or in a URL",
                             shown);
    if (!misplaced && strcmp(shown, key) == 0)
        rli_hint(key, rli_yaml_key_name, hint);
    if (!*loader->stray || *hint)
        snprintf(loader->stray, sizeof loader->stray,
                 misplaced ? "line %zu has the key \"%s\", which does not belong here%s"
                           : "line %zu has the unknown key \"%s\"%s",
                 rli_yaml_line(at), shown, hint);
    if (misplaced)
        return rli_yaml_warn(loader, rli_yaml_line(at),
                             "the key \"%s\" does not belong here and is ignored; its place is %s", shown,
                             home_of(loader, misplaced));
    return rli_yaml_warn(loader, rli_yaml_line(at), "unknown key \"%s\" is ignored%s", shown, hint);
}

static rlock_status read_keys(rli_yaml_loader *loader, yaml_node_t *mapping, unsigned where);

static rlock_status read_merged(rli_yaml_loader *loader, yaml_node_t *value, unsigned where);

static rlock_status merge(rli_yaml_loader *loader, yaml_node_t *value, unsigned where)
{
    if (value->type == YAML_MAPPING_NODE)
        return read_keys(loader, value, where);
    if (value->type != YAML_SEQUENCE_NODE)
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "<< must be followed by a mapping, such as *name");
    rlock_status status = RLOCK_OK;
    /* The first mapping overrides the later ones, so it is read last. */
    yaml_node_item_t *from = value->data.sequence.items.start;
    for (yaml_node_item_t *item = value->data.sequence.items.top; status == RLOCK_OK && item-- > from;)
        status = read_merged(loader, yaml_document_get_node(&loader->document, *item), where);
    return status;
}

/* Reads `<<: *other` or `<<: [*one, *other]`: keys of other mappings, which the keys beside the << override. */
static rlock_status read_merged(rli_yaml_loader *loader, yaml_node_t *value, unsigned where)
{
    if (++loader->merges > MERGES_MAX || loader->nested_merges == NESTED_MERGES_MAX)
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "<< leads to too many mappings");
    loader->nested_merges++;
    rlock_status status = merge(loader, value, where);
    loader->nested_merges--;
    return status;
}

static rlock_status read_pair(rli_yaml_loader *loader, yaml_node_t *key_node, yaml_node_t *value, unsigned where,
                              bool seen[RLI_YAML_KEYS_MAX])
{
    const char *name = rli_yaml_text(key_node);
    if (!name)
        return rli_yaml_fail(loader, key_node, RLOCK_INVALID, "a key is no plain word");
    const rli_yaml_key *key = rli_yaml_key_find(where, name);
    if (!key)
        return unknown_key(loader, key_node, name);
    if (loader->again && !key->top_wins)
        return RLOCK_OK;
    bool *seen_it = &seen[key - rli_yaml_key_at(0)];
    rlock_status status = RLOCK_OK;
    if (*seen_it)
        status = rli_yaml_warn(loader, rli_yaml_line(key_node), "%s is given twice; the last counts", name);
    *seen_it = true;
    return status == RLOCK_OK ? rli_yaml_use(loader, key, value) : status;
}

/* Reads the keys of a mapping that are allowed at `where`; the merged ones (<<) first. */
static rlock_status read_keys(rli_yaml_loader *loader, yaml_node_t *mapping, unsigned where)
{
    bool seen[RLI_YAML_KEYS_MAX] = {false};
    yaml_node_pair_t *from = mapping->data.mapping.pairs.start, *end = mapping->data.mapping.pairs.top;
    rlock_status status = RLOCK_OK;
    for (int merged = 1; merged >= 0; merged--) {
        for (yaml_node_pair_t *pair = from; status == RLOCK_OK && pair < end; pair++) {
            yaml_node_t *key = yaml_document_get_node(&loader->document, pair->key);
            yaml_node_t *value = yaml_document_get_node(&loader->document, pair->value);
            const char *name = rli_yaml_text(key);
            bool is_merge = name && strcmp(name, "<<") == 0;
            if (is_merge && merged)
                status = read_merged(loader, value, where);
            else if (!is_merge && !merged)
                status = read_pair(loader, key, value, where, seen);
        }
    }
    return status;
}

/* The value of the last key `name` in a mapping; NULL: no such key, or its value is null. */
static yaml_node_t *find_value(rli_yaml_loader *loader, const yaml_node_t *mapping, const char *name)
{
    yaml_node_t *found = NULL;
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top; pair++) {
        const char *key = rli_yaml_text(yaml_document_get_node(&loader->document, pair->key));
        if (key && strcmp(key, name) == 0)
            found = yaml_document_get_node(&loader->document, pair->value);
    }
    return found && !rli_yaml_is_nothing(found) ? found : NULL;
}

/* None of the known sections is there; it may be a section of Redisson PRO. */
static rlock_status no_section(rli_yaml_loader *loader, yaml_node_t *root)
{
    char shown[64];
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *node = yaml_document_get_node(&loader->document, pair->key);
        const char *key = rli_yaml_text(node);
        size_t length = key ? strlen(key) : 0;
        if (length > 13 && strcmp(key + length - 13, "ServersConfig") == 0 && !rli_yaml_key_find(RLI_AT_TOP, key))
            return rli_yaml_fail(loader, node, RLOCK_UNSUPPORTED,
                                 "%s is not supported; singleServerConfig, "
                                 "sentinelServersConfig, clusterServersConfig, masterSlaveServersConfig and "
                                 "replicatedServersConfig are",
                                 show_key(key, shown));
    }
    rlock_status status = read_keys(loader, root, RLI_AT_TOP); /* warns of a misspelt section name */
    return status == RLOCK_OK ? rli_yaml_fail_missing(loader, root,
                                                      "no server is named; singleServerConfig, "
                                                      "sentinelServersConfig, clusterServersConfig, "
                                                      "masterSlaveServersConfig or replicatedServersConfig is missing")
                              : status;
}

/* Finds the section that is used. */
static rlock_status choose(rli_yaml_loader *loader, yaml_node_t *root, const struct section **chosen,
                           yaml_node_t **body)
{
    *chosen = NULL;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        yaml_node_t *value = find_value(loader, root, sections[i].name);
        rlock_status status = RLOCK_OK;
        if (value && value->type != YAML_MAPPING_NODE)
            return rli_yaml_fail(loader, value, RLOCK_INVALID,
                                 "%s must contain keys, on lines that are indented further", sections[i].name);
        if (value && *chosen)
            status = rli_yaml_warn(loader, rli_yaml_line(value), "%s is ignored: %s takes precedence", sections[i].name,
                                   (*chosen)->name);
        if (status != RLOCK_OK)
            return status;
        if (value && !*chosen) {
            *chosen = &sections[i];
            *body = value;
        }
    }
    return *chosen ? RLOCK_OK : no_section(loader, root);
}

static rlock_status finish(rli_yaml_loader *loader, const struct section *chosen, const yaml_node_t *body)
{
    rlock_config *draft = &loader->draft;
    rlock_status status = rli_yaml_finish_servers(loader, chosen->name, body);
    if (status == RLOCK_OK && chosen->mode == RLI_SENTINEL && (!draft->master_name || !*draft->master_name))
        status = rli_yaml_fail_missing(loader, body, "%s has no masterName, the name of the master at the sentinels",
                                       chosen->name);
    if (status == RLOCK_OK && !loader->tls && (draft->ssl_truststore || draft->ssl_keystore))
        status = rli_yaml_warn(loader, rli_yaml_line(body),
                               "the ssl settings are not used: the addresses begin with "
                               "redis://, not rediss://");
    return status;
}

/* Reads the top level, then the section, which overrides it, then again those keys of the top level that
 * override the section's. */
static rlock_status read_root(rli_yaml_loader *loader, yaml_node_t *root)
{
    const struct section *chosen;
    yaml_node_t *body = NULL;
    if (root->type != YAML_MAPPING_NODE)
        return rli_yaml_fail(
            loader, root, RLOCK_INVALID,
            "this is not a configuration file of Redisson: it must begin with keys, such as singleServerConfig:");
    rlock_status status = choose(loader, root, &chosen, &body);
    if (status != RLOCK_OK)
        return status;
    loader->mode = chosen->mode;
    status = read_keys(loader, root, RLI_AT_TOP);
    if (status == RLOCK_OK)
        status = read_keys(loader, body, chosen->where);
    loader->again = true;
    if (status == RLOCK_OK)
        status = read_keys(loader, root, RLI_AT_TOP);
    loader->again = false;
    return status == RLOCK_OK ? finish(loader, chosen, body) : status;
}

static rlock_status no_yaml(const rli_yaml_loader *loader, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the configuration file");
    bool has_place = parser->error != YAML_READER_ERROR;
    char where[40] = "";
    if (has_place)
        snprintf(where, sizeof where, ":%zu", parser->problem_mark.line + 1);
    return rli_fail(RLOCK_INVALID, "%s%s: this is not valid YAML: %s%s%s%s", loader->file, where,
                    parser->problem ? parser->problem : "it cannot be read", parser->context ? ", " : "",
                    parser->context ? parser->context : "",
                    loader->replaced ? "; what stands for ${NAME} is read as YAML, so it may need quotes" : "");
}

/* Reads on until more than NESTED_MAX lists and mappings are open: then returns the line; 0: that never happens. What
 * is no YAML ends it, too, and is found again. */
static size_t find_nested(yaml_parser_t *parser)
{
    int open = 0;
    size_t line = 0;
    bool goes_on = true;
    yaml_event_t event;
    while (goes_on && yaml_parser_parse(parser, &event)) {
        open += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        open -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        if (open > NESTED_MAX)
            line = event.start_mark.line + 1;
        goes_on = line == 0 && event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return line;
}

static rlock_status refuse_nested(rli_yaml_loader *loader, yaml_parser_t *parser)
{
    size_t line = find_nested(parser);
    return line == 0 ? RLOCK_OK
                     : rli_fail(RLOCK_INVALID, "%s:%zu: more than %d lists and keys are one within the other",
                                loader->file, line, NESTED_MAX);
}

static rlock_status read_document(rli_yaml_loader *loader, yaml_parser_t *parser)
{
    if (!yaml_parser_load(parser, &loader->document))
        return no_yaml(loader, parser);
    yaml_node_t *root = yaml_document_get_root_node(&loader->document);
    rlock_status status = root && !rli_yaml_is_nothing(root)
                              ? read_root(loader, root)
                              : rli_fail(RLOCK_INVALID, "%s: the file is empty", loader->file);
    yaml_document_delete(&loader->document);
    if (status != RLOCK_OK)
        return status;
    yaml_document_t more;
    if (!yaml_parser_load(parser, &more))
        return no_yaml(loader, parser);
    if (yaml_document_get_root_node(&more))
        status = rli_fail(RLOCK_INVALID, "%s:%zu: a second document begins; Redisson reads files with one",
                          loader->file, more.start_mark.line + 1);
    yaml_document_delete(&more);
    return status;
}

static rlock_status warn_of_unset(void *arg, size_t line, const char *name, size_t length)
{
    bool has_default = length > 2 && memcmp(name + length - 2, ":-", 2) == 0;
    return rli_yaml_warn(arg, line,
                         has_default ? "${%.*s} has an empty default, which Redisson does not read: it stays as it is"
                                     : "${%.*s} is not set in the environment and stays as it is",
                         (int)(length > 60 ? 60 : length), name);
}

static rlock_status parse(rli_yaml_loader *loader, const char *text, size_t length,
                          rlock_status (*read)(rli_yaml_loader *, yaml_parser_t *))
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the configuration file");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    rlock_status status = read(loader, &parser);
    yaml_parser_delete(&parser);
    return status;
}

static rlock_status read_text(rli_yaml_loader *loader, const char *path)
{
    char *raw, *text;
    size_t length;
    rlock_status status = rli_file_read(path, &raw, &length);
    if (status != RLOCK_OK)
        return status;
    size_t raw_length = length;
    status = rli_environment_expand(raw, raw_length, &text, &length, warn_of_unset, loader);
    loader->replaced = status == RLOCK_OK && (length != raw_length || memcmp(raw, text, length) != 0);
    free(raw);
    if (status != RLOCK_OK)
        return status;
    status = parse(loader, text, length, refuse_nested);
    if (status == RLOCK_OK)
        status = parse(loader, text, length, read_document);
    free(text);
    return status;
}

rlock_status rlock_config_load_yaml(rlock_config *config, const char *path)
{
    rli_yaml_loader loader = {0};
    rlock_status status = rli_config_read_owner(&loader.draft, config);
    if (status != RLOCK_OK)
        return status;
    if (!path)
        return rli_fail(RLOCK_INVALID, "the path of the configuration file must not be NULL");
    rli_show_name(path, loader.file);
    loader.given_prefix = config->name_prefix;
    loader.owned = rli_owned_new();
    if (!loader.owned)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
    status = read_text(&loader, path);
    if (status == RLOCK_OK)
        status = rli_owned_join(loader.owned, config->owned);
    if (status != RLOCK_OK) {
        rli_owned_free(loader.owned);
        return status;
    }
    loader.draft.owned = loader.owned;
    rli_config_write(config, &loader.draft);
    return RLOCK_OK;
}
