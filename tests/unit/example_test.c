/* The programs of docs/examples.md and of the pages of the locks: each is compiled and run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/server.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"
#include "tests/unit/support/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static server *own;

static void setup(void)
{
    own = server_start();
}

static void tear_down(void)
{
    server_stop(own);
    scratch_remove();
}

TestSuite(example, .init = setup, .fini = tear_down);

/* Compiles `name`.c of the scratch folder. */
static void compile_as(const char *name, const char *linking)
{
    const char *san = environment("SAN", "");
    if (strcmp(san, "address") == 0)
        san = "address,undefined"; /* as in the Makefile */
    shell_do("%s -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror %s%s -Iinclude -o '%s/%s' '%s/%s.c' -L'%s' -lrlock "
             "-Wl,-rpath,\"$(cd '%s' && pwd)\" %s",
             environment("CC", "cc"), *san ? "-fsanitize=" : "", san, scratch_folder(), name, scratch_folder(), name,
             environment("B", "build"), environment("B", "build"), linking);
}

/* Compiles docs/examples/`name`.c there, with the test's server in place of the usual address. */
static void compile(const char *name, const char *linking)
{
    shell_do("sed 's|redis://127.0.0.1:6379|%s|' 'docs/examples/%s.c' >'%s/%s.c'", server_tcp_url(own), name,
             scratch_folder(), name);
    compile_as(name, linking);
}

/* A shell command in the scratch folder must write `expected`. */
static void assert_says(const char *command, const char *expected)
{
    char *said = shell("cd '%s' && { %s; }", scratch_folder(), command);
    cr_assert(strcmp(said, expected) == 0, "%s wrote \"%s\", not \"%s\"", command, said, expected);
    free(said);
}

Test(example, programs_of_the_lock_pages_run_to_a_good_end)
{
    static const char *const names[] = {"count_down_latch", "extend",       "fair_lock",   "fenced_lock", "group_lock",
                                        "lock",             "multi_lock",   "non_reentrant_lock",
                                        "permit_expirable_semaphore",       "read_write_lock", "renewed_permit",
                                        "semaphore",        "sharded_lock", "signal_lock", "singleflight", "spin_lock",
                                        "token_lock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        compile(names[i], "-lhiredis -lpthread"); /* singleflight.c asks the server itself, too */
        shell_do("cd '%s' && ./%s", scratch_folder(), names[i]);
    }
}

/* README.md shows the program itself, not a copy that may differ. */
Test(example, readme_shows_the_lock_example)
{
    shell_do("awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >'%s/readme.c'; "
             "sed '/^\\/\\*.*\\*\\/$/d' docs/examples/lock.c | diff '%s/readme.c' -",
             scratch_folder(), scratch_folder());
}

/* The program of getting-started.md is taken from the page. Two processes of it never have a turn at the same time. */
Test(example, program_of_getting_started_takes_turns)
{
    shell_do("awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/getting-started.md | "
             "sed 's|redis://127.0.0.1:6379|%s|; s/sleep(1)/usleep(1000)/' >'%s/one.c'",
             server_tcp_url(own), scratch_folder());
    compile_as("one", "");
    shell_do("cd '%s' && { ./one >a & ./one >b & wait; }", scratch_folder());
    assert_says("cat a b | awk '{ print $5 }' | sort | uniq -c | tr -s ' '", " 2 1\n 2 2\n 2 3\n 2 4\n 2 5\n");
}

Test(example, program_with_redissons_file_takes_the_server_from_it)
{
    compile("config_yaml", "");
    shell_do("cp docs/examples/redisson.yaml '%s'", scratch_folder());
    shell_do("cd '%s' && REDIS_URL='%s' ./config_yaml >said 2>&1", scratch_folder(), server_tcp_url(own));
    assert_says("cat said", "mine, and no Java process has it\n");
}

Test(example, cron_job_runs_on_one_host)
{
    shell_do("cp docs/examples/cron_job.sh '%s'; ln -s \"$(cd '%s' && pwd)/rlock\" '%s/rlock'", scratch_folder(),
             environment("B", "build"), scratch_folder());
    shell_do("cd '%s'; export RLOCK_URL='%s' PATH=\"$PWD:$PATH\"\n"
             "mkfifo go; rlock run nightly-report -- cat go & \n" /* the first host, which works until it is told to end */
             "until rlock inspect nightly-report | grep -q held; do sleep 0.05; done\n"
             "./cron_job.sh >second; : >go; wait\n"
             "REPORT_SECONDS=0 ./cron_job.sh >third",
             scratch_folder(), server_tcp_url(own));
    assert_says("cat second", "another host writes the report\n");
    assert_says("sed 's/ of .*//' third", "report\n");
}

Test(example, of_two_candidates_one_leads_at_a_time)
{
    compile("leader_election", "");
    shell_do("cd '%s' && { ./leader_election a 3 >a & ./leader_election b 3 >b & wait; }", scratch_folder());
    assert_says("head -n 1 a", "a leads\n");
    assert_says("tail -n 1 a", "a: step 1\n");
    assert_says("head -n 1 b", "b leads\n");
    assert_says("tail -n 1 b", "b: step 1\n");
}

Test(example, workers_do_each_job_once)
{
    compile("job_queue", "");
    shell_do("cd '%s' && mkdir jobs && (cd jobs && for job in $(seq 50); do : >$job; done) &&\n"
             "{ ./job_queue jobs >a & ./job_queue jobs >b & ./job_queue jobs >c & wait; }",
             scratch_folder());
    assert_says("cat a b c | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | tr -s ' '", " 50 1\n");
    assert_says("ls jobs", "");
}

/* Three processes with 60 orders in all sell the 40 pieces, and not one more. A holder that comes late sells nothing. */
Test(example, stock_is_sold_once)
{
    compile("stock", "-lhiredis");
    freeReplyObject(server_command(own, "SET stock:42 40"));
    assert_says("{ ./stock 20 & ./stock 20 & ./stock 20 & wait; } | awk '{ sold += $2 } END { print sold }'", "40\n");
    cr_assert(server_integer(own, "EXISTS stock:42") == 1);
    redisReply *left = server_command(own, "GET stock:42");
    cr_assert_str_eq(left->str, "0");
    freeReplyObject(left);
    freeReplyObject(server_command(own, "SET stock:42 40"));
    freeReplyObject(server_command(own, "HSET rlock_fence:{stock:42} token 999999")); /* a later holder has written */
    char *said = shell("cd '%s' && ./stock 1 2>&1", scratch_folder());
    cr_assert(strstr(said, "order refused: ") && strstr(said, "sold 0"), "%s", said);
    free(said);
}

/* Six calls of two processes at three a second: the server has had three permits taken twice. */
Test(example, rate_limit_lets_three_calls_a_second_through)
{
    compile("rate_limit", "");
    assert_says("{ ./rate_limit 3 & ./rate_limit 3 & wait; } | sort | uniq -c | tr -s ' '",
                " 2 call 1\n 2 call 2\n 2 call 3\n");
    cr_assert(server_integer(own, "ZCARD {rate:geocoder}:timeout") <= 3);
}
