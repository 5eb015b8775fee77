/* The greeting: the first requests on a connection, and their answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/greeting.h"

#include "base/clock.h"
#include "base/error.h"
#include "net/buffer.h"
#include "net/reply.h"

#include <stdlib.h>
#include <string.h>

/* The parts of the greeting. All are sent together, and their answers are read in this order. */
enum greeting { AUTH, SELECT, NAME, INFO, GREETINGS };

static bool add(rli_buffer *greeting, const char *first, const char *second, const char *third)
{
    const char *words[3] = {first, second, third};
    size_t count = third ? 3 : 2, lengths[3] = {0};
    for (size_t i = 0; i < count; i++)
        lengths[i] = strlen(words[i]);
    return rli_buffer_command(greeting, &(rli_command){.count = count, .words = words, .lengths = lengths});
}

typedef struct login {
    const char *username, *password;
} login;

static login login_at(const rli_settings *settings, const rli_address *address)
{
    if (address->password)
        return (login){address->username, address->password};
    if (address->sentinel)
        return (login){settings->sentinel_username, settings->sentinel_password};
    return (login){settings->username, settings->password};
}

static bool compose(rli_buffer *greeting, const rli_settings *settings, const rli_address *address, login as,
                    bool said[GREETINGS])
{
    char database[RLI_DECIMAL];
    rli_decimal(settings->database, database);
    said[AUTH] = as.password;
    said[SELECT] = settings->database && !address->sentinel;
    /* a sentinel gets no name of ours: nobody looks for lock holders among its clients */
    const char *own = address->sentinel ? "" : settings->own_name;
    const char *name = settings->client_name ? settings->client_name : own;
    said[NAME] = *name;
    said[INFO] = true;
    return (!said[AUTH] || (as.username ? add(greeting, "AUTH", as.username, as.password)
                                        : add(greeting, "AUTH", as.password, NULL))) &&
           (!said[SELECT] || add(greeting, "SELECT", database, NULL)) &&
           (!said[NAME] || add(greeting, "CLIENT", "SETNAME", name)) && add(greeting, "INFO", "server", NULL);
}

static uint64_t run_id_of(const redisReply *info)
{
    if (info->type != REDIS_REPLY_STRING)
        return 0;
    const char *field = strstr(info->str, "run_id:");
    char digits[17];
    if (!field || strlen(field) < 7 + 16)
        return 0;
    memcpy(digits, field + 7, 16);
    digits[16] = 0;
    return strtoull(digits, NULL, 16);
}

/* Fails for a server that is there but does not serve at present. `said`: its reason. */
static rlock_status not_yet(const rli_address *address, const char *said)
{
    static const struct {
        const char *start, *advice;
    } advices[] = {
        {"BUSY ", "; a script there runs for too long, and SCRIPT KILL ends it if it has written nothing"},
        {"ERR max number of clients", "; raise maxclients there, or close unused connections"},
        {"DENIED", "; give that server a password, or turn off its protected-mode"},
    };
    const char *advice = "";
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
        if (strncmp(said, advices[i].start, strlen(advices[i].start)) == 0)
            advice = advices[i].advice;
    }
    return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s does not serve requests at present: %s%s", address->text, said,
                    advice);
}

static rlock_status locked_out(const rli_address *address, const char *said)
{
    if (address->sentinel)
        return rli_fail(RLOCK_SERVER, "the sentinel at %s requires a password: set sentinelPassword (%s)",
                        address->text, said);
    return rli_fail(RLOCK_SERVER,
                    "Redis at %s requires a password; write redis://user:password@host, or set password in the "
                    "configuration (%s)",
                    address->text, said);
}

/* Whether the server has renamed INFO, or forbids it to this user. Any other error is about the connection, not about
 * INFO. */
static bool lacks_info(const char *said)
{
    return strncmp(said, "NOPERM", 6) == 0 || strstr(said, "unknown command") || strstr(said, "unsupported command");
}

/* `said`: the part of the reply's text that may be shown. */
static rlock_status refused_login(const rli_address *address, const redisReply *reply, const char *said)
{
    if (strstr(reply->str, "unknown command"))
        return rli_fail(RLOCK_SERVER,
                        "Redis at %s does not accept a password: %s; rename-command has renamed or removed AUTH there",
                        address->text, said);
    if (address->sentinel)
        return rli_fail(RLOCK_SERVER, "the sentinel at %s refused sentinelUsername or sentinelPassword: %s",
                        address->text, said);
    if (strstr(reply->str, "without any password configured"))
        return rli_fail(RLOCK_SERVER,
                        "Redis at %s requires no password for the default user: leave the password out, or write the "
                        "name of another user before it (%s)",
                        address->text, said);
    return rli_fail(RLOCK_SERVER,
                    "Redis at %s refused the user or password: %s; write them as redis://user:password@host, or set "
                    "username and password in the configuration",
                    address->text, said);
}

