/* The shared library: what it shows to the program it is loaded into, and what it needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(symbols, .fini = scratch_remove, .timeout = 60);

static const char *library(void)
{
    static char path[4200];
    const char *folder = getenv("B");
    snprintf(path, sizeof path, "%s/librlock.so.1", folder && *folder ? folder : "build");
    return path;
}

/* Other symbols could take the place of a program's own, or of another library's. */
Test(symbols, only_rlock_names_are_visible)
{
    char *others = shell("nm -D --defined-only '%s' | awk '$3 !~ /^(rlock_|__odr_asan)/'", library());
    cr_assert(*others == 0, "also visible:\n%s", others);
    free(others);
}

Test(symbols, all_that_the_headers_declare_are_there)
{
    char *missing = shell("cd '%s' && nm -D --defined-only '%s' | awk '{print $3}' | sort >there\n"
                          "cat \"$OLDPWD\"/include/rlock/*.h | tr -d '\\n' | grep -o 'RLOCK_API [^;]*;' |\n"
                          "    sed 's/.*[ *]\\(rlock_[a-z_]*\\)(.*/\\1/' | sort -u >declared\n"
                          "test -s declared && comm -13 there declared",
                          scratch_folder(), library());
    cr_assert(*missing == 0, "declared, but not in the library:\n%s", missing);
    free(missing);
}

/* A thread of it may still run its last lines when the program unloads it. */
Test(symbols, library_is_named_by_its_major_version_and_stays_loaded)
{
    char *dynamic = shell("readelf -dW '%s'", library());
    cr_assert(strstr(dynamic, "[librlock.so.1]") != NULL, "no SONAME librlock.so.1:\n%s", dynamic);
    cr_assert(strstr(dynamic, "NODELETE") != NULL, "not linked with -z nodelete:\n%s", dynamic);
    free(dynamic);
}
