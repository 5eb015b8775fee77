/* Replies: where redirects lead, and which texts are none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/reply.h"
#include "tests/support/test.h"

static bool redirects(const char *text, const char *host, int port)
{
    redisReply reply = {.type = REDIS_REPLY_ERROR, .str = (char *)text, .len = strlen(text)};
    rli_redirect to;
    if (!rli_reply_redirect(&reply, &to))
        return false;
    cr_assert(to.length == strlen(host) && memcmp(to.host, host, to.length) == 0, "%s: host %.*s", text, (int)to.length,
              to.host);
    cr_assert(to.port == port, "%s: port %d", text, to.port);
    return true;
}

Test(reply, redirect_leads_to_a_host_and_a_port)
{
    cr_assert(redirects("MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381));
    cr_assert(redirects("ASK 3999 a.example:1", "a.example", 1));
    cr_assert(redirects("MOVED 3999 fe80::1:65535", "fe80::1", 65535));
    cr_assert(redirects("MOVED 3999 :6381", "", 6381));
    cr_assert(redirects("MOVED 3999 ?:6381", "", 6381));
}

/* Nothing of them may become a port by being cut. */
Test(reply, redirect_without_a_sound_port_is_none)
{
    static const char *const texts[] = {
        "MOVED", "MOVED ", "MOVED 3999", "MOVED 3999 ", "MOVED 3999 127.0.0.1", "MOVED 3999 127.0.0.1:",
        "MOVED 3999 127.0.0.1:0", "MOVED 3999 127.0.0.1:-1", "MOVED 3999 127.0.0.1:65536", "MOVED 3999 127.0.0.1:4294973675",
        "MOVED 3999 127.0.0.1:18446744073709558001", "MOVED 3999 127.0.0.1:6381x", "MOVED 3999 127.0.0.1: 6381",
        "MOVED 3999:6381", "MOVED:1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert(!redirects(texts[i], "", 0), "%s", texts[i]);
}
