/* Running a shell command and keeping what it wrote, and a folder to do it in. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"

#include "tests/support/test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char folder[4096];

static char *run(const char *format, va_list args)
{
    char *command = NULL, *all = NULL, *said = NULL;
    size_t size = 0;
    cr_assert(vasprintf(&command, format, args) >= 0);
    cr_assert(asprintf(&all, "{ %s\n} 2>&1 </dev/null", command) >= 0);
    FILE *out = popen(all, "re"), *kept = open_memstream(&said, &size);
    cr_assert(out && kept, "popen: %s", strerror(errno));
    for (int c; (c = getc(out)) != EOF;)
        putc(c, kept);
    fclose(kept);
    int status = pclose(out);
    cr_assert(status == 0, "`%s` ended with status %d: %s", command,
              WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), said);
    free(all);
    free(command);
    return said;
}

char *shell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *said = run(format, args);
    va_end(args);
    return said;
}

void shell_do(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(run(format, args));
    va_end(args);
}

const char *scratch_folder(void)
{
    if (!*folder) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/rlock.XXXXXX", base && *base ? base : "/tmp");
        cr_assert(mkdtemp(folder) != NULL, "%s: %s", folder, strerror(errno));
    }
    return folder;
}

void scratch_remove(void)
{
    if (*folder)
        shell_do("rm -rf '%s'", folder);
    *folder = 0;
}

void scratch_write(const char *name, const char *text)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
    FILE *file = fopen(path, "we");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s: %s", path, strerror(errno));
}
