/* A pipeline: one connection shared by many threads.
 *
 * The calling threads do the I/O. The first one that waits leads and reads replies for all; the others sleep until
 * their reply is delivered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pipeline.h"

#include "base/error.h"
#include "base/thread.h"
#include "redis/pipeline/pipe.h"
#include "redis/pipeline/pipeline_parts.h"

void rli_pipeline_init(rli_pipeline *pipeline, const rli_settings *settings, const rli_address *address,
                       rli_receive_timeout *receive_timeout)
{
    *pipeline = (rli_pipeline){.settings = settings, .address = address, .receive_timeout = receive_timeout};
    rli_mutex_init_adaptive(&pipeline->mutex);
}

void rli_pipeline_init_synced(rli_pipeline *pipeline, const rli_settings *settings, const rli_address *address,
                              const atomic_int *replicas)
{
    rli_pipeline_init(pipeline, settings, address, NULL);
    pipeline->replicas = replicas;
}

rlock_status rli_pipeline_connect(rli_pipeline *pipeline, rli_operation *op)
{
    pthread_mutex_lock(&pipeline->mutex);
    rlock_status status = rli_connecting_await(pipeline, op, pipeline->settings->timeout_ms);
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}

uint64_t rli_pipeline_serial(rli_pipeline *pipeline, uint64_t *run_id)
{
    pthread_mutex_lock(&pipeline->mutex);
    rli_pipeline_drop_stale(pipeline, 0); /* nobody may have noticed its end */
    uint64_t serial = pipeline->pipe ? pipeline->serial : 0;
    *run_id = pipeline->pipe ? rli_pipe_run_id(pipeline->pipe) : 0;
    pthread_mutex_unlock(&pipeline->mutex);
    return serial;
}

rli_shared_socket *rli_pipeline_share(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    rli_shared_socket *shared = pipeline->pipe ? rli_pipe_share(pipeline->pipe) : NULL;
    pthread_mutex_unlock(&pipeline->mutex);
    return shared;
}

unsigned rli_pipeline_connects(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    unsigned connects = pipeline->connecting.ended;
    pthread_mutex_unlock(&pipeline->mutex);
    return connects;
}

/* --- one request --- */

void rli_pipeline_drop_pipe(rli_pipeline *pipeline, rli_pipe *pipe, rli_outcome outcome)
{
    if (pipeline->pipe == pipe)
        pipeline->pipe = NULL;
    else if (pipeline->dropped == pipe)
        pipeline->dropped = NULL;
    else
        return;
    rli_pipe_end(pipe, outcome);
    rli_pipe_unref(pipe); /* the pipeline's own reference */
}

static void drop_all(rli_pipeline *pipeline, rli_outcome outcome)
{
    if (pipeline->pipe)
        rli_pipeline_drop_pipe(pipeline, pipeline->pipe, outcome);
    if (pipeline->dropped)
        rli_pipeline_drop_pipe(pipeline, pipeline->dropped, outcome);
}

void rli_pipeline_drop_stale(rli_pipeline *pipeline, int64_t idle_ms)
{
    if (pipeline->pipe && rli_pipe_is_idle(pipeline->pipe, idle_ms) && rli_pipe_is_stale(pipeline->pipe))
        rli_pipeline_drop_pipe(pipeline, pipeline->pipe, RLI_DISCONNECTED);
}

void rli_pipeline_drop_left(rli_pipeline *pipeline)
{
    if (pipeline->dropped && rli_pipe_is_unused(pipeline->dropped))
        rli_pipeline_drop_pipe(pipeline, pipeline->dropped, RLI_DISCONNECTED);
}

/* Ends the caller's lead. Sends what is queued first, instead of leaving that to the next leader. `own`: as in
 * rli_pipe_pass_lead. */
static void stop_leading(rli_pipeline *pipeline, rli_pipe *pipe, const rli_pending *own)
{
    if (!rli_pipe_flush(pipe, &pipeline->mutex))
        rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
    rli_pipe_pass_lead(pipe, own);
}

/* Reads replies for all callers until `pending` has its own, the deadline passes, or the pipe has ended. Mutex held on
 * entry and return. */
