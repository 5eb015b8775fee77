/* Clients that are opened with Redisson's configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/support/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void end(void)
{
    stage_close();
    scratch_remove();
}

TestSuite(yaml_client, .init = stage_open, .fini = end);

/* A config of a file with that text; printf-like. */
__attribute__((format(printf, 1, 2))) static rlock_config config_of(const char *format, ...)
{
    char *text = NULL, path[4200];
    va_list args;
    va_start(args, format);
    cr_assert(vasprintf(&text, format, args) >= 0);
    va_end(args);
    scratch_write("redisson.yaml", text);
    free(text);
    snprintf(path, sizeof path, "%s/redisson.yaml", scratch_folder());
    rlock_config config;
    rlock_config_init(&config);
    assert_ok(rlock_config_load_yaml(&config, path));
    cr_assert(strcmp(rlock_config_warnings(&config), "") == 0, "%s", rlock_config_warnings(&config));
    return config;
}

/* The file goes before the client is used: nothing of it is needed any more. */
static rlock_client *open_and_free(rlock_config *config)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open_config(&client, config);
    rlock_config_free(config);
    scratch_remove();
    assert_ok(status);
    return client;
}

static void assert_locks(rlock_client *client, const char *name, const char *key)
{
    rlock *lock = rlock_get_lock(client, name);
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(stage.server, "HLEN %s", key) == 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "EXISTS %s", key) == 0);
    rlock_free(lock);
}

Test(yaml_client, locks_over_tcp_and_the_socket)
{
    rlock_config config = config_of("singleServerConfig:\n  address: \"%s\"\n", server_tcp_url(stage.server));
    rlock_client *client = open_and_free(&config);
    assert_locks(client, "order", "order");
    rlock_client_close(client);
    config = config_of("{\"singleServerConfig\": {\"address\": \"redis+uds://%s\"}}", server_socket(stage.server));
    client = open_and_free(&config);
    assert_locks(client, "order", "order");
    rlock_client_close(client);
}

/* What the server can see of it: database and name; and the mapper's prefix. */
Test(yaml_client, has_the_database_the_name_and_the_prefix_of_the_file)
{
    rlock_config config = config_of("singleServerConfig:\n  address: \"%s\"\n  database: 3\n  clientName: shop\n"
                                    "nameMapper: !<com.example.PrefixNameMapper> {prefix: \"shop:\"}\n",
                                    server_tcp_url(stage.server));
    rlock_client *client = open_and_free(&config);
    freeReplyObject(server_command(stage.server, "SELECT 3"));
    assert_locks(client, "order", "shop:order");
    freeReplyObject(server_command(stage.server, "SELECT 0"));
    char *clients = server_text(stage.server, "CLIENT LIST");
    cr_assert(strstr(clients, "name=shop"), "%s", clients);
    free(clients);
    rlock_client_close(client);
}

/* A lease that the file gives: the watchdog's. */
Test(yaml_client, has_the_watchdog_timeout_of_the_file)
{
    rlock_config config = config_of("singleServerConfig: {address: \"%s\"}\nlockWatchdogTimeout: 7_000\n",
                                    server_tcp_url(stage.server));
    rlock_client *client = open_and_free(&config);
    rlock *lock = rlock_get_lock(client, "order");
    assert_ok(rlock_lock(lock));
    assert_between(server_integer(stage.server, "PTTL order"), 4000, 7000);
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
    rlock_client_close(client);
}

/* A user's password stands at the top, in the section, or in the address, which goes before the others. */
RealTest(yaml_client, gives_the_user_and_password_of_the_file)
{
    static const char *const users[] = {
        "singleServerConfig: {address: \"redis://127.0.0.1:%d\"}\nusername: alice\npassword: \"s:e@c\"\n",
        "singleServerConfig: {address: \"redis://127.0.0.1:%d\", username: alice, password: \"s:e@c\"}\n",
        "singleServerConfig: {address: \"redis://alice:s%%3Ae%%40c@127.0.0.1:%d\"}\nusername: bob\npassword: x\n",
        "singleServerConfig: {address: \"redis://127.0.0.1:%d\"}\nusername: alice\npassword: ${RLOCK_TEST_PASSWORD}\n",
    };
    setenv("RLOCK_TEST_PASSWORD", "s:e@c", 1);
    freeReplyObject(server_command(stage.server, "ACL SETUSER alice on >s:e@c ~* &* +@all"));
    freeReplyObject(server_command(stage.server, "ACL SETUSER default off"));
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        char text[400];
        snprintf(text, sizeof text, users[i], server_port(stage.server));
        rlock_config config = config_of("%s", text);
        rlock_client *client = open_and_free(&config);
        assert_locks(client, "order", "order");
        rlock_client_close(client);
    }
}

Test(yaml_client, wrong_password_of_the_file_is_refused_and_not_told)
{
    rlock_config config = config_of("singleServerConfig: {address: \"redis://alice:secret@127.0.0.1:%d\"}\n",
                                    server_port(stage.server));
    rlock_client *client = NULL;
    assert_status(rlock_client_open_config(&client, &config), RLOCK_SERVER);
    cr_assert(!strstr(rlock_last_error(), "secret"), "%s", rlock_last_error());
    rlock_config_free(&config);
}
