/* rlock bench: what it measures and says, what it leaves behind, and whom it asks first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_json.h"
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_bench, .init = stage_open, .fini = stage_close);

#define SOON_MS 10000
#define ITS_NAMES "rlock:bench:*"

static void assert_matches(const char *text, const char *pattern)
{
    regex_t regex;
    cr_assert(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
    cr_assert(regexec(&regex, text, 0, NULL, 0) == 0, "%s\ndoes not match\n%s", text, pattern);
    regfree(&regex);
}

static void assert_number(const char *object, const char *name, double least, double most)
{
    char *text = json_member(object, name);
    double value = text ? atof(text) : -1;
    cr_assert(text && value >= least && value <= most, "%s is %s in %s", name, text, object);
    free(text);
}

/* Waits until so many of its locks are held, and there is nothing else; the name of one of them, to be freed. */
static char *wait_locks(int64_t count)
{
    wait_key_count(count, SOON_MS);
    redisReply *keys = server_command(stage.server, "KEYS " ITS_NAMES);
    cr_assert(keys->elements == (size_t)count, "%zu instead of %lld", keys->elements, (long long)count);
    char *name = strdup(keys->element[0]->str);
    freeReplyObject(keys);
    return name;
}

/* --- what it measures --- */

#define LINE(threads) " +" threads " +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[1-8] +0\n"

