/* The Java objects in Redisson's configuration file: retry delays, mappers, and the program's own classes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_port.h"
#include "config/duration.h"
#include "config/fields.h"
#include "config/redisson_file/yaml_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The class of an object, without its package: its tag or, as in Redisson's JSON, its key "class". "": none. */
static const char *class_of(rli_yaml_loader *loader, const yaml_node_t *value)
{
    const char *name = value->tag ? (const char *)value->tag : "";
    if (strncmp(name, "tag:yaml.org,2002:", 18) == 0) /* the tag !!name */
        name += 18;
    bool is_object = value->type == YAML_MAPPING_NODE;
    if (is_object && strcmp(name, "map") == 0) {
        name = "";
        for (yaml_node_pair_t *pair = value->data.mapping.pairs.start; pair < value->data.mapping.pairs.top; pair++) {
            const char *key = rli_yaml_text(yaml_document_get_node(&loader->document, pair->key));
            const char *text = rli_yaml_text(yaml_document_get_node(&loader->document, pair->value));
            if (key && text && strcmp(key, "class") == 0)
                name = text;
        }
    }
    if (!is_object && (strcmp(name, "str") == 0 || strcmp(name, "seq") == 0))
        name = "";
    name += *name == '!';
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Sets values[i] to the value of the property names[i], or NULL. False: the object has other properties, too. */
static bool read_properties(rli_yaml_loader *loader, const yaml_node_t *object, const char *const *names, size_t count,
                            yaml_node_t **values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = NULL;
    if (object->type != YAML_MAPPING_NODE)
        return rli_yaml_text(object) && !*rli_yaml_text(object); /* a tag without a value */
    bool only = true;
    for (yaml_node_pair_t *pair = object->data.mapping.pairs.start; pair < object->data.mapping.pairs.top; pair++) {
        const char *key = rli_yaml_text(yaml_document_get_node(&loader->document, pair->key));
        bool known = key && strcmp(key, "class") == 0;
        for (size_t i = 0; key && i < count; i++) {
            if (strcmp(key, names[i]) == 0) {
                values[i] = yaml_document_get_node(&loader->document, pair->value);
                known = true;
            }
        }
        only = only && known;
    }
    return only;
}

static rlock_status read_duration(const rli_yaml_loader *loader, const yaml_node_t *value, const char *name,
                                  int64_t *ms)
{
    const rli_field *base = rli_field_find("retryBaseDelay");
    const char *text = rli_yaml_text(value);
    if (!text || !rli_duration_read(text, ms) || *ms > base->highest)
        return rli_yaml_fail(loader, value, RLOCK_INVALID,
                             "retryDelay's %s is \"%.40s\"; it must be a duration of at most "
                             "a day, such as PT1S or PT0.5S",
                             name, text ? text : "");
    return RLOCK_OK;
}

/* Reads the delays of a strategy of that class into *base and *most, which have the defaults of Redisson's classes. */
static rlock_status read_delays(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value,
                                bool constant, int64_t *base, int64_t *most)
{
    static const char *const of_jitter[] = {"baseDelay", "maxDelay"}, *const of_constant[] = {"delay"};
    yaml_node_t *values[2] = {NULL, NULL};
    if (!read_properties(loader, value, constant ? of_constant : of_jitter, constant ? 1 : 2, values))
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s: a %s has %s", key->name, class_of(loader, value),
                             constant ? "only delay" : "only baseDelay and maxDelay");
    if (!constant && !values[0] != !values[1])
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s has only one of baseDelay and maxDelay", key->name);
    rlock_status status = RLOCK_OK;
    if (values[0])
        status = read_duration(loader, values[0], constant ? "delay" : "baseDelay", base);
    if (status == RLOCK_OK && constant)
        *most = *base;
    else if (status == RLOCK_OK && values[1])
        status = read_duration(loader, values[1], "maxDelay", most);
    return status;
}

