/* docs/examples.md, a C service beside a Spring service: both issue invoice numbers from one file, under one lock, and
 * both read Redisson's configuration file. The Spring service is in docs/examples/spring.
 *
 *     beside_spring REDISSON.YAML FILE COUNT */
#include <rlock/rlock.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads the last number from the file and writes the next one. Returns it; −1: the file could not be read or written. */
static long next_number(const char *path)
{
    long number = 0;
    FILE *file = fopen(path, "r+");
    if (!file)
        return -1;
    if (fscanf(file, "%ld", &number) != 1)
        number = 0;
    rewind(file);
    fprintf(file, "%ld\n", ++number);
    return fclose(file) == 0 ? number : -1;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: beside_spring REDISSON.YAML FILE COUNT\n"), 2;
    rlock_config config;
    rlock_client *client;
    rlock_config_init(&config);
    rlock_status status = rlock_config_load_yaml(&config, argv[1]);
    if (status == RLOCK_OK)
        status = rlock_client_open_config(&client, &config);
    rlock_config_free(&config);
    if (status != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;

    rlock *lock = rlock_get_lock(client, "invoices");
    int issued = 0;
    while (issued < atoi(argv[3])) {
        RLOCK_WITH_STATUS(lock, &status) {
            if (next_number(argv[2]) < 0)
                break;
            issued++;
        }
        if (status != RLOCK_OK) {
            fprintf(stderr, "%s\n", rlock_last_error());
            break;
        }
    }
    printf("C issued %d\n", issued);
    rlock_free(lock);
    rlock_client_close(client);
    return issued != atoi(argv[3]);
}
