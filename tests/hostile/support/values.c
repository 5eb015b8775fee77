/* Values: well-formed RESP of all sorts, odd numbers and texts in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE_OF(by, list) (list)[dice_roll((by), (int)(sizeof(list) / sizeof *(list)))]

void add_text(bytes *to, const char *text)
{
    bytes_add(to, text, strlen(text));
}

void add_format(bytes *to, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bytes_add(to, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

static void add_bulk_bytes(bytes *to, const char *data, size_t length)
{
    add_format(to, "$%zu\r\n", length);
    bytes_add(to, data, length);
    add_text(to, "\r\n");
}

void add_bulk(bytes *to, const char *text)
{
    add_bulk_bytes(to, text, strlen(text));
}

void add_integer_text(dice *by, bytes *to)
{
    static const char *const numbers[] = {
        "0", "1", "2", "-1", "-2", "-3", "10", "255", "1000", "60000", "2147483647", "2147483648", "-2147483648",
        "-2147483649", "4294967295", "4294967296", "-4294967297", "3155760000000", "922337203685477",
        "9007199254740993", "1000000000000000000", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999", "-0", "+1", "007", "",
        "1e18", "0x10", "1.5", " 1", "1 ", "nan", "-", "a",
    };
    add_text(to, ONE_OF(by, numbers));
}

static const char *host(dice *by)
{
    static char long_host[301];
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.1", "127.0.0.1", "", "?", "::1", "[::1]", "localhost",
                                        "127.0.0.1:1", "256.0.0.1", " ", "%s%n", "\x1b[31m", "a:b:c"};
    memset(long_host, 'h', sizeof long_host - 1);
    int rolled = dice_roll(by, 30);
    return rolled == 0 ? long_host : ONE_OF(by, hosts);
}

static void add_port(dice *by, const hostile_ports *ports, bytes *to)
{
    static const char *const odd[] = {"0", "-1", "65536", "99999999999999999999", "x", ""};
    if (dice_roll(by, 4))
        add_format(to, "%d", ports->all[dice_roll(by, HOSTILE_PORTS)]);
    else
        add_text(to, ONE_OF(by, odd));
}

static void add_redirect(dice *by, const hostile_ports *ports, bytes *to)
{
    static const char *const forms[] = {"MOVED", "MOVED ", "ASK ", "ASK", "MOVED  ", "ASK 1", "MOVED 1 ", "ASK 1 :"};
    if (dice_roll(by, 6) == 0) {
        add_format(to, "-%s\r\n", ONE_OF(by, forms));
        return;
    }
    add_text(to, dice_roll(by, 2) ? "-MOVED " : "-ASK ");
    if (dice_roll(by, 3))
        add_format(to, "%d", dice_roll(by, 16384));
    else
        add_integer_text(by, to);
    add_format(to, " %s:", host(by));
    add_port(by, ports, to);
    add_text(to, "\r\n");
}

void add_error(dice *by, const hostile_ports *ports, bytes *to)
{
    static const char *const errors[] = {
        "", " ", "ERR", "ERR ", "NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT", "LOADING",
        "LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.", "READONLY",
        "ERR Error running script: @user_script: 1: -READONLY", "MASTERDOWN Link with MASTER is down", "CLUSTERDOWN",
        "CLUSTERDOWN Hash slot not served", "TRYAGAIN Multiple keys request during rehashing of slot", "BUSY Redis is busy",
        "NOREPLICAS Not enough good replicas to write.", "OOM command not allowed when used memory > 'maxmemory'.",
        "NOPERM this user has no permissions to access one of the keys", "NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair or user is disabled.", "WRONGTYPE Operation against a key",
        "MISCONF Redis is configured to save RDB snapshots", "ERR unknown command 'EVALSHA', with args beginning with: 'x' ",
        "ERR unknown command `SSUBSCRIBE`", "ERR max number of clients reached", "DENIED Redis is running in protected mode",
        "ERR invalid DB index", "ERR Protocol error: invalid bulk length", "UNBLOCKED force unblock", "EXECABORT",
        "CROSSSLOT Keys in request don't hash to the same slot", "-MOVED 1 127.0.0.1:1", "ERR \x1b[2J\xc2\x9b%s%n%s",
        "ERR Script attempted to access a non local key in a cluster node", "ERR No such master with that name",
        "IDONTKNOW", "NOGOODSLAVE", "INPROG", "ERR This instance has cluster support disabled",
    };
    if (dice_roll(by, 3) == 0)
        add_redirect(by, ports, to);
    else
        add_format(to, "-%s\r\n", ONE_OF(by, errors));
}

static void add_any_bulk(dice *by, bytes *to)
{
    static const char *const texts[] = {
        "", "0", "1", "-1", "read", "write", "mode", "message", "subscribe", "OK", "%s%n%s%n", "\xff\xfe", "\x1b[31m",
        "01234567-0123-4123-8123-0123456789ab:1", "01234567-0123-4123-8123-0123456789ab", ":", ":1", "run_id:",
        "run_id:zzzzzzzzzzzzzzzzzzzzzzzz", "role:master\r\nconnected_slaves:-5\r\n", "role:master\r\nconnected_slaves:99999999999",
        "role:slave", "cluster_current_epoch:99999999999999999999", "cluster_current_epoch:1",
        "1 3000", "2 30000", "3 1", "4 999999999999999999", /* offers */
    };
    static char large[5000];
    switch (dice_roll(by, 8)) {
    case 0:
        memset(large, "x:1\n"[dice_roll(by, 4)], sizeof large);
        add_bulk_bytes(to, large, sizeof large);
        break;
    case 1:
        add_bulk_bytes(to, "a\0b:1", 5);
        break;
    case 2: {
        bytes number = {0};
        add_integer_text(by, &number);
        add_bulk_bytes(to, number.data ? number.data : "", number.length);
        bytes_free(&number);
        break;
    }
    default:
        add_bulk(to, ONE_OF(by, texts));
    }
}

