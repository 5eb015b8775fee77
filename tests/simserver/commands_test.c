/* Single commands: the model answers as a real server does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/hunt.h"

#include "tests/support/test.h"

TestSuite(model_commands);

#define CHOICES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const hunt_blank blanks[] = {
    {'k', CHOICES("a", "b", "c", "d", "a{b", "ä")},
    {'f', CHOICES("f", "g", "owner:1", "owner:2", "mode")},
    {'v', CHOICES("1", "0", "-5", "abc", "~", "9223372036854775807", "-9223372036854775808", "1.5", "007", "f", "\r\n")},
    {'n', CHOICES("0", "1", "2", "-1", "-2", "5", "100", "-100", "x", "1.5", "~", "9223372036854775807",
                  "-9223372036854775808", "9223372036854775808", "+1", "01", "-0")},
    {'i', CHOICES("0", "1", "2", "3", "-1", "-2", "-3", "10", "-10")},
    {'s', CHOICES("0", "1", "2", "-1", "1.5", "0.1", "3", "1e3", "inf", "-inf", "nan", "abc", "1893456000123", "1e17",
                  "123456789012345678", "1.1e-7", "3.0", "922337203685477", "~", "-0", "1e300")},
    {'b', CHOICES("$s", "($s", "-inf", "+inf")},
    {'m', CHOICES("1", "2", "10", "20", "1000", "30000", "0", "-1", "x", "9223372036854775807", "3153600000000")},
    {'e', CHOICES("~", "NX", "XX", "GT", "LT", "NX XX", "GT LT", "xx gt", "ZZ")},
    {'z', CHOICES("NX", "XX", "GT", "LT", "CH", "INCR", "XX CH", "XX INCR", "GT CH", "NX GT", "ch")},
    {'w', CHOICES("WITHSCORES", "BYSCORE", "REV", "BYSCORE REV", "BYSCORE LIMIT $i $i", "LIMIT 0 1", "REV WITHSCORES",
                  "BYSCORE WITHSCORES", "XX")},
    {'g', CHOICES("WEIGHTS 1 $s", "WEIGHTS 1 -5", "AGGREGATE MIN", "AGGREGATE MAX", "AGGREGATE SUM", "WEIGHTS 2 3 AGGREGATE MAX",
                  "WEIGHTS 1", "AGGREGATE")},
    {'o', CHOICES("NX", "XX", "GET", "PX $m", "EX $m", "KEEPTTL", "NX PX $m", "XX PX $m", "GET PX $m", "PX $m EX $m", "PX",
                  "KEEPTTL PX 10", "nx px 50", "XX GET", "PXAT 1893456100000", "EXAT 1893456100")},
    {'l', CHOICES("RANK $i", "COUNT $i", "MAXLEN $i", "RANK $i COUNT $i", "COUNT 0 MAXLEN 3", "RANK")},
    {'h', CHOICES("ch1", "ch2", "ch:3")},
    {'p', CHOICES("ch*", "ch?", "*", "ch[12]", "ch[^1]", "c\\h1", "x*")},
    {'q', CHOICES("ch[12]", "ch:\\3", "x*")}, /* no two for one channel: which is told first is open */
    {0},
};

