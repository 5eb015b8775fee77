/* Tasks: the threads of this process, by the names the kernel knows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/tasks.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
