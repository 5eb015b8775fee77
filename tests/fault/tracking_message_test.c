/* lossTracking with a server that sends, in place of names of changed keys, whatever it likes, or refuses to track: nothing
 * that is held is told as lost, what is lost is told at once or by the next renewal, and looks are few. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/fault/support/impostor.h"
#include "tests/fault/support/resp.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(tracking_message);

#define NAME "order"
#define CHANNEL "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n"
#define KEY "$5\r\norder\r\n"
#define SOON_MS 20
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Notes: messages that the server is to send, and has; 1 when nobody holds anything; looks; requests to track; connections
 * for messages that are to end, and those that there were. */
enum { WANTED, SENT, GONE, LOOKS, REQUESTS, ENDS, LISTENERS };

typedef struct manners {
    const char *const *messages; /* those that are to be sent, in order */
    const char *const *answers;  /* to requests to track, each once, then the last of them */
    int64_t answer_count;
    bool hangs_up;               /* at the first request to track, on the connection for messages */
    bool is_many; /* each connection leads to another server */
} manners;

/* --- the server --- */

static bool is_script(const char *request, const rli_script *script)
{
    for (int mode = 0; mode < RLI_PUBSUB_MODES; mode++) {
        if (strstr(request, script->sha1[mode]))
            return true;
    }
    return false;
}

/* One answer for each of the keys. */
static bool answer_each(impostor_peer *peer, const char *request, const char *each)
{
    char *copy = strdup(request), *words[3], header[32];
    int count = copy && resp_words(copy, strlen(copy), words, 3) == 3 ? atoi(words[2]) : 0;
    free(copy);
    snprintf(header, sizeof header, "*%d\r\n", count);
    bool said = impostor_say(peer, header);
    while (said && count-- > 0)
        said = impostor_say(peer, each);
    return said;
}

/* Sends messages until the connection is to end. */
static bool tell(impostor_peer *peer)
{
    const manners *with = peer->context;
    impostor_note(peer->of, LISTENERS, 1);
    int64_t own = impostor_noted(peer->of, LISTENERS), sent;
    while ((sent = impostor_noted(peer->of, SENT)) < impostor_noted(peer->of, WANTED) ||
           impostor_noted(peer->of, ENDS) < own) {
        if (sent == impostor_noted(peer->of, WANTED)) {
            pass_ms(1);
            continue;
        }
        if (!impostor_say(peer, with->messages[sent]))
            return false;
        impostor_note(peer->of, SENT, 1);
    }
    return false;
}

static bool answer_tracking(impostor_peer *peer)
{
    const manners *with = peer->context;
    int64_t number = impostor_noted(peer->of, REQUESTS);
    if (with->hangs_up && number == 0)
        impostor_note(peer->of, ENDS, 1);
    impostor_note(peer->of, REQUESTS, 1);
    return impostor_say(peer, with->answers[number < with->answer_count ? number : with->answer_count - 1]);
}

static bool tell_server(impostor_peer *peer)
{
    char text[100];
    snprintf(text, sizeof text, "run_id:%08d%032d\r\nrole:master\r\n", peer->number + 1, 0);
    return impostor_say_bulk(peer, text);
}

static bool serve(impostor_peer *peer, const char *request)
{
    const manners *with = peer->context;
    char number[32];
    bool gone = impostor_noted(peer->of, GONE) > 0;
    if (strstr(request, "TRACKING"))
        return answer_tracking(peer);
    if (strstr(request, "CLIENT\r\n$2\r\nID")) {
        snprintf(number, sizeof number, ":%d\r\n", peer->number + 1);
        return impostor_say(peer, number);
    }
    if (strstr(request, "__redis__:invalidate"))
        return impostor_answer(peer, request) && tell(peer);
    if (with->is_many && strstr(request, "INFO"))
        return tell_server(peer);
    if (is_script(request, &rli_script_lock_renew))
        return answer_each(peer, request, gone ? ":0\r\n" : ":1\r\n");
    if (!is_script(request, &rli_script_lock_look))
        return impostor_answer(peer, request);
    impostor_note(peer->of, LOOKS, 1);
    return answer_each(peer, request, gone ? ":-2\r\n" : ":3600000\r\n");
}

/* --- the client --- */

static impostor *server_of;
static rlock_client *client;
static rlock *lock;
static losses told;

