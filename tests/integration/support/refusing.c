/* A server that refuses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/refusing.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void server_await_info(server *of, const char *words, int least)
{
    for (int64_t end_ms = limit_end_ms(10000);; pass_ms(5)) {
        char *info = server_text(of, "INFO everything");
        const char *found = strstr(info, words);
        bool enough = found && atoi(found + strlen(words)) >= least;
        free(info);
        if (enough)
            return;
        cr_assert(now_ms() < end_ms, "no %s%d", words, least);
    }
}

void server_await_errors(server *of, const char *code, int count)
{
    char words[64];
    snprintf(words, sizeof words, "errorstat_%s:count=", code);
    server_await_info(of, words, count);
}
