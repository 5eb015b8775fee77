/* The names of connections, which lead from a client's id to its process; others may give theirs any name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/config/connection_name.h"
#include "src/locks/inspect/processes.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID "5b6cf7a3-0c7e-4a57-8f1e-7a5d1c9e2f10"

static bool is_text(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

Test(connection_name, is_read_as_it_was_written)
{
    char name[RLI_CONNECTION_NAME], host[256] = "";
    rli_connection_name parts;
    rli_connection_name_write(name, ID);
    for (const char *c = name; *c; c++)
        cr_assert(*c > ' ' && *c <= '~', "Redis refuses \"%s\"", name);
    cr_assert(rli_connection_name_read(&parts, name, strlen(name)), "%s", name);
    gethostname(host, sizeof host - 1);
    cr_assert(is_text(parts.client, parts.client_length, ID) && parts.pid == getpid(), "%s", name);
    if (strlen(host) <= 64 && !strpbrk(host, " :"))
        cr_assert(is_text(parts.host, parts.host_length, host), "%s", name);
}

Test(connection_name, of_another_form_is_none_of_ours)
{
    static const char *const names[] = {
        "", "rlock", "rlock:", "rlock::::", "rlock:a", "rlock:a:b", "rlock:a:b:", "rlock::b:1", "rlock:a::1", "rlock:a:b:x",
        "rlock:a:b:-1", "rlock:a:b:1 ", "rlock:a:b:12345678901", "rlock:a:b:1:2", "Rlock:a:b:1", "xrlock:a:b:1",
    };
    rli_connection_name parts;
    char name[400];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert(!rli_connection_name_read(&parts, names[i], strlen(names[i])), "%s", names[i]);
    memset(name, 'a', sizeof name);
    memcpy(name, "rlock:a:", 8);
    memcpy(name + sizeof name - 2, ":1", 2);
    cr_assert(!rli_connection_name_read(&parts, name, sizeof name));
    cr_assert(rli_connection_name_read(&parts, "rlock:a:b:1", 11) && parts.pid == 1);
}

/* An inspection with a holder "a:1" and a waiter "b:2", both on the heap as rlock_inspect makes them. */
static rlock_inspection *inspection_of_two(void)
{
    rlock_inspection *made = calloc(1, sizeof *made);
    made->holders = calloc(1, sizeof *made->holders);
    made->waiters = calloc(1, sizeof *made->waiters);
    made->holders[0].owner = strdup("a:1");
    made->waiters[0].owner = strdup("b:2");
    made->holder_count = made->waiter_count = 1;
    return made;
}

/* Lines of other programs, of clients that hold nothing, and of versions with other fields. */
Test(connection_name, finds_the_owners_in_a_list_of_clients)
{
    rlock_inspection *seen = inspection_of_two();
    assert_ok(rli_processes_read(seen, "id=1 addr=10.0.0.1:1 laddr=10.0.0.9:6379 fd=8 name= age=1\n"
                                       "id=2 addr=10.0.0.2:2 fd=9 name=rlock:a:web-1:11 age=1 flags=N\n"
                                       "id=3 addr=10.0.0.2:3 fd=9 name=rlock:a:web-1:11 age=1 flags=N\n"
                                       "id=4 fd=9 name=rlock:c:web-1:12\n"
                                       "id=5 fd=9 name=rlock:b:web-1:13\n"
                                       "garbage name=rlock:b:web-1:14\n"
                                       "\n"
                                       "id=6 addr=/tmp/redis.sock:0 name=rlock:b:web-2:22"));
    cr_assert(seen->process_count == 2, "%zu", seen->process_count);
    const rlock_process *holder = rlock_inspection_process(seen, "a:1"), *waiter = rlock_inspection_process(seen, "b:2");
    cr_assert(holder && holder->pid == 11 && strcmp(holder->host, "web-1") == 0);
    cr_assert_str_eq(holder->address, "10.0.0.2:2");
    cr_assert(waiter && waiter->pid == 22 && strcmp(waiter->host, "web-2") == 0);
    cr_assert_str_eq(waiter->address, "/tmp/redis.sock:0");
    cr_assert(!rlock_inspection_process(seen, "a") && !rlock_inspection_process(seen, "ab:1"));
    rlock_inspection_free(seen);
}