Test(command_bench, prints_a_line_for_each_number_of_threads_and_leaves_nothing)
{
    outcome found = run(COMMAND("bench", "--threads", "1,3,2", "--time", "200ms"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    cr_assert_str_eq(found.err, "");
    assert_matches(found.out, "^kind lock, a name for each thread, 200 ms for each number of threads\n"
                              "round trip [0-9.]+ µs, [0-9]+ a second, [^\n]*\n\nthreads [^\n]*\n"
                              LINE("1") LINE("3") LINE("2") "$");
    outcome_free(&found);
    assert_no_keys();
}

/* In a time that is longer than a standstill, but slowly. */
Test(command_bench, counts_what_the_server_ran, .lasts = 5)
{
    outcome found = run(COMMAND("bench", "--threads", "2", "--time", "3s", "--hold", "50ms", "--json"));
    cr_assert(found.status == 0 && json_is_valid(found.out), "%d: %s%s", found.status, found.err, found.out);
    int64_t ran = server_info(stage.server, "total_commands_processed");
    char *runs = json_member(found.out, "runs"), *run = json_element(runs, 0);
    assert_number(run, "threads", 2, 2);
    assert_number(run, "violations", 0, 0);
    assert_number(run, "connections", 1, 8);
    assert_number(run, "pairs", 1, (double)ran);
    assert_number(run, "p50_us", 1, 1e9);
    assert_number(run, "p99_us", 1, 1e9);
    assert_number(run, "cpu_us", 0.1, 1e6);
    char *trip = json_member(found.out, "round_trip"), *kind = json_member(found.out, "kind");
    assert_number(trip, "p50_us", 0, 1e9);
    cr_assert_str_eq(kind, "lock");
    assert_number(found.out, "time_ms", 3000, 3000);
    assert_number(found.out, "hold_ms", 50, 50);
    free(kind);
    free(trip);
    free(run);
    free(runs);
    outcome_free(&found);
    assert_no_keys();
}

Test(command_bench, all_kinds_exclude_each_other_on_one_name)
{
    const char *kinds[] = {"lock", "fair", "spin", "write", "non-reentrant"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        outcome found = run(COMMAND("bench", "--kind", kinds[i], "--one-name",
                                                                          "--threads", "4", "--time", "200ms"));
        cr_assert(found.status == 0, "%s: %d: %s", kinds[i], found.status, found.err);
        assert_matches(found.out, "one name for all threads");
        assert_matches(found.out, "\n +4 .* 0\n$");
        outcome_free(&found);
        assert_no_keys();
    }
    outcome found = run(COMMAND("bench", "--kind", "read", "--threads", "4",
                                                                      "--time", "200ms"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    outcome_free(&found);
    assert_no_keys();
}

/* --- what must not be --- */

/* Waits until another than this owner has the lock and knows that it has: it renews it. */
static void wait_renewed_by_another(const char *name, const char *owner)
{
    int64_t until_ms = limit_end_ms(SOON_MS), before_ms = INT64_MAX;
    for (bool renewed = false; !renewed; pass_ms(1)) {
        cr_assert(now_ms() < until_ms, "nobody else has the lock");
        redisReply *now = server_command(stage.server, "HKEYS %s", name);
        bool another = now->elements == 1 && strcmp(now->element[0]->str, owner) != 0;
        freeReplyObject(now);
        int64_t left_ms = another ? server_integer(stage.server, "PTTL %s", name) : INT64_MAX;
        renewed = another && left_ms > before_ms;
        before_ms = left_ms;
    }
}

/* Somebody forces the lock open while one has it and another waits: then two have it. */
Test(command_bench, tells_of_two_that_have_a_lock_at_once_with_70)
{
    command *c = command_start(server_url_with(stage.server, STAGE_QUICK),
                               COMMAND("bench", "--one-name", "--threads", "2", "--time", "60", "--hold", "60"));
    char *name = wait_locks(1);
    cr_assert(wait_listened(name, SOON_MS));
    redisReply *owner = server_command(stage.server, "HKEYS %s", name);
    bool was_locked;
    assert_ok(rlock_force_unlock(lock_of(stage.client, name), &was_locked));
    cr_assert(was_locked);
    wait_renewed_by_another(name, owner->element[0]->str);
    freeReplyObject(owner);
    command_signal(c, SIGINT);
    cr_assert(command_wait(c, SOON_MS) == 70, "%s", command_err(c));
    cr_assert(strstr(command_err(c), "mutual exclusion violations: 1\n"), "%s", command_err(c));
    command_free(c);
    assert_no_keys();
    free(name);
}

Test(command_bench, tells_of_a_lost_lock_with_70)
{
    command *c = start(COMMAND("bench", "--threads", "1", "--time", "60", "--hold", "60"));
    char *name = wait_locks(1);
    cr_assert(server_integer(stage.server, "DEL %s", name) == 1);
    command_signal(c, SIGINT);
    cr_assert(command_wait(c, SOON_MS) == 70, "%s", command_err(c));
    cr_assert(strstr(command_err(c), name) != NULL, "%s", command_err(c));
    command_free(c);
    free(name);
}

Test(command_bench, ends_with_69_when_the_server_goes)
{
    command *c = command_start(server_url_with(stage.server, "retryAttempts=0"),
                               COMMAND("bench", "--threads", "2", "--time", "60"));
    cr_assert(command_says(c, "round trip", SOON_MS));
    server_kill(stage.server);
    cr_assert(command_wait(c, SOON_MS) == 69, "%s", command_err(c));
    assert_matches(command_err(c), "^rlock: [^\n]*\n$");
    command_free(c);
}

/* --- signals --- */

Test(command_bench, a_signal_ends_it_and_nothing_is_left)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        command *c = start(COMMAND("bench", "--threads", "3", "--time", "60",
                                                                     "--hold", "60"));
        free(wait_locks(3));
        command_signal(c, numbers[i]);
        cr_assert(command_wait(c, SOON_MS) == 128 + numbers[i], "%s", command_err(c));
        cr_assert(strstr(command_err(c), "ended the measurement"), "%s", command_err(c));
        command_free(c);
        assert_no_keys();
    }
}

/* As fast as it goes, and with others behind in the queue. */
Test(command_bench, a_signal_ends_it_while_it_works)
{
    const char *const *all[] = {COMMAND("bench", "--threads", "8", "--time", "60"),
                                COMMAND("bench", "--threads", "8", "--time", "60", "--one-name"),
                                COMMAND("bench", "--threads", "8", "--time", "60", "--one-name", "--kind", "fair")};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        command *c = start(all[i]);
        cr_assert(command_says(c, "round trip", SOON_MS));
        int64_t until_ms = limit_end_ms(SOON_MS);
        while (server_integer(stage.server, "DBSIZE") == 0 && now_ms() < until_ms)
            continue;
        command_signal(c, SIGINT);
        cr_assert(command_wait(c, SOON_MS) == 128 + SIGINT, "%s", command_err(c));
        command_free(c);
        assert_no_keys();
    }
}

/* Its locks have leases, so that it need not wait for a server that does not answer. */
Test(command_bench, a_second_signal_ends_it_at_once)
{
    command *c = start(COMMAND("bench", "--threads", "1", "--time", "60", "--hold", "60"));
    char *name = wait_locks(1);
    server_freeze(stage.server);
    command_signal(c, SIGINT);
    command_signal(c, SIGTERM);
    int64_t began_ms = now_ms();
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM, "%s", command_err(c));
    cr_assert(now_ms() - began_ms < at_most_ms(2000));
    cr_assert(strstr(command_err(c), "locks that are still held expire"), "%s", command_err(c));
    command_free(c);
    server_thaw(stage.server);
    cr_assert(pttl_of(name) > 0);
    free(name);
}

/* --- whom it asks --- */

/* The server's port by an address that is this machine's, but is not plainly so. */
static const char *far_url(void)
{
    static char url[64];
    snprintf(url, sizeof url, "redis://127.1:%d", server_port(stage.server));
    return url;
}

static int64_t connections_made(void)
{
    return server_info(stage.server, "total_connections_received");
}

