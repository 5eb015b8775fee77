/* Messages and output with names, owners and a server's words in them: these drive no terminal, and end no line of a log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/command_json.h"
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

#include <stdlib.h>
#include <string.h>

TestSuite(printable, .fini = stage_close);

/* Controls of ASCII; of C1, as UTF-8 and as a bare byte; of the direction of writing; a separator of lines. */
#define ESCAPE "\x1b[31m"
#define C1 "\xc2\x9b" "31m"
#define BARE_C1 "\x9b"
#define OVERRIDE "\xe2\x80\xae"
#define SEPARATOR "\xe2\x80\xa8"
#define EVIL "a\n" ESCAPE "\x7f" C1 BARE_C1 OVERRIDE SEPARATOR "b"
#define EVIL_SHOWN "a\\n\\x1b[31m\\x7f\\u009b31m\\x9b\\u202e\\u2028b"
/* Letters of other languages are no reason for that. */
#define GOOD "größe→注文😀"

static void assert_plain(const char *text)
{
    static const char *const evil[] = {"\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8"};
    for (size_t i = 0; i < sizeof evil / sizeof *evil; i++)
        cr_assert(!strstr(text, evil[i]), "number %zu is in: %s", i, text);
}

static void assert_shows(const char *text, const char *shown)
{
    assert_plain(text);
    assert_words(text, shown);
}

/* --- messages --- */

Test(printable, names_in_messages, .init = stage_open)
{
    foreign_hold(EVIL, 60000);
    assert_status(rlock_try_lock(lock_of(stage.client, EVIL), 0, 1000), RLOCK_TIMEOUT);
    assert_shows(rlock_last_error(), EVIL_SHOWN);
    cr_assert(!strchr(rlock_last_error(), '\n'));
    cr_assert(!strstr(strstr(rlock_last_error(), EVIL_SHOWN) + 1, EVIL_SHOWN), "the name is there twice: %s", rlock_last_error());
    foreign_hold(GOOD, 60000);
    assert_status(rlock_try_lock(lock_of(stage.client, GOOD), 0, 1000), RLOCK_TIMEOUT);
    assert_shows(rlock_last_error(), GOOD);
}

static bool refuse(impostor_peer *peer, const char *request)
{
    return strstr(request, peer->context) ? impostor_say(peer, "-ERR " ESCAPE C1 BARE_C1 OVERRIDE "!\r\n")
                                          : impostor_answer(peer, request);
}

#define REFUSAL_SHOWN "ERR \\x1b[31m\\u009b31m\\x9b\\u202e!"

/* The server's words as the answer to a request, and to the greeting. */
Test(printable, words_of_servers_in_messages)
{
    impostor *refusing = impostor_start(refuse, "EVALSHA");
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, impostor_url(refusing, "")));
    assert_status(rlock_try_lock(lock_of(client, "order"), 0, 1000), RLOCK_SERVER);
    assert_shows(rlock_last_error(), REFUSAL_SHOWN);
    rlock_client_close(client);
    impostor_stop(refusing);
    refusing = impostor_start(refuse, "INFO");
    assert_status(rlock_client_open(&client, impostor_url(refusing, "")), RLOCK_UNAVAILABLE);
    assert_shows(rlock_last_error(), REFUSAL_SHOWN);
    impostor_stop(refusing);
}

static bool refuse_at_length(impostor_peer *peer, const char *request)
{
    return strstr(request, "INFO") ? impostor_say(peer, peer->context) : true;
}

/* A message that is cut ends with a whole character. */
TimedTest(printable, cut_messages_end_with_a_whole_character)
{
    char long_words[700] = "-";
    for (size_t length = 1; length < sizeof long_words - 16; length += 3)
        strcpy(long_words + length, "→");
    strcat(long_words, "\r\n");
    for (size_t shift = 0; shift < 3; shift++) {
        memmove(long_words + 2, long_words + 1, strlen(long_words));
        long_words[1] = 'x';
        impostor *refusing = impostor_start(refuse_at_length, long_words);
        rlock_client *client = NULL;
        assert_status(rlock_client_open(&client, impostor_url(refusing, "")), RLOCK_UNAVAILABLE);
        cr_assert(!strstr(rlock_last_error(), "\\x"), "%s", rlock_last_error());
        impostor_stop(refusing);
    }
}

/* --- the command --- */

static outcome ask(const char *const *words)
{
    outcome found = command_outcome(server_url(stage.server), words);
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    return found;
}

RealTest(printable, owners_and_waiters_in_inspections, .init = stage_open)
{
    freeReplyObject(server_command(stage.server, "SET order %s:1", EVIL));
    freeReplyObject(server_command(stage.server, "RPUSH redisson_lock_queue:{order} %s", EVIL));
    outcome found = ask(COMMAND("inspect", "order"));
    assert_shows(found.out, "held by client " EVIL_SHOWN);
    assert_shows(found.out, "waiter 1: token " EVIL_SHOWN);
    outcome_free(&found);
    found = ask(COMMAND("inspect", "order", "--json"));
    cr_assert(json_is_valid(found.out), "%s", found.out);
    assert_shows(found.out, "a\\n\\u001b[31m\\u007f\\u009b31m\\ufffd\\u202e\\u2028b:1");
    outcome_free(&found);
}

RealTest(printable, names_in_inspections, .init = stage_open)
{
    outcome found = ask(COMMAND("inspect", EVIL));
    assert_shows(found.out, EVIL_SHOWN ": free");
    outcome_free(&found);
    found = ask(COMMAND("inspect", GOOD));
    assert_shows(found.out, GOOD ": free");
    outcome_free(&found);
    found = ask(COMMAND("inspect", GOOD, "--json"));
    assert_shows(found.out, GOOD);
    outcome_free(&found);
}
