/* docs/count-down-latch.md's example: wait until as many parts are done as were begun. Run it once with
 * "wait", and three times with "done". */
#include <rlock/rlock.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_count_down_latch *parts = rlock_get_count_down_latch(client, "parts");
    rlock_status status;
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        status = rlock_count_down_latch_try_set_count(parts, 3, NULL);
        if (status == RLOCK_OK)
            status = rlock_count_down_latch_try_await(parts, 60000);
        if (status == RLOCK_OK)
            printf("all parts are done\n");
    } else {
        status = rlock_count_down_latch_count_down(parts);
    }
    if (status != RLOCK_OK)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_count_down_latch_free(parts);
    rlock_client_close(client);
    return status != RLOCK_OK;
}
