/* TLS: a client that trusts one CA, shows a certificate of its own, and logs in as a user of its own.
 *   tls rediss://locks:secret@redis.example.com:6380 ca.pem orders.pem */
#include <rlock/rlock.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: tls url ca.pem own.pem\n"), 2;
    rlock_config config;
    rlock_config_init(&config);
    config.address = argv[1];
    config.ssl_truststore = argv[2];
    config.ssl_keystore = argv[3]; /* certificate and key, one behind the other */
    rlock_client *client;
    if (rlock_client_open_config(&client, &config) != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_lock(client, "app:order:42");
    int failed = 1;
    RLOCK_WITH(lock) {
        failed = printf("mine for %lld ms\n", (long long)rlock_valid_for(lock)) < 0;
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return failed;
}
