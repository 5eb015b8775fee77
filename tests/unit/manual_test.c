/* The manual: a page for each function, without mistakes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"
#include "tests/support/test.h"
#include "tests/unit/support/installed.h"

#include <stdlib.h>
#include <string.h>

TestSuite(manual, .fini = scratch_remove);

Test(manual, has_a_page_for_each_function)
{
    install();
    char *missing = shell("cd '%s/prefix' && cat include/rlock/*.h | tr -d '\\n' | grep -o 'RLOCK_API [^;]*;' |\n"
                          "    sed 's/.*[ *]\\(rlock_[a-z_]*\\)(.*/\\1/' | sort -u >../declared\n"
                          "test -s ../declared && while read -r name; do\n"
                          "    [ -f share/man/man3/$name.3 ] || echo $name\n"
                          "done <../declared", scratch_folder());
    cr_assert(*missing == 0, "without a page:\n%s", missing);
    free(missing);
}

/* What the header says of a function is on its page, with its statuses in a list. */
Test(manual, page_says_what_the_header_says)
{
    install();
    char *page = shell("cat '%s/prefix/share/man/man3/rlock_try_lock.3'", scratch_folder());
    cr_assert(strstr(page, "\n.Fa \"int64_t wait_ms\"\n") && strstr(page, "Acquires the lock; waits for up to wait_ms") &&
                  strstr(page, "\n.It \"RLOCK_ALREADY_HELD\"\n"),
              "%s", page);
    free(page);
}

Test(manual, has_no_mistakes)
{
    if (system("command -v mandoc >/dev/null") != 0)
        cr_skip_test("no mandoc here");
    install();
    char *mistakes = shell("cd '%s/prefix/share/man' && mandoc -T lint -W warning man1/*.1 man3/*.3", scratch_folder());
    cr_assert(*mistakes == 0, "%s", mistakes);
    free(mistakes);
}
