/* The inventory: the migration guide names every method of Redisson's lock API, and only calls that there are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <unistd.h>

TestSuite(inventory, .fini = scratch_remove);

#define GUIDE "docs/migrating-from-redisson.md"
/* The rows of its inventory. */
#define ROWS "sed -n '/^## All methods/,$p' " GUIDE " | grep '^| `[A-Za-z$]*\\.'"

/* The folder of Redisson's jar and of all that it needs. */
static const char *jars(void)
{
    static char path[4200];
    const char *build = getenv("RLOCK_BUILD");
    snprintf(path, sizeof path, "%s/agent/lib", build ? build : "build");
    if (access(path, R_OK) != 0 && getenv("CI"))
        cr_assert_fail("no jars in %s", path);
    if (access(path, R_OK) != 0)
        cr_skip_test("no jars in %s", path);
    return path;
}

/* What a newer Redisson adds has no row yet; what it has dropped has one too many. */
Test(inventory, guide_has_a_row_for_every_method_of_the_jar_and_no_other)
{
    char *missing = shell("sh tests/interop/inventory/methods.sh '%s' | sort -u >'%s/there'\n"
                          ROWS " | cut -d'|' -f2 | grep -o '`[^`]*`' | tr -d '`' >'%s/rows'\n"
                          "sort '%s/rows' | uniq -d | sed 's/^/twice in the guide: /'\n"
                          "sort -u '%s/rows' >'%s/named'\n"
                          "test \"$(wc -l <'%s/there')\" -gt 200\n"
                          "comm -23 '%s/there' '%s/named' | sed 's/^/not in the guide: /'\n"
                          "comm -13 '%s/there' '%s/named' | sed 's/^/not in the jar: /'",
                          jars(), scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder(),
                          scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder(),
                          scratch_folder());
    cr_assert(*missing == 0, "%s", missing);
    free(missing);
}

/* A row names a call, or says why there is none. */
Test(inventory, guide_names_calls_that_there_are)
{
    char *wrong = shell(ROWS " | grep -o 'rlock_[a-z_]*\\|RLOCK_[A-Z_]*' | sort -u | "
                        "while read -r name; do\n"
                        "    grep -qw \"$name\" include/rlock/*.h || echo \"$name\"\n"
                        "done");
    cr_assert(*wrong == 0, "in the guide, but in no header:\n%s", wrong);
    free(wrong);
    wrong = shell(ROWS " | grep '| – |  *|$' || :");
    cr_assert(*wrong == 0, "without a reason:\n%s", wrong);
    free(wrong);
}
