/* The machine that the figures are made on, and the version of what they are made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int machine_cores(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void machine_cpu(char text[256])
{
    char line[512];
    FILE *info = fopen("/proc/cpuinfo", "re");
    *text = '\0';
    while (info && !*text && fgets(line, sizeof line, info))
        sscanf(line, "model name : %255[^\n]", text);
    if (info)
        fclose(info);
}

/* With a + when there is more than was committed. */
void machine_commit(char text[256])
{
    FILE *git = popen("git describe --always --exclude='*' --dirty=+ 2>/dev/null", "re");
    if (!git || !fgets(text, 256, git))
        *text = '\0';
    if (git)
        pclose(git);
    text[strcspn(text, "\n")] = '\0';
}
