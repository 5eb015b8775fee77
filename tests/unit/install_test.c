/* What make install puts in place, and that a program elsewhere can be built with it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/certificates.h"
#include "tests/support/server.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"
#include "tests/unit/support/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(install, .fini = scratch_remove);

/* Compiles `name`.c or `name`.cc of the scratch folder as one would outside of this tree. */
static void build(const char *compiler, const char *name, const char *linking)
{
    shell_do("cd '%s' && export PKG_CONFIG_PATH=\"$PWD/prefix/lib/pkgconfig\" && "
             "%s -Wall -Wextra -Wpedantic -Werror -o %.*s %s $(pkg-config --cflags rlock) %s",
             scratch_folder(), compiler, (int)strcspn(name, "."), name, name, linking);
}
#define SHARED "$(pkg-config --libs rlock) -Wl,-rpath,\"$PWD/prefix/lib\""
#define STATIC "prefix/lib/librlock.a $(pkg-config --static --libs rlock | sed 's/-lrlock//')"

static void run_says(const char *program, const char *argument, const char *expected)
{
    char *said = shell("cd '%s' && ./%s '%s'", scratch_folder(), program, argument);
    cr_assert(strcmp(said, expected) == 0, "%s said \"%s\", not \"%s\"", program, said, expected);
    free(said);
}

static const char program_text[] =
    "#include <rlock/rlock.h>\n"
    "#include <stdio.h>\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    rlock_client *client;\n"
    "    if (argc != 2 || rlock_client_open(&client, argv[1]) != RLOCK_OK)\n"
    "        return 1;\n"
    "    rlock *lock = rlock_get_lock(client, \"order:42\");\n"
    "    RLOCK_WITH(lock) {\n"
    "        printf(\"held %d\\n\", rlock_valid_for(lock) > 0);\n"
    "    } else {\n"
    "        printf(\"not held\\n\");\n"
    "    }\n"
    "    printf(\"after %d\\n\", rlock_valid_for(lock) > 0);\n"
    "    rlock_free(lock);\n"
    "    rlock_client_close(client);\n"
    "    return 0;\n"
    "}\n";

Test(install, program_outside_the_tree_compiles_with_pkg_config_and_runs)
{
    server *own = server_start();
    install();
    scratch_write("program.c", program_text);
    build(environment("CC", "cc"), "program.c", "-std=c11 " SHARED);
    run_says("program", server_url(own), "held 1\nafter 0\n");
    build(environment("CC", "cc"), "program.c", "-std=c11 " STATIC);
    run_says("program", server_url(own), "held 1\nafter 0\n");
    server_stop(own);
}

/* The shared library finds its TLS module beside it; the static one has TLS in it. */
Test(install, program_outside_the_tree_speaks_tls)
{
    static const char *const linkings[] = {"-std=c11 " SHARED, "-std=c11 " STATIC};
    texts kept = {0};
    char url[4200];
    server *own = server_start_with(certificates_args(&kept, CERTIFICATE_SERVER, "no", NULL));
    snprintf(url, sizeof url, "%s?sslTruststore=%s", server_tcp_url(own), certificate_file(CERTIFICATE_AUTHORITY));
    install();
    scratch_write("program.c", program_text);
    for (int i = 0; i < 2; i++) {
        build(environment("CC", "cc"), "program.c", linkings[i]);
        run_says("program", url, "held 1\nafter 0\n");
    }
    shell_do("'%s/prefix/bin/rlock' inspect --url '%s' order:42", scratch_folder(), url);
    server_stop(own);
    texts_free(&kept);
}

/* With both targets; of another major version, or of a later one, there is none. */
Test(install, program_outside_the_tree_finds_the_cmake_package)
{
    if (system("command -v cmake >/dev/null") != 0)
        cr_skip_test("no cmake here");
    server *own = server_start();
    install();
    scratch_write("program.c", program_text);
    scratch_write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\n"
                                    "project(outside C)\n"
                                    "foreach(other 2 1.99 0.9 \"1.0;EXACT\")\n"
                                    "  find_package(rlock ${other} QUIET)\n"
                                    "  if(rlock_FOUND)\n"
                                    "    message(FATAL_ERROR \"version ${other} is not there\")\n"
                                    "  endif()\n"
                                    "endforeach()\n"
                                    "find_package(rlock ${CURRENT} EXACT REQUIRED)\n"
                                    "find_package(rlock 1.0 REQUIRED)\n"
                                    "add_executable(shared program.c)\n"
                                    "target_link_libraries(shared rlock::rlock)\n"
                                    "add_executable(static program.c)\n"
                                    "target_link_libraries(static rlock::static)\n");
    shell_do("cd '%s' && cmake -S . -B cmade -DCMAKE_PREFIX_PATH=\"$PWD/prefix\" -DCMAKE_C_COMPILER='%s' "
             "-DCURRENT=" RLOCK_VERSION " && cmake --build cmade && mv cmade/shared cmade/static .",
             scratch_folder(), environment("CC", "cc"));
    run_says("shared", server_url(own), "held 1\nafter 0\n");
    run_says("static", server_url(own), "held 1\nafter 0\n");
    server_stop(own);
}

