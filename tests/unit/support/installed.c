/* Running make from a test, to install in the test's folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/support/installed.h"

#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* As make takes it: the path of the tree may have spaces, which one to the build folder must not. */
static const char *build_folder(void)
{
    const char *folder = environment("B", "build");
    char here[4096];
    cr_assert(getcwd(here, sizeof here) != NULL);
    size_t length = strlen(here);
    return strncmp(folder, here, length) == 0 && folder[length] == '/' ? folder + length + 1 : folder;
}

static char *run_make(const char *format, va_list args)
{
    char *words = NULL;
    cr_assert(vasprintf(&words, format, args) >= 0);
    char *said = shell("%s --no-print-directory B='%s' SAN='%s' CC='%s' %s", environment("MAKE", "make"),
                       build_folder(), environment("SAN", ""), environment("CC", "cc"), words);
    free(words);
    return said;
}

char *make_says(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *said = run_make(format, args);
    va_end(args);
    return said;
}

void make_do(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(run_make(format, args));
    va_end(args);
}

void install(void)
{
    make_do("install PREFIX='%s/prefix'", scratch_folder());
}
