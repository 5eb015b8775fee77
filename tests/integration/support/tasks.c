/* Tasks: the threads of this process, by the names the kernel knows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/tasks.h"

#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const char *tid, const char *prefix)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    return read && strncmp(name, prefix, strlen(prefix)) == 0;
}

int tasks_named(const char *prefix)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    if (!tasks)
        return -1;
    for (struct dirent *task; (task = readdir(tasks));)
        count += *task->d_name != '.' && is_named(task->d_name, prefix);
    closedir(tasks);
    return count;
}

bool task_sleeps(pid_t tid, long *times)
{
    char path[64], line[128], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "State: %c", &state);
        sscanf(line, "voluntary_ctxt_switches: %ld", times);
    }
    fclose(file);
    return state == 'S';
}

bool tasks_others_sleep(void)
{
    DIR *tasks = opendir("/proc/self/task");
    cr_assert(tasks != NULL, "/proc/self/task: %s", strerror(errno));
    bool asleep = true;
    for (struct dirent *task; asleep && (task = readdir(tasks));) {
        char path[300], line[512] = "";
        if (task->d_name[0] == '.' || atoi(task->d_name) == gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *stat = fopen(path, "r"); /* NULL: it has ended */
        const char *state = stat && fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
        asleep = !state || state[2] == 'S';
        if (stat)
            fclose(stat);
    }
    closedir(tasks);
    return asleep;
}