/* All of Redisson's strategies become equal jitter within their bounds: base delay and maximum. */
rlock_status rli_yaml_use_delay(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    static const char *const jitters[] = {"EqualJitterDelay", "FullJitterDelay", "DecorrelatedJitterDelay"};
    const char *class = class_of(loader, value);
    bool constant = strcmp(class, "ConstantDelay") == 0, jitter = false;
    for (size_t i = 0; i < sizeof jitters / sizeof *jitters; i++)
        jitter = jitter || strcmp(class, jitters[i]) == 0;
    if (!constant && !jitter)
        return rli_yaml_fail(loader, value, *class ? RLOCK_UNSUPPORTED : RLOCK_INVALID,
                             "%s must be one of Redisson's own "
                             "strategies, such as !<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S, maxDelay: "
                             "PT2S}",
                             key->name);
    int64_t base = 100, most = constant ? 100 : 1000; /* the defaults of Redisson's classes */
    rlock_status status = read_delays(loader, key, value, constant, &base, &most);
    if (status != RLOCK_OK)
        return status;
    loader->draft.retry_base_delay_ms = base;
    loader->draft.retry_max_delay_ms = most;
    loader->delay_given = true;
    return RLOCK_OK;
}

/* Redisson itself has no mapper that adds a prefix, but its users write such classes. */
rlock_status rli_yaml_use_prefix(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    static const char *const names[] = {"prefix"};
    const char *class = class_of(loader, value);
    yaml_node_t *prefix;
    if (strcmp(class, "DefaultNameMapper") == 0)
        return RLOCK_OK;
    if (loader->given_prefix)
        return RLOCK_OK;
    bool only = read_properties(loader, value, names, 1, &prefix);
    if (!strstr(class, "Prefix") || !only || !prefix || !rli_yaml_text(prefix))
        return rli_yaml_fail(loader, value, RLOCK_UNSUPPORTED,
                             "%s is the Java class \"%.60s\", which cannot run here; "
                             "locks would have other names than in Java. If it puts a prefix before names, write it as "
                             "!<your.PrefixNameMapper> {prefix: \"…\"}, or set config->name_prefix before loading",
                             key->name, class);
    const char *text = rli_yaml_text(prefix), *copy = rli_owned_text(loader->owned, text, strlen(text));
    if (!copy)
        return RLOCK_NO_MEMORY;
    loader->draft.name_prefix = copy;
    return RLOCK_OK;
}

static bool is_empty(const yaml_node_t *value)
{
    return value->type == YAML_MAPPING_NODE && value->data.mapping.pairs.start == value->data.mapping.pairs.top &&
           value->tag && strcmp((const char *)value->tag, YAML_MAP_TAG) == 0;
}

/* Writes a host, or a host and port, in natMap's format. Returns what is wrong with it, or NULL. */
static const char *write_place(FILE *to, const char *text, bool with_port)
{
    rli_host_port place = {.host = text, .length = strlen(text)};
    const char *why = with_port ? rli_host_port_split(&place, text, strlen(text)) : NULL, *colon = strchr(text, ':');
    if (strpbrk(text, ",= \t\r\n"))
        return "has a comma, = or white space";
    if (why)
        return why;
    if (!with_port && *text != '[' && colon && !strchr(colon + 1, ':'))
        return "has a port; HostPortNatMapper takes host:port";
    bool v6 = *place.host != '[' && memchr(place.host, ':', place.length);
    fprintf(to, v6 ? "[%.*s]" : "%.*s", (int)place.length, place.host);
    if (place.port)
        fprintf(to, ":%d", place.port);
    return NULL;
}

static rlock_status write_places(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *map,
                                 bool with_port, FILE *to)
{
    for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
        const yaml_node_t *sides[] = {yaml_document_get_node(&loader->document, pair->key),
                                      yaml_document_get_node(&loader->document, pair->value)};
        for (int side = 0; side < 2; side++) {
            const char *text = rli_yaml_text(sides[side]);
            fputs(side ? "=" : pair == map->data.mapping.pairs.start ? "" : ",", to);
            const char *why = text ? write_place(to, text, with_port) : "is not text";
            if (why)
                return rli_yaml_fail(loader, sides[side], RLOCK_INVALID, "%s has \"%.60s\", which %s", key->name,
                                     text ? text : "", why);
        }
    }
    return RLOCK_OK;
}