static void lead(rli_pipeline *pipeline, rli_operation *op, rli_pipe *pipe, rli_pending *pending, int64_t deadline_ms)
{
    while (!rli_pending_finished(pending)) {
        if (!rli_pipe_flush(pipe, &pipeline->mutex)) {
            rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
            break;
        }
        if (rli_pending_finished(pending))
            break;
        rli_received received = rli_pipe_receive(pipe, &pipeline->mutex, deadline_ms, rli_cancel_fd(op->cancel));
        if (received == RLI_RECEIVED_END) /* if time is up, the receive timeout has ended it */
            rli_pipeline_drop_pipe(pipeline, pipe, rli_now_ms() >= deadline_ms ? RLI_TIMED_OUT : RLI_DISCONNECTED);
        else if (received == RLI_RECEIVED_NOTHING && (rli_now_ms() >= deadline_ms || rli_cancel_fired(op->cancel)))
            break;
    }
    stop_leading(pipeline, pipe, pending);
}

void rli_pipeline_give_up(rli_pipeline *pipeline, rli_pipe *pipe, rli_pending *pending, bool silent)
{
    /* If nothing came for a whole timeout, requests behind this one will not be answered either, so end the pipe. Many
     * short waits, each given up early, find that out together. */
    int64_t late_ms = rli_now_ms() - pipeline->settings->timeout_ms;
    if (silent || rli_pipe_silent_since(pipe) <= late_ms || !rli_pipe_abandon(pipe, pending))
        rli_pipeline_drop_pipe(pipeline, pipe, RLI_TIMED_OUT);
}

/* Whether the caller of `pending` stops waiting because its deadline passed or its token fired. A reply that another
 * thread is delivering right now takes precedence. */
static bool is_wait_over(const rli_operation *op, const rli_pending *pending, int64_t deadline_ms)
{
    return !pending->popped && (rli_now_ms() >= deadline_ms || rli_cancel_fired(op->cancel));
}

/* Leads, or sleeps, until `pending` has its outcome or its caller gives up. Mutex held on entry. Returns whether it is
 * held on return: a thread that is woken with its outcome needs neither the mutex nor the pipe, so threads woken
 * together do not run into each other. `bounded`: somebody else ends the pipe at the deadline. */
static bool wait_for(rli_pipeline *pipeline, rli_operation *op, rli_pipe *pipe, rli_pending *pending,
                     int64_t deadline_ms, bool bounded)
{
    while (!rli_pending_finished(pending)) {
        if (rli_pipe_take_lead(pipe, pending))
            lead(pipeline, op, pipe, pending, deadline_ms);
        if (rli_pending_finished(pending) || is_wait_over(op, pending, deadline_ms))
            break;
        bool is_popped = pending->popped;
        pthread_mutex_unlock(&pipeline->mutex);
        bool is_timeless = is_popped || (bounded && rli_receive_timeout_call(pipeline->receive_timeout));
        rli_park_in_group(op->parker, pending->place, is_timeless ? RLI_NEVER : deadline_ms);
        if (rli_pending_finished(pending))
            return false;
        pthread_mutex_lock(&pipeline->mutex);
    }
    return true;
}

/* Waits for the outcome. Mutex held on entry, not on return. */
static rli_outcome await(rli_pipeline *pipeline, rli_operation *op, rli_pipe *pipe, rli_pending *pending,
                         const rli_command *command, int64_t timeout_at_ms)
{
    bool timed = timeout_at_ms <= op->deadline_ms, silent = timed && !command->impatient;
    int64_t deadline_ms = timed ? timeout_at_ms : op->deadline_ms;
    /* If all requests have the same timeout, the leader's time is up before that of its followers. The leader then
     * ends the pipe for all, or the receive-timeout thread does. So followers sleep without a timer. */
    if (!wait_for(pipeline, op, pipe, pending, deadline_ms, silent && pipeline->receive_timeout))
        return pending->outcome;
    if (!rli_pending_finished(pending)) {
        bool timed_out = timed && rli_now_ms() >= deadline_ms;
        rli_pipeline_give_up(pipeline, pipe, pending, timed_out && silent);
        pending->outcome = timed_out ? RLI_TIMED_OUT : RLI_ABANDONED;
    }
    rli_pipeline_drop_left(pipeline);
    pthread_mutex_unlock(&pipeline->mutex);
    return pending->outcome;
}