static void begin(const manners *with, int64_t watchdog_ms)
{
    char query[200];
    snprintf(query, sizeof query, "lossTracking=true&pingConnectionInterval=0&lockWatchdogTimeout=%lld", (long long)watchdog_ms);
    server_of = impostor_start(serve, with);
    assert_ok(rlock_client_open(&client, impostor_url(server_of, query)));
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    lock = rlock_get_lock(client, NAME);
    assert_ok(rlock_lock(lock));
}

static void end(void)
{
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(server_of);
}

static void await_state(rlock_tracking awaited)
{
    rlock_tracking state = RLOCK_TRACKING_IDLE;
    while (state != awaited) {
        assert_ok(rlock_client_tracking(client, &state));
        pass_ms(1);
    }
}

/* Has the server send the next message. */
static void send_next(void)
{
    impostor_note(server_of, WANTED, 1);
    cr_assert(impostor_await(server_of, SENT, impostor_noted(server_of, WANTED), 5000));
}

static int64_t looks(void)
{
    return impostor_noted(server_of, LOOKS);
}

/* --- messages --- */

static const char *const tracks[] = {"+OK\r\n"};
#define HOUR_MS 3600000

/* The first message tells the loss of nothing, the second that of the lock. */
static void survive(const char *message, int64_t most_looks)
{
    const char *const messages[] = {message, CHANNEL "*1\r\n" KEY};
    const manners with = {.messages = messages, .answers = tracks, .answer_count = 1};
    begin(&with, HOUR_MS);
    await_state(RLOCK_TRACKING_ON);
    pass_ms(SOON_MS);
    int64_t before = looks();
    send_next();
    pass_ms(5000);
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0, "after %.60s", message);
    cr_assert_leq(looks() - before, most_looks, "%lld looks after %.60s", (long long)(looks() - before), message);
    impostor_note(server_of, GONE, 1);
    send_next();
    losses_await(&told, 1, SOON_MS);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    end();
}

Test(tracking_message, of_something_else_does_nothing)
{
    static const char *const messages[] = {
        CHANNEL "*0\r\n", CHANNEL "$0\r\n\r\n", CHANNEL KEY, CHANNEL ":5\r\n", CHANNEL "+order\r\n", CHANNEL "-ERR order\r\n",
        CHANNEL "*1\r\n$-1\r\n", CHANNEL "*-1\r\n", CHANNEL "*2\r\n:5\r\n*1\r\n" KEY, CHANNEL "*1\r\n+order\r\n",
        CHANNEL "*1\r\n$0\r\n\r\n", "*2\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n",
        "*3\r\n$9\r\nsubscribe\r\n$20\r\n__redis__:invalidate\r\n:1\r\n", "*3\r\n$7\r\nmessage\r\n$5\r\nother\r\n*1\r\n" KEY,
        "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$20\r\n__redis__:invalidate\r\n*1\r\n" KEY, "+PONG\r\n", ":7\r\n", "*-1\r\n",
    };
    for (size_t i = 0; i < COUNT(messages); i++)
        survive(messages[i], 1); /* nil in the place of keys, or a confirmation: all holds are looked at */
}

Test(tracking_message, of_keys_that_are_not_ours_does_nothing)
{
    survive(CHANNEL "*4\r\n$6\r\norders\r\n$4\r\norde\r\n$5\r\nOrder\r\n$8\r\nor\r\n\xff\xfe\x01z\r\n", 0);
}

Test(tracking_message, that_names_a_key_many_times_costs_two_looks)
{
    survive(CHANNEL "*6\r\n" KEY KEY KEY KEY KEY KEY, 2); /* the second after the rest, for what was heard meanwhile */
}

Test(tracking_message, of_thousands_of_keys_is_taken)
{
    enum { KEYS = 20000 };
    char *message = malloc(sizeof CHANNEL + 32 + (size_t)KEYS * 24), *at = message;
    cr_assert(message != NULL);
    at += sprintf(at, CHANNEL "*%d\r\n", KEYS);
    for (int i = 0; i < KEYS; i++)
        at += i % 100 ? sprintf(at, "$11\r\nother-%05d\r\n", i) : sprintf(at, KEY);
    survive(message, 2);
    free(message);
}

