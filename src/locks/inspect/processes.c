/* Processes: finds the processes of holders and waiters in the answer of CLIENT LIST. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/inspect/processes.h"

#include "base/error.h"
#include "config/connection_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void free_one(rlock_process *process)
{
    if (!process)
        return;
    free(process->client);
    free(process->host);
    free(process->address);
    free(process);
}

void rli_processes_free(rlock_inspection *inspection)
{
    for (size_t i = 0; i < inspection->process_count; i++)
        free_one(inspection->processes[i]);
    free(inspection->processes);
}

/* --- the clients to find, sorted, since there may be as many as waiters, and as many connections to search --- */

typedef struct wanted {
    const char *client; /* in the owner's text, up to its first colon */
    size_t length;
    bool found;
} wanted;

static int compare(const void *a, const void *b)
{
    const wanted *one = a, *other = b;
    size_t length = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->client, other->client, length);
    return order ? order : (one->length > other->length) - (one->length < other->length);
}

static wanted client_of(const char *owner)
{
    return (wanted){.client = owner, .length = strcspn(owner, ":")};
}

typedef struct clients {
    wanted *all;
    size_t count;
} clients;

static wanted *find(const clients *asked, const char *client, size_t length)
{
    const wanted key = {.client = client, .length = length};
    return asked->count ? bsearch(&key, asked->all, asked->count, sizeof key, compare) : NULL;
}

/* Collects the clients of all holders and waiters. Clients whose process is known already are marked as
 * found. False: out of memory. */
static bool collect(clients *asked, const rlock_inspection *inspection)
{
    size_t owners = inspection->holder_count + inspection->waiter_count;
    *asked = (clients){.all = calloc(owners + 1, sizeof *asked->all)};
    if (!asked->all)
        return false;
    for (size_t i = 0; i < inspection->holder_count; i++)
        asked->all[i] = client_of(inspection->holders[i].owner);
    for (size_t i = 0; i < inspection->waiter_count; i++)
        asked->all[inspection->holder_count + i] = client_of(inspection->waiters[i].owner);
    qsort(asked->all, owners, sizeof *asked->all, compare);
    for (size_t i = 0; i < owners; i++) {
        if (asked->count == 0 || compare(&asked->all[asked->count - 1], &asked->all[i]) != 0)
            asked->all[asked->count++] = asked->all[i];
    }
    for (size_t i = 0; i < inspection->process_count; i++) {
        wanted *known = find(asked, inspection->processes[i]->client, strlen(inspection->processes[i]->client));
        if (known)
            known->found = true;
    }
    return true;
}

/* --- the connections --- */

/* The text after `word` (for example " name=") in a line, up to the next space; NULL: there is none. */
static const char *field(const char *line, const char *end, const char *word, size_t *length)
{
    size_t word_length = strlen(word);
    for (const char *at = line; at && (size_t)(end - at) > word_length;
         at = memchr(at + 1, ' ', (size_t)(end - at - 1))) {
        if (memcmp(at, word, word_length) == 0) {
            const char *value = at + word_length, *space = memchr(value, ' ', (size_t)(end - value));
            *length = (size_t)((space ? space : end) - value);
            return value;
        }
    }
    return NULL;
}

static rlock_status add(rlock_inspection *inspection, const rli_connection_name *name, const char *address,
                        size_t length)
{
    rlock_process **more = realloc(inspection->processes, (inspection->process_count + 1) * sizeof *more);
    rlock_process *process = more ? calloc(1, sizeof *process) : NULL;
    if (more)
        inspection->processes = more;
    if (process) {
        process->client = strndup(name->client, name->client_length);
        process->host = strndup(name->host, name->host_length);
        process->address = strndup(address, length);
        process->pid = name->pid;
    }
    if (!process || !process->client || !process->host || !process->address) {
        free_one(process);
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for an inspection");
    }
    inspection->processes[inspection->process_count++] = process;
    return RLOCK_OK;
}

/* Reads one connection, and adds its process if it is the first connection of a wanted client. */
static rlock_status read_line(rlock_inspection *inspection, const clients *asked, const char *line, const char *end)
{
    size_t name_length, address_length;
    const char *name = field(line, end, " name=", &name_length), *address = field(line, end, " addr=", &address_length);
    rli_connection_name parts;
    if (!name || !address || !rli_connection_name_read(&parts, name, name_length))
        return RLOCK_OK;
    wanted *client = find(asked, parts.client, parts.client_length);
    if (!client || client->found)
        return RLOCK_OK;
    client->found = true;
    return add(inspection, &parts, address, address_length);
}

static int compare_processes(const void *a, const void *b)
{
    const rlock_process *const *one = a, *const *other = b;
    return strcmp((*one)->client, (*other)->client);
}

rlock_status rli_processes_read(rlock_inspection *inspection, const char *list)
{
    clients asked;
    if (!collect(&asked, inspection))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for an inspection");
    rlock_status status = RLOCK_OK;
    for (const char *line = list, *end; status == RLOCK_OK && *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        status = read_line(inspection, &asked, line, end);
    }
    if (inspection->process_count)
        qsort(inspection->processes, inspection->process_count, sizeof *inspection->processes, compare_processes);
    free(asked.all);
    return status;
}

static int compare_owner(const void *key, const void *item)
{
    const char *owner = key, *client = (*(rlock_process *const *)item)->client;
    size_t length = strcspn(owner, ":");
    int order = strncmp(owner, client, length);
    return order ? order : client[length] ? -1 : 0;
}

const rlock_process *rlock_inspection_process(const rlock_inspection *inspection, const char *owner)
{
    if (!inspection || !inspection->process_count || !owner || !strchr(owner, ':'))
        return NULL;
    rlock_process **found = bsearch(owner, inspection->processes, inspection->process_count,
                                    sizeof *inspection->processes, compare_owner);
    return found ? *found : NULL;
}