/* Sets nat_map from the pairs of `map`. */
static rlock_status take_places(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *map,
                                bool with_port)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
    rlock_status status = write_places(loader, key, map, with_port, to);
    if (fclose(to) != 0 && status == RLOCK_OK)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for the config");
    rli_nat nat;
    if (status == RLOCK_OK && (status = rli_nat_read(&nat, text)) == RLOCK_INVALID)
        status = rli_yaml_fail_again(loader, map, status);
    if (status == RLOCK_OK) {
        rli_nat_free(&nat);
        const char *copy = rli_owned_text(loader->owned, text, length);
        status = copy ? RLOCK_OK : RLOCK_NO_MEMORY;
        loader->draft.nat_map = copy;
    }
    free(text);
    return status;
}

/* Handles Redisson's two mappers, and natMap, which is older than they are and works as HostPortNatMapper. */
rlock_status rli_yaml_use_nat(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    static const char *const of_places[] = {"hostsPortMap"}, *const of_hosts[] = {"hostsMap"};
    const char *class = class_of(loader, value);
    bool bare = strcmp(key->name, "natMap") == 0, with_port = bare || strcmp(class, "HostPortNatMapper") == 0;
    yaml_node_t *map = value;
    if (!bare && (strcmp(class, "DefaultNatMapper") == 0 || is_empty(value)))
        return RLOCK_OK;
    if (!with_port && strcmp(class, "HostNatMapper") != 0) {
        if (loader->draft.nat_map)
            return RLOCK_OK;
        return rli_yaml_warn(loader, rli_yaml_line(value),
                             "%s is the Java class \"%.60s\", which this library cannot follow; "
                             "write it as a HostPortNatMapper or HostNatMapper, or set config->nat_map before loading",
                             key->name, class);
    }
    bool only = bare || read_properties(loader, value, with_port ? of_places : of_hosts, 1, &map);
    if (!only || !map || map->type != YAML_MAPPING_NODE)
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be %s", key->name,
                             bare ? "{\"10.0.0.1:7000\": \"127.0.0.1:7001\"}"
                             : with_port
                                 ? "!<org.redisson.config.HostPortNatMapper> {hostsPortMap: {\"10.0.0.1:7000\": "
                                   "\"127.0.0.1:7001\"}}"
                                 : "!<org.redisson.config.HostNatMapper> {hostsMap: {\"10.0.0.1\": \"127.0.0.1\"}}");
    return take_places(loader, key, map, with_port);
}

/* Properties, such as a charset, may change what a codec writes. */
rlock_status rli_yaml_use_codec(rli_yaml_loader *loader, yaml_node_t *value)
{
    static const char *const of_text[] = {"StringCodec", "LongCodec", "IntegerCodec", "DoubleCodec"};
    const char *class = class_of(loader, value);
    bool plain = read_properties(loader, value, NULL, 0, NULL), text = false;
    for (size_t i = 0; i < sizeof of_text / sizeof *of_text; i++)
        text = text || strcmp(class, of_text[i]) == 0;
    bool kryo5 = strcmp(class, "Kryo5Codec") == 0;
    loader->draft.codec = plain && text    ? RLOCK_CONFIG_CODEC_STRING
                          : plain && kryo5 ? RLOCK_CONFIG_CODEC_KRYO5
                                           : RLOCK_CONFIG_CODEC_OTHER;
    return RLOCK_OK;
}

rlock_status rli_yaml_use_java(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    const char *class = class_of(loader, value);
    if (strncmp(class, "Default", 7) == 0 || is_empty(value))
        return RLOCK_OK;
    if (key->use == RLI_USE_JAVA_NEEDED)
        return rli_yaml_fail(loader, value, RLOCK_UNSUPPORTED,
                             "%s is the Java class \"%.60s\", which cannot run here; only "
                             "servers without renamed commands can be used",
                             key->name, class);
    return rli_yaml_warn(loader, rli_yaml_line(value), "%s is %s%.60s%s, which this library cannot follow", key->name,
                         *class ? "the Java class \"" : "an object", class, *class ? "\"" : "");
}
