/* A client with the configuration file of a Java service. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/rlock.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    rlock_config config;
    rlock_config_init(&config);
    if (rlock_config_load_yaml(&config, argc > 1 ? argv[1] : "redisson.yaml") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    fputs(rlock_config_warnings(&config), stderr);
    config.client_name = "nightly-report"; /* the program's word goes last */

    rlock_client *client;
    rlock_status status = rlock_client_open_config(&client, &config);
    rlock_config_free(&config);
    if (status != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_lock(client, "order:42");
    RLOCK_WITH(lock) {
        printf("mine, and no Java process has it\n");
    }
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
