/* The rlock command on Redisson's configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/stage.h"
#include "tests/support/certificates.h"
#include "tests/support/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void end(void)
{
    stage_close();
    scratch_remove();
}

TestSuite(command_config, .init = stage_open, .fini = end);

#define NAME "order"

/* The path of a file for the stage's server, with further lines for the section and the top. */
static const char *file_with(const char *section, const char *top)
{
    static char path[4200];
    char text[1000];
    snprintf(text, sizeof text, "singleServerConfig:\n  address: \"redis+uds://%s\"\n%s%s", server_socket(stage.server),
             section, top);
    scratch_write("redisson.yaml", text);
    snprintf(path, sizeof path, "%s/redisson.yaml", scratch_folder());
    return path;
}

static void assert_outcome(outcome found, int status, const char *out, const char *err)
{
    cr_assert(found.status == status, "%d instead of %d: %s", found.status, status, found.err);
    cr_assert(strstr(found.out, out), "\"%s\" is not in: %s", out, found.out);
    cr_assert(strstr(found.err, err), "\"%s\" is not in: %s", err, found.err);
    cr_assert(*err || !*found.err, "%s", found.err);
    outcome_free(&found);
}

/* The prefix shows that the file was followed. */
Test(command_config, locks_with_the_settings_of_the_file)
{
    const char *path = file_with("  clientName: nightly\n", "nameMapper: !<a.PrefixMapper> {prefix: \"shop:\"}\n");
    command *c = command_start("unix:///no/server/here", COMMAND("run", "--config", path, NAME, "--", "cat"));
    cr_assert(server_wait_exists(stage.server, "shop:" NAME, true, 10000));
    char *clients = server_text(stage.server, "CLIENT LIST");
    cr_assert(strstr(clients, "name=nightly"), "%s", clients);
    free(clients);
    assert_outcome(command_outcome(NULL, COMMAND("inspect", "--config", path, NAME)), 0, "lock", "");
    command_close_input(c);
    cr_assert(command_wait(c, 10000) == 0, "%s", command_err(c));
    command_free(c);
    assert_outcome(command_outcome(NULL, COMMAND("force-unlock", "--config", path, NAME)), 0, "", "");
}

/* As Java does with the same file. */
Test(command_config, writes_the_values_of_a_group_by_the_codec_of_the_file)
{
    const char *path = file_with("", "codec: !<org.redisson.client.codec.StringCodec> {}\n"), *url = server_url(stage.server);
    command *c = command_start(NULL, COMMAND("run", "--config", path, "--kind", "group", "--value", "a", NAME, "--", "cat"));
    cr_assert(server_wait_exists(stage.server, NAME, true, 10000));
    assert_outcome(command_outcome(url, COMMAND("run", "--kind", "group", "--codec", "string", "--value", "a", "-n", NAME,
                                                "--", "true")), 75, "", "held by another");
    assert_outcome(command_outcome(url, COMMAND("run", "--kind", "group", "--value", "a", "-n", NAME, "--", "true")), 0, "", "");
    command_close_input(c);
    cr_assert(command_wait(c, 10000) == 0, "%s", command_err(c));
    command_free(c);
    assert_outcome(command_outcome(NULL, COMMAND("run", "--config", path, "--kind", "group", "--codec", "kryo5", "--value",
                                                 "a", NAME, "--", "true")), 64, "", "the configuration says STRING");
}

Test(command_config, takes_the_file_from_the_environment_when_no_option_says_otherwise)
{
    char words[5000];
    const char *path = file_with("", "");
    snprintf(words, sizeof words, "unset RLOCK_URL; RLOCK_CONFIG='%s' \"$RLOCK_COMMAND\" inspect " NAME, path);
    command *c = command_start_program(NULL, COMMAND("sh", "-c", words));
    cr_assert(command_wait(c, 30000) == 0, "%s", command_err(c));
    command_free(c);
    snprintf(words, sizeof words, "RLOCK_CONFIG=/no/such/file \"$RLOCK_COMMAND\" inspect --url '%s' " NAME,
             server_url(stage.server));
    c = command_start_program(NULL, COMMAND("sh", "-c", words));
    cr_assert(command_wait(c, 30000) == 0, "%s", command_err(c));
    command_free(c);
}

Test(command_config, tells_what_it_does_not_follow_and_goes_on)
{
    const char *path = file_with("", "colour: red\n");
    assert_outcome(command_outcome(NULL, COMMAND("run", "--config", path, NAME, "--", "echo", "done")), 0, "done\n",
                   "redisson.yaml:3: unknown key \"colour\"");
}

Test(command_config, refuses_wrong_files_with_64)
{
    assert_outcome(command_outcome(NULL, COMMAND("inspect", "--config", "/no/such/file", NAME)), 64, "",
                   "rlock: --config: the configuration file /no/such/file cannot be read");
    assert_outcome(command_outcome(NULL, COMMAND("inspect", "--config", file_with("  timeout: soon\n", ""), NAME)), 64,
                   "", "redisson.yaml:3: timeout is \"soon\"");
    const char *path = file_with("", "nameMapper: !<com.example.Tenants> {}\n");
    assert_outcome(command_outcome(NULL, COMMAND("run", "--config", path, NAME, "--", "true")), 64, "",
                   "{prefix: \"…\"}, or use --url with ?namePrefix=\n");
}

Test(command_config, refuses_to_choose_between_two_places)
{
    const char *path = file_with("", ""), *url = server_url(stage.server);
    assert_outcome(command_outcome(NULL, COMMAND("inspect", "--config", path, "--url", url, NAME)), 64, "",
                   "--url and --config are both given");
    char words[5000];
    snprintf(words, sizeof words, "RLOCK_CONFIG='%s' \"$RLOCK_COMMAND\" inspect " NAME, path);
    command *c = command_start_program(url, COMMAND("sh", "-c", words));
    cr_assert(command_wait(c, 30000) == 64);
    cr_assert(strstr(command_err(c), "RLOCK_URL and RLOCK_CONFIG are both set"), "%s", command_err(c));
    command_free(c);
}

/* Other users of the machine see it in ps(1), for as long as rlock runs. */
Test(command_config, password_on_the_command_line_is_not_seen_there_later)
{
    char url[4200];
    texts kept = {0};
    server *own = server_start_with(certificates_args(&kept, CERTIFICATE_SERVER, "no", NULL));
    freeReplyObject(server_command(own, "ACL SETUSER bob on >secret ~* &* +@all"));
    snprintf(url, sizeof url, "rediss://bob:secret@127.0.0.1:%d/0?sslTruststore=%s&sslTruststorePassword=hush&timeout=3000",
             server_port(own), certificate_file(CERTIFICATE_AUTHORITY));
    outcome found = command_outcome(
        NULL, COMMAND("run", "--url", url, "order", "--", "sh", "-c", "tr '\\0' ' ' < /proc/$PPID/cmdline"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    cr_assert(!strstr(found.out, "secret") && !strstr(found.out, "hush"), "%s", found.out);
    snprintf(url, sizeof url, "@127.0.0.1:%d/0?sslTruststore=%s&sslTruststorePassword=****&timeout=3000 order -- sh -c tr",
             server_port(own), certificate_file(CERTIFICATE_AUTHORITY));
    cr_assert(strstr(found.out, url), "%s", found.out);
    outcome_free(&found);
    server_stop(own);
    texts_free(&kept);
}
