/* Descendants: all processes that descend from this one, found in /proc. A process group would not do: the
 * command must stay in rlock's group because of the terminal, and that group may have other processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct cli_process {
    pid_t pid, parent;
    bool ours;
} cli_process;

/* Reads the parent of `pid` from /proc/<pid>/stat. It is the second field after the name, which is in
 * parentheses and may contain any character. */
static bool read_parent(pid_t pid, pid_t *parent)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    line[fread(line, 1, sizeof line - 1, file)] = 0;
    fclose(file);
    const char *behind_name = strrchr(line, ')');
    long number;
    if (!behind_name || sscanf(behind_name + 1, " %*c %ld", &number) != 1)
        return false;
    *parent = (pid_t)number;
    return true;
}

/* Lists all processes, *count of them; the caller frees the list. */
static cli_process *list_all(size_t *count)
{
    cli_process *all = NULL;
    size_t room = 0;
    *count = 0;
    DIR *directory = opendir("/proc");
    if (!directory)
        return NULL;
    for (struct dirent *entry; (entry = readdir(directory));) {
        cli_process found = {.pid = (pid_t)strtol(entry->d_name, NULL, 10)};
        if (found.pid <= 0 || !read_parent(found.pid, &found.parent))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 256;
            cli_process *more = realloc(all, room * sizeof *all);
            if (!more)
                break;
            all = more;
        }
        all[(*count)++] = found;
    }
    closedir(directory);
    return all;
}

static bool is_listed(const cli_process *all, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].pid == pid)
            return true;
    }
    return false;
}

static bool is_ours(const cli_process *all, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].pid == pid)
            return all[i].ours;
    }
    return false;
}

cli_unreached descendants_signal(int signal, pid_t child)
{
    size_t count;
    cli_process *all = list_all(&count);
    pid_t self = getpid();
    cli_unreached unreached = {.unknown = !is_listed(all, count, self)};
    if (child && !is_listed(all, count, child))
        unreached.refused = kill(child, signal) != 0 && errno == EPERM;
    for (bool more = true; more;) { /* each round finds one generation */
        more = false;
        for (size_t i = 0; i < count; i++) {
            if (all[i].ours || (all[i].parent != self && !is_ours(all, count, all[i].parent)))
                continue;
            all[i].ours = more = true;
            if (kill(all[i].pid, signal) != 0 && errno == EPERM)
                unreached.refused = true;
        }
    }
    free(all);
    return unreached;
}