static rlock_status refused_database(const rli_address *address, int database, const redisReply *reply,
                                     const char *said)
{
    const char *advice = "";
    if (strstr(reply->str, "cluster mode"))
        advice = "; leave database at 0 there (others are for Valkey 9 with cluster-databases)";
    else if (strstr(reply->str, "out of range"))
        advice = "; use a lower number, or raise \"databases\" in its configuration";
    return rli_fail(RLOCK_SERVER, "Redis at %s refused the database %d: %s%s", address->text, database, said, advice);
}

/* Judges an error reply to the part `what` of the greeting. RLOCK_OK: the connection can be used without that part. */
static rlock_status hear_error(const rli_address *address, login as, enum greeting what, const rli_settings *settings,
                               const redisReply *reply)
{
    char said[RLI_ERROR_TEXT];
    rli_reply_error_text(reply, as.password, said);
    if (rli_reply_action_of(reply) == RLI_LATER)
        return not_yet(address, said);
    if (strncmp(reply->str, "NOAUTH", 6) == 0)
        return locked_out(address, said);
    switch (what) {
    case AUTH:
        if (address->sentinel && strstr(reply->str, "without any password configured"))
            return RLOCK_OK; /* Redisson sends a sentinel its password only when the sentinel asks for one */
        return refused_login(address, reply, said);
    case SELECT:
        return refused_database(address, settings->database, reply, said);
    case NAME:
        if (settings->client_name) /* set by the program itself */
            return rli_fail(RLOCK_SERVER, "Redis at %s refused the clientName: %s", address->text, said);
        return RLOCK_OK; /* harmless: this process just cannot be found by its name */
    default:
        return lacks_info(reply->str) ? RLOCK_OK : not_yet(address, said); /* harmless: the run stays unknown */
    }
}

static rlock_status hear(rli_connection *connection, const rli_address *address, login as, enum greeting what,
                         const rli_settings *settings, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR)
        return hear_error(address, as, what, settings, reply);
    if (what == INFO)
        connection->run_id = run_id_of(reply);
    return RLOCK_OK;
}

/* Fails because the greeting could not be sent. A server that turns connections away may have said why. */
static rlock_status hung_up(const rli_connection *connection, const rli_address *address, login as)
{
    redisReply *reply = NULL;
    char said[RLI_ERROR_TEXT];
    rlock_status status;
    rli_connection_receive(connection, rli_now_ms(), -1, false);
    if (rli_connection_parse(connection, &reply) && reply && reply->type == REDIS_REPLY_ERROR)
        status = not_yet(address, rli_reply_error_text(reply, as.password, said));
    else
        status = rli_connection_explain_failure(connection, address);
    freeReplyObject(reply);
    return status;
}

static rlock_status greet(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                          login as, const rli_patience *patience)
{
    bool said[GREETINGS];
    rli_buffer greeting = {0};
    rlock_status status = RLOCK_OK;
    if (!compose(&greeting, settings, address, as, said))
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    else if (!rli_connection_send_all(connection, &greeting, patience))
        status = hung_up(connection, address, as);
    for (enum greeting what = AUTH; what < GREETINGS && status == RLOCK_OK; what++) {
        if (!said[what])
            continue;
        redisReply *reply = rli_connection_next(connection, patience);
        status = reply ? hear(connection, address, as, what, settings, reply)
                       : rli_connection_explain_failure(connection, address);
        freeReplyObject(reply);
    }
    rli_buffer_free(&greeting);
    return status;
}

/* Chooses the login. As in Redisson, a sentinel for which the settings have no password gets the servers'
 * password if it asks for one. */
static login login_to(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                      const rli_patience *patience)
{
    login as = login_at(settings, address);
    if (!address->sentinel || as.password || !settings->password)
        return as;
    const rli_command ping = {.count = 1, .words = (const char *const[]){"PING"}, .lengths = (const size_t[]){4}};
    redisReply *reply = rli_connection_ask(connection, &ping, patience);
    if (reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOAUTH", 6) == 0)
        as.password = settings->password;
    freeReplyObject(reply);
    return as;
}

rlock_status rli_greeting_exchange(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                                   const rli_patience *patience)
{
    return greet(connection, settings, address, login_to(connection, settings, address, patience), patience);
}
