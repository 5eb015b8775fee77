/* Where make install puts things, and that nothing else is touched, whatever the folders are called. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"
#include "tests/support/test.h"
#include "tests/unit/support/installed.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(install_path, .fini = scratch_remove);

/* As a word of the shell, behind the scratch folder. */
#define ODD "joe smith's \\\"own\\\" & #1\\\\"

/* Before the space stands the name of a folder of somebody else. */
static void make_neighbour(void)
{
    shell_do("cd '%s' && mkdir joe && >joe/keep", scratch_folder());
}

static void assert_neighbour_is_there(void)
{
    shell_do("cd '%s' && [ \"$(ls -A joe)\" = keep ]", scratch_folder());
}

/* Spaces, quotes, and what else the shell, sed or pkg-config would read as something of theirs. */
Test(install_path, prefix_may_have_spaces_and_quotes)
{
    make_neighbour();
    make_do("install PREFIX=\"%s/" ODD "\"", scratch_folder());
    scratch_write("program.c", "#include <rlock/rlock.h>\nint main(void) { return rlock_version() ? 0 : 1; }\n");
    shell_do("cd '%s' && prefix=$PWD/\"" ODD "\" && export PKG_CONFIG_PATH=\"$prefix/lib/pkgconfig\" && "
             "eval \"%s -o program program.c $(pkg-config --cflags --libs rlock)\" && "
             "LD_LIBRARY_PATH=\"$prefix/lib\" ldd program | grep librlock | grep -qF \"$prefix\"",
             scratch_folder(), environment("CC", "cc"));
    make_do("uninstall PREFIX=\"%s/" ODD "\"", scratch_folder());
    assert_neighbour_is_there();
    shell_do("cd '%s' && [ -z \"$(find \"" ODD "\" ! -type d)\" ]", scratch_folder());
}

Test(install_path, destdir_may_have_spaces_and_quotes)
{
    make_neighbour();
    make_do("install PREFIX=/opt/rlock DESTDIR=\"%s/" ODD "\"", scratch_folder());
    shell_do("cd '%s' && test -x \"" ODD "/opt/rlock/bin/rlock\"", scratch_folder());
    make_do("uninstall PREFIX=/opt/rlock DESTDIR=\"%s/" ODD "\"", scratch_folder());
    assert_neighbour_is_there();
    shell_do("cd '%s' && [ -z \"$(find \"" ODD "\" ! -type d)\" ]", scratch_folder());
}

/* rlock.pc would have it, and lead somewhere else from each folder. */
Test(install_path, prefix_that_is_not_absolute_is_refused)
{
    static const char *const prefixes[] = {"usr/local", "~/rlock", "here or/there"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char *said = make_says("install DESTDIR='%s/stage/' PREFIX='%s' && exit 1 || :", scratch_folder(), prefixes[i]);
        assert_words(said, prefixes[i], "PREFIX must be an absolute path");
        free(said);
        shell_do("! test -e '%s/stage'", scratch_folder());
    }
}

/* make splits names at spaces, so the library cannot be built in such a folder; nothing may be removed for it either. */
Test(install_path, build_folder_with_a_space_is_refused_and_nothing_removed)
{
    make_neighbour();
    char *said = make_says("clean B='%s/joe smith' && exit 1 || :", scratch_folder());
    assert_words(said, "joe smith", "B must be", "space");
    free(said);
    assert_neighbour_is_there();
}

/* The folder of the headers may hold what somebody else put there. */
Test(install_path, uninstall_leaves_the_files_of_others)
{
    install();
    scratch_write("prefix/include/rlock/theirs.h", "");
    make_do("uninstall PREFIX='%s/prefix'", scratch_folder());
    shell_do("cd '%s/prefix' && [ \"$(find . ! -type d)\" = ./include/rlock/theirs.h ]", scratch_folder());
}

/* The real ldconfig, with a list of folders and a cache of the test's own. */
static void use_loader(const char *searched)
{
    char command[9000];
    snprintf(command, sizeof command, "ldconfig -X -f %s/ld.so.conf -C %s/ld.so.cache", scratch_folder(), scratch_folder());
    cr_assert(setenv("LDCONFIG", command, 1) == 0);
    shell_do("echo '%s/%s' >'%s/ld.so.conf'", scratch_folder(), searched, scratch_folder());
}

/* Whether a program that names librlock.so.1 would get the installed one. */
static bool is_found_by_loader(void)
{
    char path[4200];
    snprintf(path, sizeof path, "=> %s/prefix/lib/librlock.so.1\n", scratch_folder());
    char *known = shell("PATH=$PATH:/usr/sbin:/sbin; ldconfig -C '%s/ld.so.cache' -p", scratch_folder());
    bool found = strstr(known, path);
    free(known);
    return found;
}

/* As with /usr/local/lib, which the loader searches, but whose libraries it knows from a cache. */
Test(install_path, library_in_a_folder_of_the_loader_is_found_from_then_on)
{
    use_loader("prefix/lib");
    install();
    cr_assert(is_found_by_loader());
    make_do("uninstall PREFIX='%s/prefix'", scratch_folder());
    cr_assert(!is_found_by_loader());
}

/* In any other folder: it says what can be done. */
Test(install_path, library_in_another_folder_comes_with_advice)
{
    use_loader("elsewhere");
    char *said = make_says("install PREFIX='%s/prefix'", scratch_folder());
    assert_words(said, "librlock.so.1", "/prefix/lib", "-rpath", "LD_LIBRARY_PATH", "ldconfig");
    free(said);
    said = make_says("install DESTDIR='%s/stage' PREFIX=/usr", scratch_folder()); /* a package's own scripts see to it */
    cr_assert(!strstr(said, "LD_LIBRARY_PATH"), "%s", said);
    free(said);
}

/* The headers include the system's alone: whoever has no hiredis-dev can compile. */
Test(install_path, pkg_config_needs_no_other_package_to_compile_and_link)
{
    install();
    shell_do("export PKG_CONFIG_LIBDIR='%s/prefix/lib/pkgconfig'; pkg-config --print-errors --cflags --libs rlock",
             scratch_folder());
}
