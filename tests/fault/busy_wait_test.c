/* Busy waits: a leader that waits alone does so in the way that was measured to be faster, and gets all bytes and the end
 * of the connection either way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "redis/pipeline/busy_wait.h"
#include "tests/support/test.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

TestSuite(busy_wait);

/* A server that answers each byte with the line "+", later to those that sleep than to those that look. */
typedef struct answerer {
    int fds[2];
    rli_connection connection;
    rli_busy_wait wait;
    long asleep_us, busy_us; /* 0, 0: it answers all at once */
    int answers; /* after so many it ends the connection; 0: never */
    pthread_t thread;
} answerer;

static bool is_busy(const rli_busy_wait *wait)
{
    return wait->stage == RLI_BUSY_WAIT_LOOKS || wait->stage == RLI_BUSY_WAIT_TRIES_LOOK;
}

static void *answer(void *argument)
{
    answerer *self = argument;
    char byte;
    for (int done = 0; read(self->fds[1], &byte, 1) == 1; done++) {
        if (self->asleep_us)
            nanosleep(&(struct timespec){.tv_nsec = (is_busy(&self->wait) ? self->busy_us : self->asleep_us) * 1000}, NULL);
        if (self->answers && done == self->answers)
            shutdown(self->fds[1], SHUT_RDWR);
        else if (write(self->fds[1], "+\r\n", 3) != 3)
            break;
    }
    return NULL;
}

static void begin(answerer *self)
{
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, self->fds) == 0);
    self->connection = (rli_connection){.fd = self->fds[0], .context = redisConnectFd(self->fds[0])};
    cr_assert(self->connection.context);
    cr_assert(pthread_create(&self->thread, NULL, answer, self) == 0);
}

/* Asks once, and returns what came. */
static rli_received ask(answerer *self)
{
    redisReply *reply = NULL;
    cr_assert(write(self->fds[0], "?", 1) == 1);
    rli_received received = rli_busy_wait_receive(&self->wait, &self->connection, RLI_NEVER, -1);
    if (received == RLI_RECEIVED_BYTES) {
        cr_assert(redisReaderGetReply(self->connection.context->reader, (void **)&reply) == REDIS_OK);
        cr_assert(reply && reply->type == REDIS_REPLY_STATUS, "an answer was torn or lost");
        freeReplyObject(reply);
    }
    return received;
}

static void end(answerer *self)
{
    shutdown(self->fds[0], SHUT_RDWR);
    pthread_join(self->thread, NULL);
    self->connection.context->fd = -1;
    redisFree(self->connection.context);
    close(self->fds[0]);
    close(self->fds[1]);
}

/* Asks until one way has been chosen; returns which. */
static rli_busy_wait_stage chosen_by(answerer *self, bool *looked)
{
    begin(self);
    do {
        cr_assert(ask(self) == RLI_RECEIVED_BYTES);
        *looked |= self->wait.stage == RLI_BUSY_WAIT_TRIES_LOOK;
    } while (self->wait.stage == RLI_BUSY_WAIT_TRIES_SLEEP || self->wait.stage == RLI_BUSY_WAIT_TRIES_LOOK);
    rli_busy_wait_stage stage = self->wait.stage;
    end(self);
    return stage;
}

TimedTest(busy_wait, looks_where_waking_takes_long)
{
    answerer near = {.asleep_us = 90, .busy_us = 30};
    bool looked = false;
    cr_assert(chosen_by(&near, &looked) == RLI_BUSY_WAIT_LOOKS);
}

TimedTest(busy_wait, sleeps_where_little_is_won)
{
    answerer same = {.asleep_us = 80, .busy_us = 75};
    bool looked = false;
    cr_assert(chosen_by(&same, &looked) == RLI_BUSY_WAIT_SLEEPS);
    cr_assert(looked);
}

TimedTest(busy_wait, never_looks_for_a_server_that_is_far_away)
{
    answerer far = {.asleep_us = 300, .busy_us = 10};
    bool looked = false;
    cr_assert(chosen_by(&far, &looked) == RLI_BUSY_WAIT_SLEEPS);
    cr_assert(!looked);
}

/* The stage after waits asleep that took so long together. */
static rli_busy_wait_stage stage_after(int64_t asleep_ns)
{
    answerer server = {.answers = 0, .wait = {.stage = RLI_BUSY_WAIT_TRIES_SLEEP, .left = 0, .asleep_ns = asleep_ns}};
    begin(&server);
    cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
    end(&server);
    return server.wait.stage;
}

/* As where client and server share a processor. */
TimedTest(busy_wait, does_not_look_where_sleeping_is_fast)
{
    cr_assert(stage_after(10000) == RLI_BUSY_WAIT_SLEEPS);
    cr_assert(stage_after(100000) == RLI_BUSY_WAIT_TRIES_LOOK);
}

/* Asks a server for which looking pays until it is looked for. */
static void begin_looking(answerer *self)
{
    self->asleep_us = 90;
    self->busy_us = 30;
    begin(self);
    while (self->wait.stage != RLI_BUSY_WAIT_LOOKS)
        cr_assert(ask(self) == RLI_RECEIVED_BYTES);
}

/* The limit of a test's steps ends one that looks for that long. */
TimedTest(busy_wait, sleeps_when_an_answer_does_not_come)
{
    answerer stuck = {.answers = 0};
    begin_looking(&stuck);
    stuck.busy_us = 900000;
    for (int i = 0; i < 100; i++)
        cr_assert(ask(&stuck) == RLI_RECEIVED_BYTES);
    end(&stuck);
}

/* As where other threads want the processor all of a sudden. */
TimedTest(busy_wait, stops_looking_as_soon_as_that_takes_long)
{
    answerer server = {.answers = 0};
    begin_looking(&server);
    server.busy_us = 3000;
    for (int i = 0; i < 2; i++)
        cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
    cr_assert(server.wait.stage != RLI_BUSY_WAIT_LOOKS);
    for (int i = 0, looked = 0; i < 1000; i++, looked += is_busy(&server.wait)) {
        cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
        cr_assert(looked <= 20, "%d of %d waits looked", looked, i);
    }
    end(&server);
}

/* After it, client and server may share a processor, if the client sleeps. */
TimedTest(busy_wait, tries_sleep_after_a_pause)
{
    answerer server = {.answers = 0};
    begin_looking(&server);
    cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
    cr_assert(server.wait.stage == RLI_BUSY_WAIT_LOOKS);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
    cr_assert(server.wait.stage == RLI_BUSY_WAIT_TRIES_SLEEP);
    end(&server);
}

/* Whatever is measured here. */
Test(busy_wait, gets_each_answer_however_it_waits)
{
    answerer server = {.answers = 0};
    begin(&server);
    for (int i = 0; i < 5000; i++)
        cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
    end(&server);
}

Test(busy_wait, notices_the_end_however_it_waits)
{
    static const rli_busy_wait_stage stages[] = {RLI_BUSY_WAIT_SLEEPS, RLI_BUSY_WAIT_LOOKS, RLI_BUSY_WAIT_TRIES_SLEEP,
                                                 RLI_BUSY_WAIT_TRIES_LOOK};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        answerer server = {.answers = 1,
                           .wait = {.stage = stages[i], .left = 10, .asleep_ns = 1000000000, .ended_ns = rli_now_ns()}};
        begin(&server);
        cr_assert(ask(&server) == RLI_RECEIVED_BYTES);
        cr_assert(ask(&server) == RLI_RECEIVED_END);
        cr_assert(server.wait.stage == stages[i]);
        end(&server);
    }
}
