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
    char *missing = shell("cd '%s/prefix' && cat include/rlock/*.h | tr '\\n' ' ' | grep -o 'RLOCK_API [^;]*;' |\n"
                          "    sed 's/.*[ *]\\(rlock_[a-z_]*\\)(.*/\\1/' | sort -u >../declared\n"
                          "test -s ../declared && while read -r name; do\n"
                          "    [ -f share/man/man3/$name.3 ] || echo $name\n"
                          "done <../declared",
                          scratch_folder());
    cr_assert(*missing == 0, "without a page:\n%s", missing);
    free(missing);
}

/* Programs write the macros, so these are the names that are looked up. */
Test(manual, has_a_page_for_the_macros_with_a_block)
{
    install();
    char *found = shell("cd '%s/prefix/share/man/man3' && readlink RLOCK_WITH.3 RLOCK_WITH_STATUS.3 && ls RLOCK_* &&\n"
                        "grep -h 'RLOCK_WITH$' rlock_with_enter.3",
                        scratch_folder());
    cr_assert_str_eq(found, "rlock_with_enter.3\nrlock_with_enter.3\nRLOCK_WITH.3\nRLOCK_WITH_STATUS.3\n.Fo RLOCK_WITH\n");
    free(found);
}

/* What the header says of a function is on its page, with its statuses in a list. */
Test(manual, page_says_what_the_header_says)
{
    install();
    char *page = shell("cat '%s/prefix/share/man/man3/rlock_try_lock.3'", scratch_folder());
    cr_assert(strstr(page, "\n.Fa \"int64_t wait_ms\"\n") &&
                  strstr(page, "Acquires the lock; waits for up to wait_ms") &&
                  strstr(page, "\n.It \"RLOCK_ALREADY_HELD\"\n"),
              "%s", page);
    free(page);
}

/* What is said for all calls that acquire, such as that RLOCK_OK means "held", is on no other page. */
Test(manual, only_acquiring_calls_have_the_text_on_acquiring)
{
    install();
    char *pages = shell("cd '%s/prefix/share/man/man3' && grep -l '^.Ss For all calls that acquire' *.3 |\n"
                        "    while read -r page; do [ -L $page ] || printf '%%s ' $page; done",
                        scratch_folder());
    cr_assert_str_eq(pages,
                     "rlock_lock.3 rlock_lock_and_get_token.3 rlock_lock_lease.3 rlock_lock_with.3 rlock_try_lock.3 ");
    free(pages);
}

/* Of what a command says in the folder of the pages of section 3, each line is a mistake. */
static void assert_says_nothing(const char *command)
{
    install();
    char *wrong = shell("cd '%s/prefix/share/man/man3' &&\n%s", scratch_folder(), command);
    cr_assert(*wrong == 0, "wrong: %s", wrong);
    free(wrong);
}

/* What is said for all calls of a header is on the pages of those that ask the server, and of no function without a status. */
Test(manual, calls_have_the_text_of_their_group)
{
    assert_says_nothing("grep -L '^.Ss For all calls' rlock_object_exists.3 rlock_semaphore_acquire.3 "
                        "    rlock_permit_semaphore_acquire.3 rlock_semaphore_acquire_async.3 rlock_unlock_async.3;\n"
                        "grep -l '^.Ss For all calls' rlock_semaphore_object.3 rlock_object_set_call_options.3 "
                        "    rlock_get_semaphore.3 rlock_semaphore_free.3 rlock_client_fd.3 || :");
}

/* A line that happens to begin with a word and a colon goes on with its sentence; only at the end of one, an item begins. */
Test(manual, items_begin_after_a_sentence)
{
    assert_says_nothing("awk '/^\\.It \"[*a-z_]+\"$/ && before !~ /[.:;]$|^\\./ "
                        "    { print FILENAME \": \" before \" / \" $0 } !/^\\.Bl/ { before = $0 }' rlock*.3");
}

/* A comment is made for the header; on a page, nothing is above it. */
Test(manual, has_no_words_made_for_headers)
{
    assert_says_nothing("grep -nE '`|given above|comments above|"
                        "calls below|^- |next [a-z]+ calls' rlock*.3 || :");
}

/* And is named for each that it shows: apropos(1) finds it by these names. rlock.3 shows some of many. */
Test(manual, page_shows_each_function_that_it_is_named_for)
{
    assert_says_nothing("for page in rlock*.3; do\n"
                        "    [ -L $page ] || [ $page = rlock.3 ] || awk '\n"
                        "        /^\\.Sh / { part = $2 }\n"
                        "        part == \"NAME\" && /^\\.Nm / { named[$2] = 1 }\n"
                        "        part == \"SYNOPSIS\" && /^\\.F[no] / { shown[$2] = 1; if (!named[$2]) print FILENAME \": \" $2 }\n"
                        "        END { for (name in named) if (!shown[name]) print FILENAME \" does not show \" name }' $page\n"
                        "done");
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
