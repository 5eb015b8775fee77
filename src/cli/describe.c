/* Describe: holders of a lock, and remaining times, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/describe.h"

#include "cli/message.h"
#include "cli/output.h"

#include <inttypes.h>
#include <string.h>

/* --- an owner on the server: "<client id>:<number>" --- */

/* The length of the client id; the whole length if the text is not of this form. */
size_t describe_client_length(const char *owner)
{
    const char *colon = strrchr(owner, ':');
    return colon ? (size_t)(colon - owner) : strlen(owner);
}

/* The digits of the number, inside `owner`; NULL: it has none. */
const char *describe_number(const char *owner)
{
    const char *number = owner + describe_client_length(owner);
    number += *number == ':';
    size_t digits = strspn(number, "0123456789");
    return digits && digits < 20 && !number[digits] && (*number != '0' || digits == 1) ? number : NULL;
}

/* Prints "client <id>, number <n>"; what another program has written as `what`: "client <text>", "token <text>". */
static void print_client(FILE *out, const char *owner, const char *what)
{
    const char *number = describe_number(owner);
    size_t length = describe_client_length(owner);
    char client[64];
    fprintf(out, "%s ", number ? "client" : what);
    if (!number || length >= sizeof client) {
        print_shown(out, owner);
        return;
    }
    memcpy(client, owner, length);
    client[length] = 0;
    print_shown(out, client);
    fprintf(out, ", number %s", number);
}

bool describe_is_token(const rlock_inspection *found)
{
    return strcmp(found->kind, "token") == 0 || strcmp(found->kind, "signal") == 0;
}

/* Prints ", for 9.9 s more", followed by `unless`, for example " unless renewed". */
void describe_left(FILE *out, int64_t left_ms, const char *unless)
{
    char shown[DURATION_SHOWN];
    if (left_ms < 0)
        fputs(", without end", out);
    else if (left_ms == 0)
        fputs(", over", out);
    else
        fprintf(out, ", for %s more%s", duration_show(left_ms, shown), unless);
}

/* Prints "client …, number 1 (process 4711 on web-3, 10.0.0.7:51234)", as far as known. */
void describe_owner(FILE *out, const rlock_inspection *found, const char *owner)
{
    const rlock_process *process = rlock_inspection_process(found, owner);
    print_client(out, owner, describe_is_token(found) ? "token" : "client");
    if (!process)
        return;
    fprintf(out, " (process %" PRId64 " on ", process->pid);
    print_shown(out, process->host);
    fputs(", ", out);
    print_shown(out, process->address);
    fputc(')', out);
}

void describe_holder(FILE *out, const rlock_inspection *found, const rlock_holder *holder)
{
    bool reads = holder->side && strcmp(holder->side, "read") == 0;
    int64_t values = found->value_counts ? found->value_counts[holder - found->holders] : 0;
    fputs(!holder->side ? "held by " : reads ? "read by " : "written by ", out);
    describe_owner(out, found, holder->owner);
    fprintf(out, ", count %" PRId64, holder->hold_count);
    if (found->value_counts)
        fprintf(out, ", %" PRId64 " value%s of the group", values, values == 1 ? "" : "s");
    if (reads || found->value_counts)
        describe_left(out, holder->left_ms, " unless renewed");
}