/* As bindings of other languages do: no header, no struct, and the symbols looked up by name. */
static const char symbols_text[] =
    "#include <dlfcn.h>\n"
    "#include <stdio.h>\n"
    "#define CALL(result, name, ...) ((result (*)(__VA_ARGS__))dlsym(library, name))\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    void *library = argc == 2 ? dlopen(\"prefix/lib/librlock.so.1\", RTLD_NOW) : NULL, *client, *lock;\n"
    "    if (!library)\n"
    "        return 1;\n"
    "    void *config = CALL(void *, \"rlock_config_new\", void)();\n"
    "    if (CALL(int, \"rlock_config_set\", void *, const char *, const char *)(config, \"address\", argv[1]) ||\n"
    "        CALL(int, \"rlock_config_set\", void *, const char *, const char *)(config, \"namePrefix\", \"shop:\") ||\n"
    "        CALL(int, \"rlock_client_open_config\", void **, void *)(&client, config))\n"
    "        return 2;\n"
    "    CALL(void, \"rlock_config_delete\", void *)(config);\n"
    "    lock = CALL(void *, \"rlock_get_lock\", void *, const char *)(client, \"order:42\");\n"
    "    if (CALL(int, \"rlock_lock\", void *)(lock) || CALL(int, \"rlock_unlock\", void *)(lock))\n"
    "        return 3;\n"
    "    printf(\"%s\\n\", CALL(const char *, \"rlock_name\", void *)(lock));\n"
    "    CALL(void, \"rlock_free\", void *)(lock);\n"
    "    CALL(void, \"rlock_client_close\", void *)(client);\n"
    "    return 0;\n"
    "}\n";

Test(install, program_that_knows_the_symbols_alone_has_settings_and_locks)
{
    server *own = server_start();
    install();
    scratch_write("program.c", symbols_text);
    build(environment("CC", "cc"), "program.c", "-std=c11 -D_GNU_SOURCE -Wno-pedantic -ldl");
    run_says("program", server_url(own), "order:42\n");
    server_stop(own);
}

static const char cpp_text[] =
    "#include <rlock/rlock.h>\n"
    "#include <cstdio>\n"
    "#include <stdexcept>\n"
    "static bool held(rlock *lock) { return rlock_valid_for(lock) > 0; }\n"
    "static int returns(rlock *lock) { RLOCK_WITH(lock) { return held(lock) ? 1 : 0; } return -1; }\n"
    "int main(int, char **argv)\n"
    "{\n"
    "    rlock_client *client;\n"
    "    if (rlock_client_open(&client, argv[1]) != RLOCK_OK)\n"
    "        return 1;\n"
    "    rlock *lock = rlock_get_lock(client, \"order:42\");\n"
    "    RLOCK_WITH(lock) std::printf(\"in block %d\\n\", held(lock));\n"
    "    std::printf(\"after block %d\\n\", held(lock));\n"
    "    std::printf(\"in return %d\\n\", returns(lock));\n"
    "    std::printf(\"after return %d\\n\", held(lock));\n"
    "    try {\n"
    "        RLOCK_WITH(lock) throw std::runtime_error(\"out\");\n"
    "    } catch (const std::runtime_error &) {\n"
    "        std::printf(\"after throw %d\\n\", held(lock));\n"
    "    }\n"
    "    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;\n"
    "    options.lease_ms = 1000;\n"
    "    std::printf(\"options %d\\n\", rlock_lock_with(lock, &options));\n"
    "    std::printf(\"unlock %d\\n\", rlock_unlock(lock));\n"
    "    rlock_free(lock);\n"
    "    rlock_client_close(client);\n"
    "}\n";

