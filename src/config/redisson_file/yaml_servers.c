/* The server addresses in Redisson's configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redisson_file/redisson_address.h"
#include "config/redisson_file/yaml_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rlock_status no_address(const rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value)
{
    return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be an address such as redis://host:6379", key->name);
}

/* Copies the address into memory of the draft. */
static rlock_status add_server(rli_yaml_loader *loader, const rli_redisson_address *address, rli_yaml_server **server)
{
    rli_yaml_server *one = rli_owned_memory(loader->owned, sizeof *one);
    if (!one || !(one->url = rli_owned_text(loader->owned, address->url, strlen(address->url))))
        return RLOCK_NO_MEMORY;
    memcpy(one->place, address->place, sizeof one->place);
    *server = one;
    return RLOCK_OK;
}

static rlock_status read_server(rli_yaml_loader *loader, const rli_yaml_key *key, const yaml_node_t *value,
                                rli_yaml_server **server)
{
    const char *text = rli_yaml_text(value);
    rli_redisson_address address;
    if (!text)
        return no_address(loader, key, value);
    rlock_status status = rli_redisson_address_read(&address, loader->mode, text);
    if (status != RLOCK_OK) {
        char what[300];
        snprintf(what, sizeof what, "%s", rlock_last_error());
        return rli_yaml_fail(loader, value, status, "%s: %s", key->name, what);
    }
    if (loader->tls_known && loader->tls != address.tls)
        status = rli_yaml_fail(loader, value, RLOCK_INVALID,
                               "%s has an address with TLS beside one without; all must "
                               "begin alike",
                               key->name);
    else if (address.has_path)
        status = rli_yaml_warn(
            loader, rli_yaml_line(value),
            "%s: the text after host and port is ignored, as in Redisson; set the key database instead", key->name);
    if (status == RLOCK_OK)
        status = add_server(loader, &address, server);
    loader->tls = address.tls;
    loader->tls_known = true;
    free(address.url);
    return status;
}

rlock_status rli_yaml_use_address(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    return read_server(loader, key, value, &loader->master);
}

rlock_status rli_yaml_use_addresses(rli_yaml_loader *loader, const rli_yaml_key *key, yaml_node_t *value)
{
    if (value->type != YAML_SEQUENCE_NODE)
        return rli_yaml_fail(loader, value, RLOCK_INVALID, "%s must be a list of addresses, lines that begin with -",
                             key->name);
    loader->servers = NULL; /* if the key is given twice, the last one counts */
    loader->last_server = &loader->servers;
    rlock_status status = RLOCK_OK;
    yaml_node_item_t *end = value->data.sequence.items.top;
    for (yaml_node_item_t *item = value->data.sequence.items.start; status == RLOCK_OK && item < end; item++) {
        rli_yaml_server *server = NULL;
        status = read_server(loader, key, yaml_document_get_node(&loader->document, *item), &server);
        if (status == RLOCK_OK) {
            *loader->last_server = server;
            loader->last_server = &server->next;
        }
    }
    return status;
}

static bool is_before(const rli_yaml_server *list, const rli_yaml_server *server)
{
    for (const rli_yaml_server *one = list; one != server; one = one->next) {
        if (strcmp(one->place, server->place) == 0)
            return true;
    }
    return false;
}

rlock_status rli_yaml_finish_servers(rli_yaml_loader *loader, const char *section, const yaml_node_t *at)
{
    bool master_needed = loader->mode == RLI_SINGLE || loader->mode == RLI_MASTER_SLAVE;
    if (master_needed && !loader->master)
        return rli_yaml_fail_missing(loader, at, "%s has no %s", section,
                                     loader->mode == RLI_SINGLE ? "address" : "masterAddress");
    if (!master_needed && !loader->servers)
        return rli_yaml_fail_missing(loader, at, "%s has no %s", section,
                                     loader->mode == RLI_SENTINEL ? "sentinelAddresses" : "nodeAddresses");
    rli_yaml_server *all = loader->servers;
    if (loader->master) {
        loader->master->next = all;
        all = loader->master;
    }
    size_t count = 0;
    for (const rli_yaml_server *one = all; one; one = one->next)
        count++;
    const char **urls = rli_owned_memory(loader->owned, count * sizeof *urls);
    if (!urls)
        return RLOCK_NO_MEMORY;
    count = 0;
    for (const rli_yaml_server *one = all; one; one = one->next) {
        if (!is_before(all, one)) {
            urls[count++] = one->url;
            continue;
        }
        rlock_status status = rli_yaml_warn(loader, rli_yaml_line(at), "%s has the address %s twice", section,
                                            one->place);
        if (status != RLOCK_OK)
            return status;
    }
    loader->draft.address = NULL;
    loader->draft.addresses = urls;
    loader->draft.address_count = count;
    return RLOCK_OK;
}
