/* A group lock: several values of one group, held together. Java takes the same one with
 * client.getMultiLock("class_100", List.of("Jack_001", "Mary_002")). */
#include <rlock/rlock.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const students[] = {"Jack_001", "Mary_002"};
    rlock_client *client;
    if (rlock_client_open(&client, argc > 1 ? argv[1] : "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_group_lock_of_strings(client, "class_100", RLOCK_CODEC_KRYO5, students, 2);
    int failed = 1;
    RLOCK_WITH(lock) {
        printf("nobody else holds Jack or Mary, alone or with others\n");
        failed = 0;
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return failed;
}