/* Of the third version of the protocol, which nobody has asked for. */
static void add_third(dice *by, bytes *to)
{
    static const char *const values[] = {
        "_\r\n", "#t\r\n", "#f\r\n", ",1.5\r\n", ",inf\r\n", ",nan\r\n", "(3492890328409238509324850943850943825024385\r\n",
        "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n", "%1\r\n+a\r\n:1\r\n", "~2\r\n:1\r\n:2\r\n", ">2\r\n+a\r\n:1\r\n",
        "|1\r\n+ttl\r\n:3600\r\n:1\r\n",
    };
    add_text(to, ONE_OF(by, values));
}

void add_value(dice *by, const hostile_ports *ports, int depth, bytes *to)
{
    int elements;
    switch (dice_roll(by, 10)) {
    case 0:
    case 1:
        add_text(to, ":");
        add_integer_text(by, to);
        add_text(to, "\r\n");
        break;
    case 2:
    case 3:
        add_any_bulk(by, to);
        break;
    case 4:
        add_text(to, dice_roll(by, 2) ? "+OK\r\n" : "+\r\n");
        break;
    case 5:
        add_error(by, ports, to);
        break;
    case 6:
        add_text(to, dice_roll(by, 2) ? "$-1\r\n" : "*-1\r\n");
        break;
    case 7:
        add_third(by, to);
        break;
    default:
        elements = depth > 0 ? dice_roll(by, 9) : 0;
        add_format(to, "*%d\r\n", elements);
        for (int i = 0; i < elements; i++)
            add_value(by, ports, depth - 1, to);
    }
}

void add_push(dice *by, const char *channel, bytes *to)
{
    static const char *const kinds[] = {"message", "smessage", "pmessage", "subscribe", "ssubscribe", "unsubscribe",
                                        "sunsubscribe", "punsubscribe", "pong", "invalidate", ""};
    static const char *const others[] = {"+switch-master", "redisson_lock__channel:{other}", "", "x"};
    add_text(to, dice_roll(by, 10) ? "*3\r\n" : ">3\r\n");
    add_bulk(to, ONE_OF(by, kinds));
    if (dice_roll(by, 8) == 0)
        add_text(to, "$-1\r\n");
    else
        add_bulk(to, channel && dice_roll(by, 3) ? channel : ONE_OF(by, others));
    switch (dice_roll(by, 4)) {
    case 0:
        add_text(to, ":1\r\n");
        break;
    case 1:
        add_text(to, "*2\r\n:1\r\n:2\r\n");
        break;
    default:
        add_any_bulk(by, to);
    }
}