Test(command_bench, does_nothing_to_a_server_elsewhere_unless_agreed)
{
    int64_t before = connections_made();
    outcome found = command_outcome(NULL, COMMAND("bench", "--url", far_url(), "--threads", "2,5", "--time", "3"));
    cr_assert(found.status == 64, "%d: %s", found.status, found.err);
    cr_assert_str_eq(found.out, "");
    assert_matches(found.err, "^rlock: this server may be on another machine: 127\\.1\\. Up to 5 threads will lock and "
                              "unlock there as fast as it answers, for 7\\.0 s in all, which slows down its other users\\. "
                              "Up to 5 locks named rlock:bench:… will exist meanwhile, and none afterwards\nrlock: nothing "
                              "was done; add --yes to run without a terminal\n$");
    outcome_free(&found);
    cr_assert(connections_made() == before);

    found = command_outcome(NULL, COMMAND("bench", "--url", far_url(), "--one-name"));
    cr_assert(found.status == 64, "%d: %s", found.status, found.err);
    assert_matches(found.err, " Up to 64 threads will lock and unlock there as fast as it answers, for 16\\.0 s in all, which "
                              "slows down its other users\\. Up to 1 lock named rlock:bench:… will exist meanwhile");
    outcome_free(&found);

    found = command_outcome(NULL, COMMAND("bench", "--url", far_url(), "--threads", "2", "--time", "100ms", "--yes"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_matches(found.out, LINE("2"));
    assert_matches(found.err, "^rlock: this server may be [^\n]*\n$");
    outcome_free(&found);
    assert_no_keys();
}

/* Of these nobody knows where they lead; and no secret is shown. */
Test(command_bench, warns_of_all_that_may_be_elsewhere)
{
    const struct {
        const char *url, *shown;
    } cases[] = {
        {"redis://user:secret@db.example:7000/2?timeout=100", "machine: db\\.example\\. "},
        {"rediss://10.1.2.3", "machine: 10\\.1\\.2\\.3\\. "},
        {"redis://[fe80::1]:6379", "machine: fe80::1\\. "},
        {"redis://127.0.0.1.example", "machine: 127\\.0\\.0\\.1\\.example\\. "},
        {"redis://localhost@db.example", "machine: db\\.example\\. "},
        {"redis-cluster://user:secret@127.0.0.1:7000,localhost:7001", "machine: 127\\.0\\.0\\.1, localhost\\. "},
        {"redis-sentinel://127.0.0.1?masterName=m", "machine: 127\\.0\\.0\\.1\\. "},
        {"redis://user:secret/x@db.example", "machine: unknown address\\. "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome found = command_outcome(cases[i].url, COMMAND("bench"));
        cr_assert(found.status == 64, "%s: %d: %s", cases[i].url, found.status, found.err);
        assert_matches(found.err, cases[i].shown);
        cr_assert(!strstr(found.err, "secret"), "%s", found.err);
        outcome_free(&found);
    }
}

/* Nobody is asked: there is no server, and that is all that is wrong. */
Test(command_bench, knows_this_machine)
{
    const char *urls[] = {"unix:///no/server/here", "redis://127.0.0.1:1?retryAttempts=0", "redis://127.8.9.1:1?retryAttempts=0",
                          "redis://user:a@localhost:1?retryAttempts=0", "redis://[::1]:1?retryAttempts=0"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        outcome found = command_outcome(urls[i], COMMAND("bench"));
        cr_assert(found.status == 69 && !strstr(found.err, "another machine"), "%s: %d: %s", urls[i], found.status, found.err);
        outcome_free(&found);
    }
}

/* At a terminal: runs it there, answers, and gives what came of it. */
static int answer_with(const char *answer, const char *expected)
{
    char words[500];
    snprintf(words, sizeof words, "\"$RLOCK_COMMAND\" bench --url %s --threads 1 --time 100ms", far_url());
    command *c = command_start_program(NULL, COMMAND("script", "-qefc", words, "/dev/null"));
    cr_assert(command_says(c, "Go on? [y/N]", SOON_MS), "%s", command_err(c));
    command_write(c, answer);
    int status = command_wait(c, SOON_MS);
    cr_assert(strstr(command_out(c), expected), "%s", command_out(c));
    command_free(c);
    return status;
}

Test(command_bench, goes_on_when_somebody_at_the_terminal_agrees)
{
    int64_t before = connections_made();
    cr_assert(answer_with("n\n", "nothing was done") == 64);
    cr_assert(answer_with("\n", "nothing was done") == 64);
    cr_assert(connections_made() == before);
    cr_assert(answer_with("y\n", "violations") == 0);
    cr_assert(connections_made() > before);
    assert_no_keys();
}
