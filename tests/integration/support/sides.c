/* Sides: handles on both sides of the stage's read-write lock, and what stands under its name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/sides.h"

#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"

static rlock *side_of(rlock_client *client, const char *name, rlock *(*side)(rlock_read_write_lock *))
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(client, name);
    rlock *lock = pair ? side(pair) : NULL;
    rlock_read_write_lock_free(pair);
    return lock;
}

rlock *get_read(rlock_client *client, const char *name)
{
    return side_of(client, name, rlock_read_lock);
}

rlock *get_write(rlock_client *client, const char *name)
{
    return side_of(client, name, rlock_write_lock);
}

rlock *read_of(rlock_client *client, const char *name)
{
    return kind_of(&kind_read, client, name);
}

rlock *write_of(rlock_client *client, const char *name)
{
    return kind_of(&kind_write, client, name);
}

int64_t timeout_of(int n)
{
    redisReply *keys = server_command(stage.server, "KEYS *:rwlock_timeout:%d", n);
    cr_assert(keys->elements <= 1, "%zu owners have %d holds", keys->elements, n);
    int64_t pttl_ms = keys->elements ? server_integer(stage.server, "PTTL %s", keys->element[0]->str) : -2;
    freeReplyObject(keys);
    return pttl_ms;
}

int timeouts(void)
{
    redisReply *keys = server_command(stage.server, "KEYS *:rwlock_timeout:*");
    int count = (int)keys->elements;
    freeReplyObject(keys);
    return count;
}

static rlock_status try_and_give_back(rlock *side)
{
    rlock_status status = rlock_try_lock(side, 0, 60000);
    return status == RLOCK_OK ? rlock_unlock(side) : status;
}

rlock_status others_read(const char *name)
{
    return try_and_give_back(read_of(stage.other, name));
}

rlock_status others_write(const char *name)
{
    return try_and_give_back(write_of(stage.other, name));
}
