/* The processes of holders and waiters, read from what CLIENT LIST answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect/processes.h"

#include "error.h"
#include "redis/connection_name.h"

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

/* The client's part of "<client id>:<number>", or with ":write" behind it. */
static bool is_of(const char *owner, const char *client, size_t length)
{
    return strncmp(owner, client, length) == 0 && owner[length] == ':';
}

static bool is_asked_for(const rlock_inspection *inspection, const rli_connection_name *name)
{
    for (size_t i = 0; i < inspection->process_count; i++) {
        const char *known = inspection->processes[i]->client;
        if (strlen(known) == name->client_length && memcmp(known, name->client, name->client_length) == 0)
            return false; /* another connection of the same */
    }
    for (size_t i = 0; i < inspection->holder_count; i++) {
        if (is_of(inspection->holders[i].owner, name->client, name->client_length))
            return true;
    }
    for (size_t i = 0; i < inspection->waiter_count; i++) {
        if (is_of(inspection->waiters[i].owner, name->client, name->client_length))
            return true;
    }
    return false;
}

/* The text behind ` word=` in a line, up to the next space; NULL: there is none. */
static const char *field(const char *line, const char *end, const char *word, size_t *length)
{
    size_t word_length = strlen(word);
    for (const char *at = line; at && (size_t)(end - at) > word_length; at = memchr(at + 1, ' ', (size_t)(end - at - 1))) {
        if (memcmp(at, word, word_length) == 0) {
            const char *value = at + word_length, *space = memchr(value, ' ', (size_t)(end - value));
            *length = (size_t)((space ? space : end) - value);
            return value;
        }
    }
    return NULL;
}

static rlock_status add(rlock_inspection *inspection, const rli_connection_name *name, const char *address, size_t length)
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

rlock_status rli_processes_read(rlock_inspection *inspection, const char *list)
{
    rlock_status status = RLOCK_OK;
    for (const char *line = list, *end; status == RLOCK_OK && *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        size_t name_length, address_length;
        const char *name = field(line, end, " name=", &name_length), *address = field(line, end, " addr=", &address_length);
        rli_connection_name parts;
        if (name && address && rli_connection_name_read(&parts, name, name_length) && is_asked_for(inspection, &parts))
            status = add(inspection, &parts, address, address_length);
    }
    return status;
}

const rlock_process *rlock_inspection_process(const rlock_inspection *inspection, const char *owner)
{
    for (size_t i = 0; inspection && owner && i < inspection->process_count; i++) {
        const rlock_process *process = inspection->processes[i];
        if (is_of(owner, process->client, strlen(process->client)))
            return process;
    }
    return NULL;
}
