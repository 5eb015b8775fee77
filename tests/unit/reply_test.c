/* Replies: where redirects lead, which texts are none, and which errors end a script that may have written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/reply.h"
#include "tests/support/test.h"

static redisReply error_of(const char *text)
{
    return (redisReply){.type = REDIS_REPLY_ERROR, .str = (char *)text, .len = strlen(text)};
}

static bool redirects(const char *text, const char *host, int port)
{
    const redisReply reply = error_of(text);
    rli_host_port to;
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

/* A replica's refusal, alone and within a script of Redis 6.2 and later; but not a name that the text repeats. */
Test(reply, of_a_replica_is_known_by_its_code)
{
    static const struct {
        const char *text;
        rli_reply_action action;
    } said[] = {
        {"READONLY You can't write against a read only replica.", RLI_DEMOTED},
        {"READONLY You can't write against a read only replica. script: 1888, on @user_script:11.", RLI_DEMOTED},
        {"ERR Error running script (call to f_1888): @user_script:11: @user_script: 11: -READONLY You can't write against a "
         "read only replica.",
         RLI_DEMOTED},
        {"NOPERM User READONLY has no permissions to run the 'evalsha' command", RLI_REFUSED},
        {"ERR ACL failure in script: User app-READONLY has no permissions to run the 'pexpire' command script: 1888, on "
         "@user_script:11.",
         RLI_REFUSED},
        {"NOPERM User app-NOREPLICAS has no permissions to run the 'evalsha' command", RLI_REFUSED},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const redisReply reply = error_of(said[i].text);
        cr_assert(rli_reply_action_of(&reply) == said[i].action, "%s", said[i].text);
    }
}

/* The words, without the line of the script. */
Test(reply, error_of_a_script_is_shown_without_its_line)
{
    char said[RLI_ERROR_TEXT];
    const redisReply reply = error_of("ERR ACL failure in script: No permissions to access a channel script: c9cf, on @user_script:1.");
    cr_assert_str_eq(rli_reply_error_text(&reply, NULL, said), "ERR ACL failure in script: No permissions to access a channel");
    const redisReply other = error_of("READONLY You can't write against a read only replica. script: 1888, on @user_script:11.");
    cr_assert_str_eq(rli_reply_error_text(&other, NULL, said), "READONLY You can't write against a read only replica");
    const redisReply plain = error_of("ERR in the script: no line follows");
    cr_assert_str_eq(rli_reply_error_text(&plain, NULL, said), "ERR in the script: no line follows");
}

#define FIFTY "a text of fifty letters, so that four of them fill "

/* With a sign that it goes on, and with whole words, unless it is one word. */
Test(reply, long_error_is_cut_behind_a_word)
{
    char said[RLI_ERROR_TEXT], word[260];
    const redisReply words = error_of(FIFTY FIFTY FIFTY "a text of fifty letters, so that four of them filled more");
    cr_assert_str_eq(rli_reply_error_text(&words, NULL, said),
                     FIFTY FIFTY FIFTY "a text of fifty letters, so that four of them…");
    snprintf(word, sizeof word, "%0202d", 7);
    const redisReply fits = error_of(word);
    cr_assert_str_eq(rli_reply_error_text(&fits, NULL, said), word);
    memset(word, 'x', 250);
    word[250] = 0;
    const redisReply longer = error_of(word);
    cr_assert(strlen(rli_reply_error_text(&longer, NULL, said)) == RLI_ERROR_TEXT - 1 && strcmp(said + 200, "…") == 0,
              "%s", said);
}

Test(reply, refusal_for_a_number_is_advised_on)
{
    const redisReply full = error_of("ERR increment or decrement would overflow script: 1888, on @user_script:11.");
    cr_assert(rli_reply_refusal(&full, "order") == RLOCK_SERVER);
    assert_error("\"order\": ERR increment or decrement would overflow; ", "at its limit");
    const redisReply odd = error_of("ERR value is not an integer or out of range");
    cr_assert(rli_reply_refusal(&odd, "order") == RLOCK_SERVER);
    assert_error("\"order\": ERR value is not an integer or out of range; ", "holds what is no number");
}

static bool broke_off(const char *text)
{
    const redisReply reply = error_of(text);
    return rli_reply_aborted_script(&reply);
}

/* As Redis 6.2, 7.0, and 7.2 and Valkey say it. */
Test(reply, error_within_a_script_says_that_it_may_have_written)
{
    cr_assert(broke_off("ERR Error running script (call to f_18885bf6caf82388b0c88bdc40bc1f31fadafebb): @user_script:11: "
                        "@user_script: 11: The user executing the script can't run this command or subcommand"));
    cr_assert(broke_off("ERR The user executing the script can't access at least one of the keys mentioned in the command "
                        "arguments script: e7b44188079ed2f5afc09940fa3eaae0097dbdd8, on @user_script:38."));
    cr_assert(broke_off("ERR ACL failure in script: User locks has no permissions to run the 'pexpire' command script: "
                        "18885bf6caf82388b0c88bdc40bc1f31fadafebb, on @user_script:11."));
    cr_assert(broke_off("ERR Script attempted to access a non local key in a cluster node script: "
                        "e7b44188079ed2f5afc09940fa3eaae0097dbdd8, on @user_script:37."));
}

Test(reply, error_before_a_script_says_that_it_has_not_written)
{
    cr_assert(!broke_off("NOPERM this user has no permissions to access one of the keys used as arguments"));
    cr_assert(!broke_off("NOPERM User locks has no permissions to run the 'evalsha' command"));
    cr_assert(!broke_off("READONLY You can't write against a read only replica."));
    cr_assert(!broke_off("OOM command not allowed when used memory > 'maxmemory'."));
}

/* As Redis 6.2, and as 7 and later say it; the name of a user or a key may be any of the codes. */
Test(reply, refusal_of_a_renewal_is_named_by_what_the_server_said)
{
    static const struct {
        const char *text, *words;
    } said[] = {
        {"NOPERM User OOM has no permissions to run the 'evalsha' command", "lacks a right"},
        {"ERR ACL failure in script: User MISCONF has no permissions to run the 'pexpire' command script: 1888, on "
         "@user_script:11.",
         "lacks a right"},
        {"OOM command not allowed when used memory > 'maxmemory'. script: 1888, on @user_script:11.", "maxmemory"},
        {"ERR Error running script (call to f_1888): @user_script:11: @user_script: 11: -OOM command not allowed when used "
         "memory > 'maxmemory'.",
         "maxmemory"},
        {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
         "disk (MISCONF)"},
        {"READONLY You can't write against a read only replica.", "a replica now"},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", "another call for this name says why"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const redisReply reply = error_of(said[i].text);
        const char *words = rli_refusal_words(rli_refusal_of(&reply));
        cr_assert(strstr(words, said[i].words), "%s: %s", said[i].text, words);
    }
}
