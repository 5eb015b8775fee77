/* A script's text as the build embeds it in the library, so that the server gets the same one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/lua.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lua_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL, *line = NULL;
    size_t size = 0, capacity = 0;
    FILE *kept = open_memstream(&text, &size);
    if (!file || !kept) {
        perror(path);
        exit(1);
    }
    const char *between = "";
    while (getline(&line, &capacity, file) > 0) {
        char *start = line + strspn(line, " \t");
        start[strcspn(start, "\n")] = '\0';
        if (*start == '\0' || strncmp(start, "--", 2) == 0)
            continue;
        fprintf(kept, "%s%s", between, start);
        between = "\n";
    }
    free(line);
    fclose(file);
    fclose(kept);
    return text;
}