/* C++ also unlocks when an exception leaves the block. */
Test(install, cpp_program_compiles_and_unlocks_on_every_way_out)
{
    static const char *const standards[] = {"-std=c++11 " SHARED, "-std=c++17 " SHARED};
    server *own = server_start();
    install();
    scratch_write("program.cc", cpp_text);
    for (int i = 0; i < 2; i++) {
        build("c++", "program.cc", standards[i]);
        run_says("program", server_url(own),
                 "in block 1\nafter block 0\nin return 1\nafter return 0\nafter throw 0\noptions 0\nunlock 0\n");
    }
    server_stop(own);
}

/* Each alone, since a program may include but one. */
Test(install, every_header_compiles_alone_as_c_and_cpp)
{
    install();
    shell_do("set -e; cd '%s/prefix/include'; test -e rlock/rlock.h\n"
             "for header in rlock/*.h; do\n"
             "    for std in c11 c17; do\n"
             "        printf '#include <%%s>\\nint main(void) { return 0; }\\n' \"$header\" |\n"
             "            %s -std=$std -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I. -fsyntax-only -xc -\n"
             "    done\n"
             "    for std in c++11 c++17; do\n"
             "        printf '#include <%%s>\\nint main() { return 0; }\\n' \"$header\" |\n"
             "            c++ -std=$std -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I. -fsyntax-only -xc++ -\n"
             "    done\n"
             "done",
             scratch_folder(), environment("CC", "cc"));
}

/* Each guard has a name of its own, though both stand in one line, or come out of one macro. */
Test(install, two_locks_in_one_line_compile_without_a_warning)
{
    install();
    scratch_write("two.c", "#include <rlock/rlock.h>\n"
                           "#define WITH_BOTH(a, b) RLOCK_WITH(a) RLOCK_WITH(b)\n"
                           "int two(rlock *a, rlock *b, rlock_status *status);\n"
                           "int two(rlock *a, rlock *b, rlock_status *status)\n"
                           "{\n"
                           "    RLOCK_WITH(a) RLOCK_WITH_STATUS(b, status) return 1;\n"
                           "    WITH_BOTH(a, b) return 2;\n"
                           "    return 0;\n"
                           "}\n");
    shell_do("set -e; cd '%s'; for compiler in '%s -std=c11 -xc' 'c++ -std=c++11 -xc++'; do\n"
             "    $compiler -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Iprefix/include -fsyntax-only two.c\n"
             "done",
             scratch_folder(), environment("CC", "cc"));
}

Test(install, every_example_of_the_documentation_compiles)
{
    install();
    shell_do("set -e; export PKG_CONFIG_PATH='%s/prefix/lib/pkgconfig'\n"
             "for example in docs/examples/*.c; do\n"
             "    [ -e \"$example\" ] || continue\n"
             "    %s -Wall -Wextra -Wpedantic -Werror -fsyntax-only \"$example\" $(pkg-config --cflags rlock)\n"
             "done",
             scratch_folder(), environment("CC", "cc"));
}

/* Each of the locks that the page calls broken lets two in, or nobody any more. */
Test(install, example_of_broken_locks_breaks_them)
{
    static const char *const events[] = {
        "nobody ever will: it has no time to live\n", "B waits for ever\n",
        "A is done, and deletes the lock: that of B\n  C holds the lock, and so does B\n",
        "A deletes the lock: that of B\n  C holds the lock, and so does B\n", "slept until 1550 ms, and gave up\n"};
    server *own = server_start();
    install();
    shell_do("cp docs/examples/broken_locks.c '%s'", scratch_folder());
    build(environment("CC", "cc"), "broken_locks.c", "-lhiredis");
    char *said = shell("cd '%s' && ./broken_locks '%s'", scratch_folder(), server_tcp_url(own));
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        cr_assert(strstr(said, events[i]), "no \"%s\" in: %s", events[i], said);
    free(said);
    server_stop(own);
}

/* The programs with an event loop run, too: each takes the lock and gives it back from its loop. */
Test(install, examples_for_event_loops_take_the_lock_and_give_it_back)
{
    static const char *const loops[][2] = {{"async_epoll", ""}, {"async_libuv", " -luv"}, {"async_libevent", " -levent_core"}};
    char linking[300];
    server *own = server_start();
    install();
    for (int i = 0; i < 3; i++) {
        shell_do("cp docs/examples/%s.c '%s'", loops[i][0], scratch_folder());
        snprintf(linking, sizeof linking, SHARED "%s", loops[i][1]);
        char source[40];
        snprintf(source, sizeof source, "%s.c", loops[i][0]);
        build(environment("CC", "cc"), source, linking);
        run_says(loops[i][0], server_url(own), "acquired\nreleased\n");
    }
    server_stop(own);
}

