/* The library's scripts, at a test's server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scripts.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

char *script_text(const rli_script *script, rli_pubsub_mode spread)
{
    size_t length;
    char *text = rli_script_text(script, spread, &length);
    cr_assert(text && strlen(text) == length);
    return text;
}

void server_load(server *self, const rli_script *script, rli_pubsub_mode spread)
{
    char *text = script_text(script, spread);
    char *sha1 = server_text(self, "SCRIPT LOAD %s", text);
    cr_assert_str_eq(sha1, script->sha1[spread], "the server's SHA1 is %s, not %s, of\n%s", sha1, script->sha1[spread],
                     text);
    free(sha1);
    free(text);
}
