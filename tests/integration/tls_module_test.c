/* The TLS module of librlock.so, as the command loads it: when it is, and what is said when it cannot be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/secure.h"
#include "tests/support/shell.h"

#include <rlock/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_stage(void)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
}

TestSuite(tls_module, .init = open_stage, .fini = secure_close);

/* --- when it is loaded --- */

/* The libraries of rlock and of OpenSSL that `rlock run` has in memory while it holds a lock. */
static char *loaded_with(const char *url)
{
    outcome found = command_outcome(url, COMMAND("run", "order", "--", "sh", "-c",
                                                 "sed -n 's|.*/\\(lib[a-z-]*\\)\\.so.*|\\1|p' /proc/$PPID/maps | sort -u |"
                                                 "grep -E '^lib(rlock|ssl|crypto)'"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    free(found.err);
    return found.out;
}

Test(tls_module, program_without_tls_has_no_openssl)
{
    char *libraries = loaded_with(server_url(stage.server));
    cr_assert_str_eq(libraries, "librlock\n");
    free(libraries);
}

Test(tls_module, is_loaded_with_openssl_for_the_first_client_with_tls)
{
    char *libraries = loaded_with(secure_url("%s", ""));
    cr_assert_str_eq(libraries, "libcrypto\nlibrlock\nlibrlock-tls\nlibssl\n");
    free(libraries);
}

/* --- when it cannot be --- */

/* The command and the library in the scratch folder, where they have no module. */
static void move_away(void)
{
    shell_do("command=${RLOCK_COMMAND:-build/rlock}; cp \"$command\" \"${command%%/*}/librlock.so.1\" '%s'",
             scratch_folder());
}

static void assert_says_there(const char *url, int status, const char *words)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/rlock", scratch_folder());
    command *moved = command_start_program(url, COMMAND(path, "inspect", "order"));
    command_close_input(moved);
    cr_assert(command_wait(moved, 30000) == status, "%s", command_err(moved));
    cr_assert(strstr(command_err(moved), words), "\"%s\" is not in: %s", words, command_err(moved));
    command_free(moved);
}

static void assert_refused_there(const char *words)
{
    enum { USAGE = 64 };
    char sentence[4400];
    snprintf(sentence, sizeof sentence, "TLS needs the module \"%s/librlock-tls.so.1\"%s", scratch_folder(), words);
    assert_says_there(secure_url("%s", ""), USAGE, sentence);
}

Test(tls_module, which_is_missing_is_named)
{
    move_away();
    assert_refused_there(", which cannot be loaded: cannot open shared object file: No such file or directory; install all "
                         "of rlock, and OpenSSL");
}

Test(tls_module, which_is_missing_is_not_missed_without_tls)
{
    move_away();
    assert_says_there(server_url(stage.server), 0, "");
}

Test(tls_module, is_found_by_a_link_to_the_library)
{
    shell_do("cd \"$(dirname \"${RLOCK_COMMAND:-build/rlock}\")\" && cp rlock '%s' && ln -s \"$PWD/librlock.so.1\" '%s'",
             scratch_folder(), scratch_folder());
    assert_says_there(secure_url("%s", ""), 0, "");
}

Test(tls_module, of_another_version_is_refused)
{
    move_away();
    shell_do("cd '%s' && echo 'const char *const rlock_tls_module[] = {\"0.9.9\"};' |"
             " ${CC:-cc} -shared -fPIC -o librlock-tls.so.1 -xc -", scratch_folder());
    assert_refused_there(" of version " RLOCK_VERSION ", but the file has version 0.9.9; install both from one "
                         "release, then restart the program");
}

Test(tls_module, which_is_another_library_is_refused)
{
    move_away();
    shell_do("cd '%s' && echo 'int other;' | ${CC:-cc} -shared -fPIC -o librlock-tls.so.1 -xc -", scratch_folder());
    assert_refused_there(", which cannot be loaded: undefined symbol: rlock_tls_module; ");
}
