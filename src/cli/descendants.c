/* Descendants: the processes that the command has started, found in /proc. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- a process --- */

/* A process group would not do: the command must stay in rlock's group because of the terminal, and that group may
 * have other processes. */
typedef struct cli_process {
    pid_t pid, parent;
    unsigned long long since; /* when it began, in ticks */
    bool ours;
} cli_process;

/* Reads the second field and the 20th after the name from /proc/<pid>/stat. The name is in parentheses and may contain
 * any character. */
static bool read_process(cli_process *self, pid_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    line[fread(line, 1, sizeof line - 1, file)] = 0;
    fclose(file);
    const char *behind_name = strrchr(line, ')');
    long parent;
    *self = (cli_process){.pid = pid};
    if (!behind_name ||
        sscanf(behind_name + 1, " %*c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &parent, &self->since) < 1)
        return false;
    self->parent = (pid_t)parent;
    return true;
}

/* --- elders --- */

void elders_note(cli_elders *self)
{
    char path[64];
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &pid) == 1) {
        pid_t *more = realloc(self->pids, (self->count + 1) * sizeof *more);
        if (!more)
            break;
        self->pids = more;
        self->pids[self->count++] = (pid_t)pid;
    }
    if (file)
        fclose(file);
}

void elders_note_command(cli_elders *self, pid_t command)
{
    cli_process found;
    self->since = read_process(&found, command) ? found.since : 0;
}

static size_t place_of(const cli_elders *self, pid_t pid)
{
    size_t place = 0;
    while (place < self->count && self->pids[place] != pid)
        place++;
    return place;
}

void elders_forget(cli_elders *self, pid_t pid)
{
    size_t place = place_of(self, pid);
    if (place < self->count)
        self->pids[place] = self->pids[--self->count];
}

/* --- all processes --- */

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
        cli_process found;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || !read_process(&found, pid))
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

/* NULL: it is not listed. */
static const cli_process *find(const cli_process *all, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].pid == pid)
            return &all[i];
    }
    return NULL;
}

static bool is_ours(const cli_process *all, size_t count, pid_t pid)
{
    const cli_process *process = find(all, count, pid);
    return process && process->ours;
}

/* Whether it descends from `self`, as far as the rounds before this one have found out. */
static bool is_descendant(const cli_process *all, size_t count, const cli_process *one, pid_t self,
                          const cli_elders *elders)
{
    if (one->since < elders->since)
        return false;
    return one->parent == self ? place_of(elders, one->pid) == elders->count : is_ours(all, count, one->parent);
}

cli_reach descendants_signal(int signal, pid_t child, const cli_elders *elders)
{
    size_t count;
    cli_process *all = list_all(&count);
    pid_t self = getpid();
    cli_reach reach = {.unknown = !find(all, count, self)};
    if (child && !find(all, count, child))
        reach.refused = kill(child, signal) != 0 && errno == EPERM;
    for (bool more = true; more;) { /* each round finds one generation */
        more = false;
        for (size_t i = 0; i < count; i++) {
            if (all[i].ours || !is_descendant(all, count, &all[i], self, elders))
                continue;
            all[i].ours = more = true;
            reach.found++;
            if (kill(all[i].pid, signal) != 0 && errno == EPERM)
                reach.refused = true;
        }
    }
    free(all);
    return reach;
}
