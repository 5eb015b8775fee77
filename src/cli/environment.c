/* Environment of the command: rlock's own environment, and the fencing token. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOKEN      "RLOCK_TOKEN=%" PRIu64
#define TOKEN_SIZE sizeof "RLOCK_TOKEN=18446744073709551615"

/* Allocates one block: the pointers, followed by the text of the token. */
char **environment_with_token(const uint64_t *token)
{
    size_t count = 0;
    while (environ[count])
        count++;
    size_t pointers = (count + 2) * sizeof(char *);
    char **environment = malloc(pointers + TOKEN_SIZE);
    if (!environment)
        return NULL;
    memcpy(environment, environ, count * sizeof(char *));
    if (token) {
        char *text = (char *)environment + pointers;
        snprintf(text, TOKEN_SIZE, TOKEN, *token);
        environment[count++] = text;
    }
    environment[count] = NULL;
    return environment;
}

void environment_free(char **environment)
{
    free(environment);
}
