/* Rights: what docs/security.md tells to allow a user, taken from that page as it stands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/rights.h"

#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/security.md"

/* To be freed. */
static char *find(const char *begin)
{
    static char page[65536];
    FILE *file = fopen(PAGE, "re");
    cr_assert(file != NULL, "no " PAGE " here");
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    char *at = strstr(page, begin), *end = at ? strstr(at, "\n```") : NULL;
    cr_assert(at && end, PAGE " has no \"%s\"", begin);
    return strndup(at, (size_t)(end - at));
}

static void run(const server *at, const char *command)
{
    char *said = shell("redis-cli -s '%s'%s", server_socket(at), strstr(command, " ACL SETUSER"));
    cr_assert(strcmp(said, "OK\n") == 0, "%s: %s", command, said);
    free(said);
}

void rights_give(server *to, const char *rights)
{
    char *command = find(rights);
    run(to, command);
    free(command);
}

bool rights_give_without(server *to, const char *rights, int n, char left_out[64])
{
    char *command = find(rights), *at = strpbrk(command, "~&");
    for (int i = 0; at && i < n; i++)
        at = strpbrk(at + 1, "~&");
    if (at) {
        int length = (int)strcspn(at, "'");
        snprintf(left_out, 64, "%.*s", length, at);
        memset(at - 1, ' ', (size_t)length + 2); /* with its quotes */
        run(to, command);
    }
    free(command);
    return at;
}

char *rights_to_commands(const char *rights)
{
    char *command = find(rights), *words = calloc(1, strlen(command) + 3), *at = command, *word;
    cr_assert(words != NULL);
    strcpy(words, " ");
    while ((word = strtok_r(at, " '\\\n", &at))) {
        if (*word == '+')
            strcat(strcat(words, word), " ");
    }
    free(command);
    return words;
}

void assert_nothing_refused(server *by)
{
    redisReply *log = server_command(by, "ACL LOG");
    cr_assert(log->type == REDIS_REPLY_ARRAY);
    if (log->elements) {
        redisReply *last = log->element[0];
        cr_assert_fail("refused: %s %s: %s", last->element[3]->str, last->element[5]->str, last->element[7]->str);
    }
    freeReplyObject(log);
}