Test(install, command_and_pkg_config_know_the_version)
{
    install();
    char *version = shell("PKG_CONFIG_PATH='%s/prefix/lib/pkgconfig' pkg-config --modversion rlock", scratch_folder());
    cr_assert(strcmp(version, RLOCK_VERSION "\n") == 0, "pkg-config says %s", version);
    free(version);
    char *command = shell("'%s/prefix/bin/rlock' --version", scratch_folder());
    cr_assert(strstr(command, RLOCK_VERSION) != NULL, "rlock --version says %s", command);
    free(command);
}

Test(install, destdir_is_no_part_of_what_is_installed)
{
    make_do("install DESTDIR='%s/stage' PREFIX=/opt/rlock", scratch_folder());
    shell_do("cd '%s/stage/opt/rlock' && test -x bin/rlock -a -e lib/librlock.a -a -e lib/librlock.so.1 -a "
             "-e lib/librlock-tls.so.1 -a -L lib/librlock.so -a -e include/rlock/rlock.h",
             scratch_folder());
    shell_do("cd '%s/stage' && ! grep -F \"$PWD\" opt/rlock/lib/pkgconfig/rlock.pc", scratch_folder());
    shell_do("grep -qx 'prefix=/opt/rlock' '%s/stage/opt/rlock/lib/pkgconfig/rlock.pc'", scratch_folder());
}

/* Also by a root whose files are its own. */
Test(install, all_may_read_what_is_installed)
{
    umask(077);
    install();
    char *hidden = shell("find '%s/prefix' ! -type l ! -perm -444 -o -type d ! -perm -555", scratch_folder());
    cr_assert(*hidden == 0, "hidden from others:\n%s", hidden);
    free(hidden);
}

/* All that make install puts is in one of Debian's packages, and they have nothing else; what zsh has goes elsewhere there,
 * and the pages are put there by other means (packaging/debian/rules). */
Test(install, packages_have_all_that_is_installed)
{
    make_do("install DESTDIR='%s/stage' PREFIX=/usr LIBDIR=/usr/lib/some-linux", scratch_folder());
    char *wrong = shell("find '%s/stage' ! -type d ! -path '*/usr/share/doc/*' -printf '%%P\\n' >'%s/there'\n"
                        "cat packaging/debian/*.install >'%s/packed' && test -s '%s/packed' && test -s '%s/there'\n"
                        "while read -r file; do\n"
                        "    found=\n"
                        "    while read -r pattern; do\n"
                        "        case $file in $pattern | $pattern/*) found=$found+ ;; esac\n"
                        "    done <'%s/packed'\n"
                        "    [ \"$found\" = + ] || echo \"not in one package: $file\"\n"
                        "done <'%s/there'\n"
                        "while read -r pattern; do\n"
                        "    find '%s'/stage/$pattern ! -type d | grep -q . || echo \"not installed: $pattern\"\n"
                        "done <'%s/packed'",
                        scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder(),
                        scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder());
    cr_assert(*wrong == 0, "%s", wrong);
    free(wrong);
    char *dead = shell("cd '%s/stage/usr/share/doc/rlock' && grep -rhoE '\\]\\(examples/[^)#]*' . | cut -c 3- | sort -u >'%s/links'\n"
                       "test -s '%s/links' && while read -r to; do [ -e \"$to\" ] || echo \"$to\"; done <'%s/links'",
                       scratch_folder(), scratch_folder(), scratch_folder(), scratch_folder());
    cr_assert(*dead == 0, "the installed pages link to what is not installed: %s", dead);
    free(dead);
}

Test(install, packages_have_the_version_and_the_symbols)
{
    shell_do("head -n 1 packaging/debian/changelog | grep -q '^rlock (%s[-)]'", RLOCK_VERSION);
    char *nodes = shell("for node in $(sed -n 's/^\\(RLOCK_[0-9.]*\\) {$/\\1/p' packaging/librlock.map); do\n"
                        "    grep -q \"^ (symver)$node ${node#RLOCK_}\" packaging/debian/librlock1.symbols || echo $node\n"
                        "done; grep -q '^RLOCK_' packaging/librlock.map");
    cr_assert(*nodes == 0, "not in librlock1.symbols: %s", nodes);
    free(nodes);
}

/* The folders, too, which nobody else uses. */
Test(install, uninstall_removes_every_file_again)
{
    install();
    make_do("uninstall PREFIX='%s/prefix'", scratch_folder());
    shell_do("cd '%s' && if [ -e prefix ]; then find prefix; false; fi", scratch_folder());
}
