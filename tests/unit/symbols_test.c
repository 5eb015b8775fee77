/* The shared library: what it shows to the program it is loaded into, and what it needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(symbols, .fini = scratch_remove);

static const char *path_of(const char *file)
{
    static char path[4200];
    const char *folder = getenv("B");
    snprintf(path, sizeof path, "%s/%s", folder && *folder ? folder : "build", file);
    return path;
}

static const char *library(void)
{
    return path_of("librlock.so.1");
}

/* Other symbols could take the place of a program's own, or of another library's. */
Test(symbols, only_rlock_names_are_visible)
{
    char *others = shell("nm -D --defined-only '%s' | awk '$3 !~ /^(rlock_|RLOCK_|__odr_asan)/'", library());
    cr_assert(*others == 0, "also visible:\n%s", others);
    free(others);
    others = shell("nm -D --defined-only '%s' | awk '$3 !~ /^(rlock_tls_module$|__odr_asan)/'", path_of("librlock-tls.so.1"));
    cr_assert(*others == 0, "also visible in the TLS module:\n%s", others);
    free(others);
}

Test(symbols, all_that_the_headers_declare_are_there)
{
    char *missing = shell("cd '%s' && nm -D --defined-only '%s' | sed 's/.* //; s/@.*//' | sort -u >there\n"
                          "cat \"$OLDPWD\"/include/rlock/*.h | tr '\\n' ' ' | grep -o 'RLOCK_API [^;]*;' |\n"
                          "    sed 's/.*[ *]\\(rlock_[a-z_]*\\)(.*/\\1/' | sort -u >declared\n"
                          "test -s declared && comm -13 there declared",
                          scratch_folder(), library());
    cr_assert(*missing == 0, "declared, but not in the library:\n%s", missing);
    free(missing);
}

/* A program that needs a function of a later version then says so when it is started with an earlier one. */
Test(symbols, each_function_has_the_version_in_which_it_came)
{
    char *bare = shell("nm -D --defined-only '%s' | awk '$2 == \"T\" && $3 !~ /^rlock_[a-z_]*@@RLOCK_[0-9.]*$/'", library());
    const char *sanitizer = getenv("SAN");
    cr_assert(*bare == 0 || (sanitizer && *sanitizer), "without a version:\n%s", bare);
    free(bare);
}

/* A thread of it may still run its last lines when the program unloads it. */
Test(symbols, library_and_its_module_are_named_by_their_major_version_and_stay_loaded)
{
    static const char *const files[] = {"librlock.so.1", "librlock-tls.so.1"};
    for (int i = 0; i < 2; i++) {
        char name[64], *dynamic = shell("readelf -dW '%s'", path_of(files[i]));
        snprintf(name, sizeof name, "[%s]", files[i]);
        cr_assert(strstr(dynamic, name) != NULL, "no SONAME %s:\n%s", files[i], dynamic);
        cr_assert(strstr(dynamic, "NODELETE") != NULL, "not linked with -z nodelete:\n%s", dynamic);
        free(dynamic);
    }
}

/* To load it takes as long as all else until a first lock. */
Test(symbols, library_needs_no_openssl)
{
    char *needed = shell("readelf -dW '%s' | grep NEEDED", library());
    cr_assert(!strstr(needed, "libssl") && !strstr(needed, "libcrypto"), "%s", needed);
    free(needed);
}
