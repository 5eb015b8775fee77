/* The fixture itself: what the other tests rely on when they fail or pass. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/facts.h"
#include "tests/support/event.h"
#include "tests/support/server.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(fixture);

static void assert_text(char *got, const char *expected)
{
    cr_assert(strcmp(got, expected) == 0, "got:\n%s\nexpected:\n%s", got, expected);
    free(got);
}

Test(fixture, keyspace_reads_as_the_golden_file)
{
    server *own = server_start();
    freeReplyObject(server_command(own, "HSET order:42 id:1 2"));
    freeReplyObject(server_command(own, "RPUSH list b a"));
    freeReplyObject(server_command(own, "ZADD zset 12 a 11 b"));
    freeReplyObject(server_command(own, "SET %b 5", "\xc3\xa4z", (size_t)3));
    assert_text(server_keyspace(own), "list list [b, a] \n"
                                      "order:42 hash [id:1, 2] \n"
                                      "zset zset [b, 11, a, 12] \n"
                                      "\\xc3\\xa4z string 5 \n");
    server_stop(own);
}

/* Permit ids are any bytes: also such as the text of a keyspace is written with. */
Test(fixture, keyspace_without_owners_has_no_byte_of_a_permit_id)
{
    server *own = server_start();
    freeReplyObject(server_command(own, "ZADD {pe}:timeout 1 %b 1795242840144 %b", "]a, b] \\x41\n[\0\xff" "9", (size_t)16,
                                   "123456789012345\\", (size_t)16));
    char *keyspace = server_keyspace(own);
    assert_text(without_owners(keyspace), "{pe}:timeout zset [ID, 1, ID, TIME] \n");
    free(keyspace);
    server_stop(own);
}

Test(fixture, ear_hears_whole_messages_alone_and_survives_a_restart)
{
    server *own = server_start();
    server_listen(own);
    cr_assert(server_integer(own, "PUBLISH channel message") == 1);
    cr_assert(server_heard(own, "channel", "message", 5000));
    cr_assert(!server_heard(own, "channel", "mess", 0));
    cr_assert(!server_heard(own, "hannel", "message", 0));
    server_restart(own);
    cr_assert(server_integer(own, "PUBLISH channel again") == 1);
    cr_assert(server_heard(own, "channel", "again", 5000));
    assert_text(server_heard_all(own), "channel message\nchannel again\n");
    server_stop(own);
}

Test(fixture, restart_is_empty_on_the_same_socket_and_port)
{
    server *own = server_start();
    int port = server_port(own);
    freeReplyObject(server_command(own, "SET key value"));
    server_restart(own);
    cr_assert(server_port(own) == port);
    cr_assert(server_text(own, "GET key") == NULL);
    cr_assert(server_integer(own, "DBSIZE") == 0);
    server_stop(own);
}

Test(fixture, frozen_server_runs_again_once_thawed)
{
    server *own = server_start();
    server_freeze(own);
    server_thaw(own);
    cr_assert(server_integer(own, "INCR counter") == 1);
    server_stop(own);
}

/* As tests/support/stopper does with what it has stopped itself. */
Test(fixture, freezing_ends_though_somebody_continues_the_server)
{
    server *own = server_start();
    pid_t pid = server_pid(own), meddler = fork();
    if (meddler == 0) {
        while (kill(pid, SIGCONT) == 0)
            usleep(1000);
        _exit(0);
    }
    for (int i = 0; i < 100; i++) {
        server_freeze(own);
        server_thaw(own);
    }
    kill(meddler, SIGKILL);
    cr_assert(waitpid(meddler, NULL, 0) == meddler);
    cr_assert(server_integer(own, "INCR counter") == 1);
    server_stop(own);
}

Test(fixture, arguments_reach_the_server)
{
    server *own = server_start_with((const char *const[]){"--requirepass", "secret", "--databases", "3", NULL});
    char *databases = server_text(own, "PING");
    assert_text(databases, "PONG");
    redisReply *reply = server_command(own, "SELECT 3");
    cr_assert(reply->type == REDIS_REPLY_ERROR);
    freeReplyObject(reply);
    server_stop(own);
}

Test(fixture, stop_leaves_no_process_and_no_file)
{
    server *own = server_start();
    pid_t pid = server_pid(own);
    char *path = strdup(server_socket(own));
    server_stop(own);
    cr_assert(kill(pid, 0) < 0 && errno == ESRCH);
    *strrchr(path, '/') = 0;
    struct stat folder;
    cr_assert(stat(path, &folder) < 0 && errno == ENOENT);
    free(path);
}

/* As when a test crashes: nobody calls server_stop. */
Test(fixture, server_and_folder_go_with_the_process_that_started_them)
{
    int pipe_ends[2];
    cr_assert(pipe(pipe_ends) == 0);
    pid_t starter = fork();
    if (starter == 0) {
        static server *own; /* static: nobody frees it, and valgrind is not to call that a leak */
        own = server_start();
        struct { pid_t pid; char path[120]; } told = {.pid = server_pid(own)};
        snprintf(told.path, sizeof told.path, "%s", server_socket(own));
        if (write(pipe_ends[1], &told, sizeof told) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    struct { pid_t pid; char path[120]; } told;
    close(pipe_ends[1]); /* else the read would wait for ever for a starter that failed */
    cr_assert(read(pipe_ends[0], &told, sizeof told) == sizeof told, "no server was started");
    cr_assert(waitpid(starter, NULL, 0) == starter);
    *strrchr(told.path, '/') = 0;
    bool folder = true, process = true;
    for (int64_t deadline_ms = limit_end_ms(5000); (folder || process) && now_ms() < deadline_ms; pass_ms(1)) {
        char status[64], text[512] = "";
        snprintf(status, sizeof status, "/proc/%d/stat", (int)told.pid);
        FILE *stat_file = fopen(status, "r");
        /* A zombie has ended, too: whether somebody reaps it is not up to us. */
        process = stat_file && fgets(text, sizeof text, stat_file) && !strstr(text, ") Z ");
        if (stat_file)
            fclose(stat_file);
        folder = access(told.path, F_OK) == 0;
    }
    cr_assert(!process, "the server is still there");
    cr_assert(!folder, "its folder is still there");
    close(pipe_ends[0]);
}

static void *set_event(void *arg)
{
    event_set(arg);
    return NULL;
}

Test(fixture, event_wakes_its_waiter_or_times_out)
{
    event happened;
    event_init(&happened);
    int64_t since_ms = now_ms();
    cr_assert(!event_wait_ms(&happened, 20));
    cr_assert(now_ms() - since_ms >= 20);
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, set_event, &happened) == 0);
    cr_assert(event_wait_ms(&happened, 5000));
    pthread_join(thread, NULL);
    cr_assert(!event_wait_count(&happened, 2, 0));
    event_set(&happened);
    cr_assert(event_wait_count(&happened, 2, 0));
    cr_assert(event_count(&happened) == 2);
    event_destroy(&happened);
}