static int64_t later(int64_t at_ms, int64_t span_ms)
{
    return span_ms < RLI_NEVER - at_ms ? at_ms + span_ms : RLI_NEVER;
}

/* Offers the lead to the other thread that waits for the same answer, if nobody leads. Mutex held on entry and return,
 * but not while that thread is woken, because it needs the mutex at once. */
static void call_witness(rli_pipeline *pipeline, rli_pipe *pipe, const rli_pending *pending, rli_witness *witness,
                         int64_t until_ms)
{
    const rli_lead lead = {.pipeline = pipeline, .pipe = pipe, .last = rli_pipe_last(pipe), .until_ms = until_ms};
    rli_wake_batch batch = {0};
    if (!lead.last || !rli_pipe_lead(pipe))
        return;
    if (!witness->wake(witness, &lead, &batch)) {
        rli_pipe_pass_lead(pipe, pending);
        return;
    }
    pthread_mutex_unlock(&pipeline->mutex);
    rli_wake_batch_end(&batch);
    pthread_mutex_lock(&pipeline->mutex);
}

/* Runs one request on `pipe`. Mutex held on entry, not on return. */
static rli_outcome ask(rli_pipeline *pipeline, rli_operation *op, rli_pipe *pipe, const rli_command *command,
                       int64_t timeout_ms, rli_answer *answer)
{
    rli_pending pending;
    if (!rli_pipe_queue(pipe, &pending, op->parker, command)) {
        pthread_mutex_unlock(&pipeline->mutex);
        answer->status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
        return RLI_UNSENT;
    }
    answer->run_id = rli_pipe_run_id(pipe);
    answer->sent_ms = pending.queued_ms;
    int64_t until_ms = later(pending.since_ms, timeout_ms);
    bool called = command->witness && !rli_pipe_is_led(pipe);
    if (called || rli_pipe_wants_flush(pipe)) {
        rli_pipe_ref(pipe);
        if (!rli_pipe_flush(pipe, &pipeline->mutex))
            rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
        else if (called && !rli_pending_finished(&pending))
            call_witness(pipeline, pipe, &pending, command->witness, until_ms);
        rli_pipe_unref(pipe);
    }
    rli_outcome outcome = await(pipeline, op, pipe, &pending, command, until_ms);
    answer->left = pending.left;
    answer->garbled = pending.garbled;
    if (outcome == RLI_ANSWERED) {
        answer->reply = pending.reply;
        answer->asked = pending.asked;
        answer->synced = pending.synced;
    }
    return outcome;
}

rlock_status rli_pipeline_check_run_id(const rli_pipe *pipe, const rli_command *command)
{
    uint64_t run_id = rli_pipe_run_id(pipe);
    if (!command->only_run_id || !run_id || run_id == command->only_run_id)
        return RLOCK_OK;
    return rli_fail(RLOCK_UNKNOWN, "the server was restarted or replaced after it granted what this call releases; "
                                   "check the state before you repeat the call");
}

rli_outcome rli_pipeline_call(rli_pipeline *pipeline, rli_operation *op, const rli_command *command, int64_t timeout_ms,
                              rli_answer *answer)
{
    rli_outcome outcome = RLI_UNSENT;
    atomic_fetch_add_explicit(&pipeline->load, 1, memory_order_relaxed);
    pthread_mutex_lock(&pipeline->mutex);
    rli_pipeline_drop_stale(pipeline, RLI_PIPELINE_IDLE_MS);
    *answer = (rli_answer){.status = pipeline->pipe ? RLOCK_OK : rli_connecting_await(pipeline, op, timeout_ms)};
    if (answer->status == RLOCK_OK)
        answer->status = rli_pipeline_check_run_id(pipeline->pipe, command);
    if (answer->status == RLOCK_OK)
        outcome = ask(pipeline, op, pipeline->pipe, command, timeout_ms, answer);
    else
        pthread_mutex_unlock(&pipeline->mutex);
    atomic_fetch_sub_explicit(&pipeline->load, 1, memory_order_relaxed);
    return outcome;
}

/* --- posted requests: no thread waits for them --- */

/* A limit, because a thread that waits for its own answer must not have to wait for any number of these. */
#define MOST_POSTS 100