/* Message after message, none of them a loss, for ten seconds. */
Test(tracking_message, that_does_not_end_costs_ten_looks_a_second_at_most)
{
    enum { MESSAGES = 1000 };
    static const char *messages[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        messages[i] = i % 10 ? CHANNEL "*1\r\n" KEY : CHANNEL "*-1\r\n";
    const manners with = {.messages = messages, .answers = tracks, .answer_count = 1};
    begin(&with, HOUR_MS);
    await_state(RLOCK_TRACKING_ON);
    for (int i = 0; i < MESSAGES - 1; i++) {
        send_next();
        pass_ms(10);
    }
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0);
    cr_assert_leq(looks(), 110, "%lld looks", (long long)looks());
    impostor_note(server_of, GONE, 1);
    send_next();
    losses_await(&told, 1, 6500); /* the rest after a look doubles while reports go on */
    end();
}

/* --- the request to track --- */

static void refuse(const char *const *answers, int64_t count, rlock_tracking state, const char *words)
{
    const manners with = {.answers = answers, .answer_count = count};
    begin(&with, 3000);
    await_state(state);
    if (words) {
        rlock_tracking again;
        assert_ok(rlock_client_tracking(client, &again));
        cr_assert(strstr(rlock_last_error(), words) != NULL, "%s", rlock_last_error());
    }
    pass_ms(10000);
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0);
    cr_assert_leq(impostor_noted(server_of, REQUESTS), 10, "%lld requests", (long long)impostor_noted(server_of, REQUESTS));
    impostor_note(server_of, GONE, 1);
    losses_await(&told, 1, 1500); /* by a renewal */
    end();
}

#define REFUSES(words, answer) refuse((const char *const[]){answer}, 1, RLOCK_TRACKING_REFUSED, words)

Test(tracking_message, refusal_leaves_losses_to_renewals)
{
    REFUSES("refused CLIENT TRACKING: ERR unknown subcommand", "-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP.\r\n");
    REFUSES("refused CLIENT TRACKING: ERR Syntax error", "-ERR Syntax error, try CLIENT (LIST | KILL ip:port)\r\n");
    REFUSES("refused CLIENT TRACKING: NOPERM", "-NOPERM this user has no permissions to run the 'client|tracking' command\r\n");
}

Test(tracking_message, odd_answer_leaves_losses_to_renewals)
{
    static const char *const odd[] = {"$-1\r\n", "*0\r\n", ":1\r\n", "$2\r\nno\r\n", "+QUEUED\r\n"};
    for (size_t i = 0; i < COUNT(odd); i++)
        refuse(&odd[i], 1, RLOCK_TRACKING_ON, NULL);
}

Test(tracking_message, passing_trouble_is_tried_again)
{
    static const char *const first[] = {"-LOADING Redis is loading the dataset in memory\r\n", "-ERR max number of clients reached\r\n",
                                        "-ERR The client ID you want redirect to does not exist\r\n"};
    for (size_t i = 0; i < COUNT(first); i++) {
        const char *const answers[] = {first[i], tracks[0]};
        int64_t since_ms = now_ms();
        refuse(answers, 2, RLOCK_TRACKING_ON, NULL);
        assert_between(now_ms() - since_ms, 0, at_most_ms(15000)); /* not after the five minutes of a refusal */
    }
}

/* The server has not noticed yet that the connection whose number it was given has ended, so it agrees. */
Test(tracking_message, number_of_an_ended_connection_is_replaced)
{
    static const char *const messages[] = {CHANNEL "*1\r\n" KEY};
    const manners with = {.messages = messages, .answers = tracks, .answer_count = 1, .hangs_up = true};
    begin(&with, HOUR_MS);
    cr_assert(impostor_await(server_of, REQUESTS, 2, 5000));
    await_state(RLOCK_TRACKING_ON);
    pass_ms(SOON_MS);
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0);
    impostor_note(server_of, GONE, 1);
    send_next();
    losses_await(&told, 1, SOON_MS);
    end();
}

/* There, the number of the connection for messages may be that of anybody's connection. */
Test(tracking_message, is_not_asked_for_where_connections_lead_to_different_servers)
{
    const manners with = {.answers = tracks, .answer_count = 1, .is_many = true};
    rlock_tracking state = RLOCK_TRACKING_IDLE;
    begin(&with, HOUR_MS);
    do {
        pass_ms(1);
        assert_ok(rlock_client_tracking(client, &state));
        cr_assert(state != RLOCK_TRACKING_ON);
    } while (state != RLOCK_TRACKING_CONNECTING || !strstr(rlock_last_error(), "lead to different servers"));
    cr_assert(impostor_noted(server_of, REQUESTS) == 0);
    end();
}
