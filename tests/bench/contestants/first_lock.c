/* The shortest program with a lock: opens a client, takes one, says so on a line, and gives it back at
 * the end of its input. Linked with librlock.so as a user's program would be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/rlock.h>

#include <stdio.h>
#include <unistd.h>

static int fail(void)
{
    fprintf(stderr, "first_lock: %s\n", rlock_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    rlock_client *client = NULL;
    char byte;
    if (argc != 3 || rlock_client_open(&client, argv[1]) != RLOCK_OK)
        return fail();
    rlock *lock = rlock_get_lock(client, argv[2]);
    if (!lock || rlock_lock(lock) != RLOCK_OK || write(STDOUT_FILENO, "locked\n", 7) != 7)
        return fail();
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    if (rlock_unlock(lock) != RLOCK_OK)
        return fail();
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