/* Leads although it has no request, while `more` is true and until `until_ms`; does nothing if another thread leads.
 * Mutex held on entry and return. */
static void tend(rli_pipeline *pipeline, rli_pipe *pipe, bool (*more)(const rli_pipe *), int64_t until_ms)
{
    rli_received received = RLI_RECEIVED_BYTES;
    if (!rli_pipe_lead(pipe))
        return;
    while (received != RLI_RECEIVED_END && more(pipe) && (received == RLI_RECEIVED_BYTES || rli_now_ms() < until_ms)) {
        received = rli_pipe_flush(pipe, &pipeline->mutex) ? rli_pipe_receive(pipe, &pipeline->mutex, until_ms, -1)
                                                          : RLI_RECEIVED_END;
        if (received == RLI_RECEIVED_END)
            rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
    }
    stop_leading(pipeline, pipe, NULL);
}

/* Sends a posted request, waiting until the connection has room: the posting thread may be about to end the process. */
static void send_post(rli_pipeline *pipeline, rli_pipe *pipe)
{
    int64_t until_ms = rli_after_ms(pipeline->settings->timeout_ms);
    if (!rli_pipe_flush_all(pipe, &pipeline->mutex, until_ms))
        rli_pipeline_drop_pipe(pipeline, pipe, RLI_DISCONNECTED);
    else if (rli_pipe_has_unsent(pipe))
        tend(pipeline, pipe, rli_pipe_has_unsent, until_ms);
}

