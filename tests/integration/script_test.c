/* Scripts: what the server gets of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scripts.h"

#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

TestSuite(script, .init = stage_open, .fini = stage_close);

/* Only so is it found by its SHA1 after it came as a text. */
Test(script, every_form_of_each_has_the_sha1_that_it_is_called_by)
{
    size_t count = 0;
    for (; rli_scripts[count]; count++) {
        for (rli_pubsub_mode spread = 0; spread < RLI_PUBSUB_MODES; spread++)
            server_load(stage.server, rli_scripts[count], spread);
    }
    cr_assert(count > 40);
}

static size_t count_of(const char *what, const char *text)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

/* The one who listens by slot does not hear what is published otherwise. */
Test(script, messages_are_spread_in_one_way_by_each_form)
{
    size_t messages = 0;
    for (size_t i = 0; rli_scripts[i]; i++) {
        char *counted = script_text(rli_scripts[i], RLI_COUNTED), *scattered = script_text(rli_scripts[i], RLI_SCATTERED),
             *sharded = script_text(rli_scripts[i], RLI_SHARDED);
        size_t published = count_of("call('publish'", counted), asked = count_of("'numsub'", counted);
        messages += published;
        cr_assert(count_of("call('publish'", scattered) == published && count_of("call('spublish'", sharded) == published);
        cr_assert(count_of("'numsub'", scattered) == asked && count_of("'shardnumsub'", sharded) == asked);
        cr_assert(!count_of("spublish", counted) && !count_of("spublish", scattered) && !count_of("'publish'", sharded));
        cr_assert(!count_of("counted = false", counted) && !count_of("counted = true", scattered) &&
                  !count_of("counted = false", sharded));
        free(counted);
        free(scattered);
        free(sharded);
    }
    cr_assert(messages > 20, "%zu", messages);
}

/* --- what is told to those who sleep until the lock's time is up --- */

#define NAME "order"

/* The field of a session that is over is replaced by one with a shorter lease. */
static void replace(const rli_script *script, const char *field, const char *mode, const char *channel,
                    const char *message, const char *arguments)
{
    char *text = script_text(script, RLI_COUNTED);
    char format[200] = "EVAL %s ";
    strcat(format, arguments);
    server_listen(stage.server);
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    if (mode)
        freeReplyObject(server_command(stage.server, "HSET " NAME " mode %s", mode));
    freeReplyObject(server_command(stage.server, "HSET " NAME " %s 1", field));
    freeReplyObject(server_command(stage.server, "PEXPIRE " NAME " 600000"));
    freeReplyObject(server_command(stage.server, format, text, ""));
    assert_between(pttl_of(NAME), 1, 60000);
    cr_assert(server_heard(stage.server, channel, message, 10000), "nobody is told");
    free(text);
}

Test(script, that_replaces_a_field_tells_those_who_wait)
{
    replace(&rli_script_lock_acquire, "old", NULL, channel_of(NAME), "0",
            "1 " NAME " new 60000 1 old redisson_lock__channel:{" NAME "}");
}

Test(script, of_a_fenced_lock_that_replaces_a_field_tells_those_who_wait)
{
    replace(&rli_script_fenced_acquire, "old", NULL, channel_of(NAME), "0",
            "2 " NAME " counter new 60000 1 old redisson_lock__channel:{" NAME "}");
}

Test(script, of_a_read_lock_that_replaces_a_field_tells_those_who_wait)
{
    replace(&rli_script_read_acquire, "old", "read", "redisson_rwlock:{" NAME "}", "0",
            "2 " NAME " {" NAME "}: new 60000 1 old %s redisson_rwlock:{" NAME "}");
}

/* Another reader stays, but the lock is closed to writers for less time than they were told. */
Test(script, of_a_read_lock_that_takes_a_longer_lease_away_tells_those_who_wait)
{
    char *text = script_text(&rli_script_read_acquire, RLI_COUNTED);
    server_listen(stage.server);
    freeReplyObject(server_command(stage.server, "HSET " NAME " mode read old:1 1 other:2 1"));
    freeReplyObject(server_command(stage.server, "SET {" NAME "}:old:1:rwlock_timeout:1 1 PX 600000"));
    freeReplyObject(server_command(stage.server, "SET {" NAME "}:other:2:rwlock_timeout:1 1 PX 60000"));
    freeReplyObject(server_command(stage.server, "PEXPIRE " NAME " 600000"));
    freeReplyObject(server_command(stage.server,
                                   "EVAL %s 2 " NAME " {" NAME "}: new:3 30000 1 old:1 %s redisson_rwlock:{" NAME "}",
                                   text, ""));
    assert_between(pttl_of(NAME), 30001, 60000);
    cr_assert(server_heard(stage.server, "redisson_rwlock:{" NAME "}", "0", 10000), "nobody is told");
    free(text);
}

Test(script, of_a_write_lock_that_replaces_a_field_tells_those_who_wait)
{
    replace(&rli_script_write_acquire, "old:write", "write", "redisson_rwlock:{" NAME "}", "1",
            "2 " NAME " {" NAME "}: redisson_rwlock:{" NAME "} new 60000 1 old");
}
