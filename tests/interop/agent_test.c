/* The agent: what the other tests take for granted about the JVM that they drive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/process.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(agent, .init = java_stage, .fini = java_stage_close);

/* A time that Java took lies between two that C took around it. */
Test(agent, shares_its_clock_with_c)
{
    int64_t before_ns = now_ns();
    const answer *clock = ASK(java, "agent", "clock");
    int64_t after_ns = now_ns();
    assert_between(atoll(clock->text), before_ns, after_ns);
    assert_between(clock->began_ns, before_ns, clock->ended_ns);
    assert_between(clock->ended_ns, clock->began_ns, after_ns);
}

/* Its threads are owners of their own, and one that waits does not keep the others waiting. */
Test(agent, answers_for_each_of_its_threads_alone)
{
    java_lock("t1", "order:42");
    int waiting = java_begin_lock("t2", "order:42");
    cr_assert(!java_try("t3", "order:42", 0, -1));
    cr_assert(java_is_held("t1", "order:42") && !java_is_held("t3", "order:42"));
    cr_assert(!agent_answered(java, waiting, 0));
    java_unlock("t1", "order:42");
    assert_result(agent_await(java, waiting, 5000), "");
    cr_assert(java_is_held("t2", "order:42"));
}

Test(agent, answers_exceptions_with_class_and_message)
{
    const answer *refused = ASK(java, "t1", "lock", "order:42", "unlock");
    assert_thrown(refused, "IllegalMonitorStateException");
    cr_assert(strstr(refused->message, "not locked by current thread") != NULL, "%s", refused->message);
    assert_thrown(ASK(java, "t1", "lock", "order:42", "fly"), "IllegalArgumentException");
}

Test(agent, tells_its_client_id)
{
    const answer *id = ASK(java, "agent", "id");
    cr_assert(strlen(id->text) == 36, "%s", id->text);
    java_lock("t1", "order:42");
    char *keyspace = server_keyspace(stage.server);
    cr_assert(strstr(keyspace, id->text) != NULL, "%s", keyspace);
    free(keyspace);
}

/* It waits for a lock, and leaves all the same, releasing nothing. */
Test(agent, ends_when_its_input_does)
{
    java_lock("t1", "order:42");
    java_begin_lock("t2", "order:42");
    cr_assert(agent_leave(java, 5000));
    cr_assert(server_integer(stage.server, "EXISTS order:42") == 1);
}

static int start_an_agent(void *arg)
{
    atomic_int *pid = arg;
    atomic_store(pid, agent_pid(agent_start()));
    pass_ms(60000);
    return 1;
}

/* The test's process killed, which then can't close anything properly. */
Test(agent, dies_with_the_process_that_started_it)
{
    atomic_int *pid = shared_memory(sizeof *pid);
    pid_t parent = process_start(start_an_agent, pid);
    for (int64_t end_ms = limit_end_ms(20000); !atomic_load(pid) && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(atomic_load(pid) != 0);
    process_kill(parent);
    cr_assert(wait_process_gone(atomic_load(pid), 5000));
}