bool rli_pipeline_post(rli_pipeline *pipeline, const rli_command *command, rli_pending *pending, uint64_t *run_id)
{
    pthread_mutex_lock(&pipeline->mutex);
    rli_pipe *pipe = pipeline->pipe;
    bool posted = pipe && rli_pipe_posts(pipe) < MOST_POSTS && rli_pipe_post(pipe, pending, command);
    if (posted) {
        *run_id = rli_pipe_run_id(pipe);
        rli_pipe_ref(pipe);
        send_post(pipeline, pipe);
        rli_pipe_unref(pipe);
        rli_pipeline_drop_left(pipeline);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return posted;
}

/* Reads what has come for requests on `pipe` (NULL: none) that no thread waits for. Mutex held on entry and return. */
static void collect(rli_pipeline *pipeline, rli_pipe *pipe, int64_t until_ms)
{
    if (!pipe || !rli_pipe_is_unattended(pipe))
        return;
    rli_pipe_ref(pipe);
    tend(pipeline, pipe, rli_pipe_is_unattended, until_ms);
    if (rli_pipe_is_unattended(pipe) && rli_pipe_silent_since(pipe) <= rli_now_ms() - pipeline->settings->timeout_ms)
        rli_pipeline_drop_pipe(pipeline, pipe, RLI_TIMED_OUT);
    rli_pipe_unref(pipe);
}

bool rli_pipeline_collect(rli_pipeline *pipeline, int64_t until_ms)
{
    pthread_mutex_lock(&pipeline->mutex);
    collect(pipeline, pipeline->dropped, until_ms);
    collect(pipeline, pipeline->pipe, until_ms);
    rli_pipeline_drop_left(pipeline);
    bool left = (pipeline->pipe && rli_pipe_is_unattended(pipeline->pipe)) ||
                (pipeline->dropped && rli_pipe_is_unattended(pipeline->dropped));
    pthread_mutex_unlock(&pipeline->mutex);
    return left;
}

/* --- a lead that was offered --- */

void rli_pipeline_lead(const rli_lead *lead, const rli_operation *op, int64_t deadline_ms)
{
    rli_pipeline *pipeline = lead->pipeline;
    rli_pipe *pipe = lead->pipe;
    int64_t until_ms = rli_earlier(lead->until_ms, deadline_ms);
    pthread_mutex_lock(&pipeline->mutex);
    while (!rli_pipe_is_past(pipe, lead->last) && rli_now_ms() < until_ms && !rli_cancel_fired(op->cancel)) {
        if (!rli_pipe_flush(pipe, &pipeline->mutex) ||
            rli_pipe_receive(pipe, &pipeline->mutex, until_ms, rli_cancel_fd(op->cancel)) == RLI_RECEIVED_END)
            rli_pipeline_drop_pipe(pipeline, pipe, rli_now_ms() >= lead->until_ms ? RLI_TIMED_OUT : RLI_DISCONNECTED);
    }
    stop_leading(pipeline, pipe, NULL);
    rli_pipeline_drop_left(pipeline);
    pthread_mutex_unlock(&pipeline->mutex);
}

/* --- what is done to its connections --- */

void rli_pipeline_fail_all(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    drop_all(pipeline, RLI_TIMED_OUT);
    pthread_mutex_unlock(&pipeline->mutex);
}

bool rli_pipeline_ping_if_idle(rli_pipeline *pipeline, rli_operation *op, int64_t idle_ms)
{
    const rli_command ping = {
        .count = 1, .words = (const char *const[]){"PING"}, .lengths = (const size_t[]){4}, .unsynced = true};
    rli_answer answer = {0};
    rli_outcome outcome = RLI_ANSWERED;
    pthread_mutex_lock(&pipeline->mutex);
    if (pipeline->pipe && rli_pipe_is_idle(pipeline->pipe, idle_ms))
        outcome = ask(pipeline, op, pipeline->pipe, &ping, pipeline->settings->timeout_ms, &answer);
    else
        pthread_mutex_unlock(&pipeline->mutex);
    if (answer.reply)
        freeReplyObject(answer.reply); /* any reply, even an error, shows that the server is there */
    return outcome != RLI_DISCONNECTED && outcome != RLI_TIMED_OUT;
}

static void drop(rli_pipeline *pipeline, bool gently)
{
    pthread_mutex_lock(&pipeline->mutex);
    if (!gently || !pipeline->dropped) {
        atomic_fetch_add(&pipeline->drops, 1);
        if (pipeline->dropped)
            rli_pipeline_drop_pipe(pipeline, pipeline->dropped, RLI_DISCONNECTED);
        pipeline->dropped = pipeline->pipe;
        pipeline->pipe = NULL;
        if (pipeline->dropped && rli_pipe_is_unused(pipeline->dropped))
            rli_pipeline_drop_pipe(pipeline, pipeline->dropped, RLI_DISCONNECTED);
    }
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_pipeline_drop(rli_pipeline *pipeline)
{
    drop(pipeline, false);
}

void rli_pipeline_renew(rli_pipeline *pipeline)
{
    drop(pipeline, true);
}

/* Returns whether any request on `pipe` is unanswered, and ends a pipe that is stuck. A running leader ends an overdue
 * pipe itself. A leader inside a signal handler cannot, and its followers must not wait for it. */
static bool check_receive_timeout(rli_pipeline *pipeline, rli_pipe *pipe)
{
    if (!pipe || rli_pipe_silent_since(pipe) == RLI_NEVER)
        return false;
    if (rli_pipe_is_stuck(pipe, pipeline->settings->timeout_ms))
        rli_pipeline_drop_pipe(pipeline, pipe, RLI_TIMED_OUT);
    return true;
}

bool rli_pipeline_check_timeouts(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    bool is_covered = check_receive_timeout(pipeline, pipeline->pipe);
    is_covered |= check_receive_timeout(pipeline, pipeline->dropped);
    pthread_mutex_unlock(&pipeline->mutex);
    return is_covered;
}

void rli_pipeline_refresh(rli_pipeline *pipeline, int64_t idle_ms)
{
    pthread_mutex_lock(&pipeline->mutex);
    rli_pipeline_drop_stale(pipeline, idle_ms);
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_pipeline_shut(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->shut = true;
    atomic_fetch_add(&pipeline->drops, 1); /* ends connecting */
    drop_all(pipeline, RLI_DISCONNECTED);
    rli_turn_wake_all(pipeline->connecting.waiters);
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_pipeline_reopen(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->shut = false;
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_pipeline_close(rli_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->closed = true;
    drop_all(pipeline, RLI_ABANDONED);
    rli_connecting_end(pipeline, RLOCK_CLOSED, "the client was closed");
    pthread_mutex_unlock(&pipeline->mutex);
}

void rli_pipeline_destroy(rli_pipeline *pipeline)
{
    drop_all(pipeline, RLI_ABANDONED);
    pthread_mutex_destroy(&pipeline->mutex);
}