static const hunt_phrase phrases[] = {
    {"GET $k", 3}, {"SET $k $v", 4}, {"SET $k $v $o", 6}, {"SETNX $k $v", 1}, {"SETEX $k $m $v", 1}, {"PSETEX $k $m $v", 1},
    {"GETDEL $k", 1}, {"GETSET $k $v", 1}, {"STRLEN $k", 1}, {"APPEND $k $v", 1}, {"MGET $k $k", 1}, {"MSET $k $v $k $v", 1},
    {"MSET $k $v $k", 1}, {"INCR $k", 2}, {"DECR $k", 2}, {"INCRBY $k $n", 3}, {"DECRBY $k $n", 3},
    {"HSET $k $f $v", 6}, {"HSET $k $f $v $f $v", 2}, {"HSET $k $f", 1}, {"HMSET $k $f $v", 1}, {"HSETNX $k $f $v", 1},
    {"HGET $k $f", 2}, {"HMGET $k $f $f", 1}, {"HDEL $k $f", 3}, {"HDEL $k $f $f", 1}, {"HEXISTS $k $f", 2}, {"HLEN $k", 2},
    {"HSTRLEN $k $f", 1}, {"HGETALL $k", 2}, {"HKEYS $k", 1}, {"HSCAN $k 0 MATCH $f", 2}, {"HSCAN $k 0 MATCH g COUNT $n", 1}, {"HSCAN $k x", 1},
    {"HSCAN $k 0 MATCH ~ COUNT 2", 1}, {"HSCAN $k 0 TYPE hash", 1}, {"SCAN 0 COUNT 1000 MATCH $k TYPE hash", 1},
    {"SCAN 0 MATCH $k COUNT 1000 TYPE string", 1}, {"SCAN 0 TYPE", 1}, {"SCAN 0 COUNT 1000 MATCH", 1}, {"SCAN 0 TYPE hash COUNT 0", 1},
    {"HVALS $k", 1}, {"HINCRBY $k $f $n", 4},
    {"RPUSH $k $v", 5}, {"LPUSH $k $v $v", 3}, {"RPUSHX $k $v", 1}, {"LPUSHX $k $v", 1}, {"LPOP $k", 2}, {"RPOP $k", 2},
    {"LPOP $k $n", 2}, {"RPOP $k $n", 1}, {"LLEN $k", 1}, {"LINDEX $k $n", 3}, {"LSET $k $n $v", 2}, {"LRANGE $k $n $n", 3},
    {"LRANGE $k $i $i", 2}, {"LTRIM $k $i $i", 1}, {"LREM $k $i $v", 3}, {"LINSERT $k BEFORE $v $v", 1},
    {"LINSERT $k after $v $v", 1}, {"BLPOP $k -1", 1}, {"BLPOP $k x", 1}, {"BRPOP $k", 1}, {"LPOS $k $v", 2}, {"LPOS $k $v $l", 3},
    {"SADD $k $f $v", 4}, {"SREM $k $f $v", 3}, {"SISMEMBER $k $f", 1}, {"SMISMEMBER $k $f $v", 1}, {"SCARD $k", 1},
    {"SMEMBERS $k", 1},
    {"ZADD $k $s $f", 8}, {"ZADD $k $s $f $s $f", 4}, {"ZADD $k $z $s $f", 6}, {"ZADD $k $z $s $f $s $f", 2},
    {"ZINCRBY $k $s $f", 2}, {"ZREM $k $f $f", 2}, {"ZSCORE $k $f", 2}, {"ZMSCORE $k $f $f", 1}, {"ZCARD $k", 1},
    {"ZCOUNT $k $b $b", 3}, {"ZRANK $k $f", 1}, {"ZREVRANK $k $f", 1}, {"ZRANGE $k $i $i", 2}, {"ZRANGE $k $i $i WITHSCORES", 2},
    {"ZRANGE $k $b $b $w", 4}, {"ZREVRANGE $k $i $i WITHSCORES", 1}, {"ZRANGEBYSCORE $k $b $b", 2},
    {"ZRANGEBYSCORE $k $b $b WITHSCORES LIMIT $i $i", 1}, {"ZREVRANGEBYSCORE $k $b $b", 1}, {"ZREMRANGEBYRANK $k $i $i", 2},
    {"ZREMRANGEBYSCORE $k $b $b", 2}, {"ZPOPMIN $k", 1}, {"ZPOPMAX $k $n", 1}, {"ZUNIONSTORE $k 2 $k $k", 2},
    {"ZUNIONSTORE $k 2 $k $k $g", 3}, {"ZINTERSTORE $k 2 $k $k", 2}, {"ZINTERSTORE $k 2 $k $k $g", 3},
    {"ZUNIONSTORE $k $n $k", 1}, {"ZINTERSTORE $k $n $k $k", 1},
    {"DEL $k", 3}, {"DEL $k $k", 1}, {"UNLINK $k", 1}, {"EXISTS $k $k", 2}, {"TOUCH $k", 1}, {"TYPE $k", 2}, {"RENAME $k $k", 1},
    {"RENAMENX $k $k", 1}, {"KEYS *", 1}, {"KEYS $p", 1}, {"FLUSHDB", 1}, {"FLUSHALL ASYNC", 1}, {"FLUSHALL NOW", 1},
    {"PEXPIRE $k $m", 8}, {"EXPIRE $k $m", 2}, {"PEXPIRE $k $m $e", 4}, {"EXPIRE $k $m $e", 1}, {"PEXPIREAT $k 1893456100000", 1},
    {"EXPIREAT $k 1893456001", 1}, {"PERSIST $k", 2}, {"PTTL $k", 5}, {"TTL $k", 2}, {"PEXPIRETIME $k", 1},
    {"SUBSCRIBE $h", 3}, {"UNSUBSCRIBE $h", 2}, {"PSUBSCRIBE $q", 1}, {"PUNSUBSCRIBE $q", 2}, {"SSUBSCRIBE $h", 2},
    {"SUNSUBSCRIBE $h", 1}, {"PUBLISH $h $v", 8}, {"SPUBLISH $h $v", 4}, {"PUBSUB NUMSUB $h $h", 2}, {"PUBSUB NUMSUB", 1},
    {"PUBSUB SHARDNUMSUB $h", 1}, {"PUBSUB SHARDNUMSUB", 1}, {"PUBSUB NUMPAT", 1}, {"PUBSUB CHANNELS", 1}, {"PUBSUB NOSUCH", 1},
    {"PUBSUB NUMPAT x", 1},
    {"PING", 1}, {"PING $v", 1}, {"PING a b", 1}, {"ECHO $v", 1}, {"TIME", 3}, {"SELECT 0", 1}, {"SELECT $n", 1}, {"DBSIZE x", 1},
    {"MULTI", 3}, {"EXEC", 6}, {"DISCARD", 2}, {"NOSUCH $v $v", 1}, {"GET", 1}, {"get $k $v", 1}, {"HSET $k", 1},
    {"CLIENT SETNAME $f", 1}, {"CLIENT SETNAME a\rb", 1}, {"CLIENT GETNAME", 1}, {"CLIENT NOSUCH", 1}, {"CLIENT", 1},
    {"WAIT 0 0", 1}, {"WAIT $n", 1}, {"ROLE x", 1}, {"AUTH x", 1}, {"SCRIPT KILL", 1}, {"SCRIPT EXISTS x", 1},
    {"CLUSTER SLOTS", 1}, {"ASKING", 1}, {"EVALSHA 0123456789012345678901234567890123456789 0", 1}, {"EVALSHA x 0", 1},
    {"SENTINEL MASTERS", 1}, {"WAIT 0 -1", 1}, {"WAIT 0 x", 1},
    {"CLIENT PAUSE -1", 1}, {"CLIENT PAUSE x", 1}, {"CLIENT PAUSE 1 NOW", 1},
    {"CLIENT PAUSE x WRITE", 1},
    {0},
};

/* Commands of every kind on a few keys, with sense and without. */
Test(model_commands, are_answered_as_a_real_server_does)
{
    hunt_run(&(hunt_plan){.phrases = phrases, .blanks = blanks, .sequences = 300, .steps = 150});
}
