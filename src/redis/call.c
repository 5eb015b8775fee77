/* A call: one script, asked until it is answered or its attempts are used up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/call.h"

#include "error.h"
#include "random.h"
#include "redis/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- arguments --- */

static void start(rli_call *call)
{
    *call = (rli_call){.failed_ms = RLI_NEVER, .same_run = true};
    call->words = call->inline_words;
    call->lengths = call->inline_lengths;
    call->capacity = RLI_CALL_INLINE + 2;
}

void rli_call_script(rli_call *call, const rli_script *script, int keys)
{
    start(call);
    call->script = script;
    call->count = 2; /* EVALSHA and the SHA1, or EVAL and the text */
    rli_call_add_number(call, keys);
}

static bool make_room(rli_call *call)
{
    size_t capacity = call->capacity * 2;
    const char **words = malloc(capacity * sizeof *words);
    size_t *lengths = malloc(capacity * sizeof *lengths);
    if (!words || !lengths) {
        free(words);
        free(lengths);
        return false;
    }
    memcpy(words, call->words, call->count * sizeof *words);
    memcpy(lengths, call->lengths, call->count * sizeof *lengths);
    if (call->words != call->inline_words) {
        free(call->words);
        free(call->lengths);
    }
    call->words = words;
    call->lengths = lengths;
    call->capacity = capacity;
    return true;
}

void rli_call_add(rli_call *call, const char *word, size_t length)
{
    if (call->count == call->capacity && !make_room(call)) {
        call->no_memory = true;
        return;
    }
    if (call->count == 3)
        call->key = word;
    call->words[call->count] = word;
    call->lengths[call->count++] = length;
}

void rli_call_add_text(rli_call *call, const char *text)
{
    rli_call_add(call, text, strlen(text));
}

void rli_call_add_number(rli_call *call, int64_t number)
{
    char *text = call->numbers[call->number_count++];
    size_t length = rli_decimal(number, text);
    rli_call_add(call, text, length);
}

void rli_call_clear(rli_call *call)
{
    if (call->words != call->inline_words) {
        free(call->words);
        free(call->lengths);
    }
    if (call->reply)
        freeReplyObject(call->reply);
    call->reply = NULL;
}

/* --- attempts --- */

static rli_outcome send_once(rli_call *call, rli_caller *caller, rli_lane *lane, bool whole_script,
                             rli_answer *answer)
{
    call->words[0] = whole_script ? "EVAL" : "EVALSHA";
    call->lengths[0] = strlen(call->words[0]);
    call->words[1] = whole_script ? call->script->text : call->script->sha1;
    call->lengths[1] = strlen(call->words[1]);
    int64_t timeout_ms = call->timeout_ms ? call->timeout_ms : lane->settings->timeout_ms;
    rli_command command = {.count = call->count, .words = call->words, .lengths = call->lengths};
    return rli_lane_call(lane, caller, &command, timeout_ms, answer);
}

/* One attempt: by SHA1, and with the text when the server does not know the script (yet, or any
 * more after a restart or SCRIPT FLUSH). */
static rli_outcome attempt(rli_call *call, rli_caller *caller, rli_lane *lane, rli_answer *answer)
{
    rli_outcome outcome = send_once(call, caller, lane, false, answer);
    if (outcome == RLI_ANSWERED && rli_reply_is_noscript(answer->reply)) {
        freeReplyObject(answer->reply);
        outcome = send_once(call, caller, lane, true, answer);
    }
    return outcome;
}

/* Redisson's EqualJitterDelay: half of a doubling delay for certain, the other half by chance, so
 * that callers that failed together don't come back together. */
static int64_t pause_ms(const rli_settings *settings, int done)
{
    int64_t delay = settings->retry_base_delay_ms;
    for (int i = 0; i < done && delay < settings->retry_max_delay_ms; i++)
        delay *= 2;
    if (delay > settings->retry_max_delay_ms)
        delay = settings->retry_max_delay_ms;
    return delay / 2 + rli_random_up_to(delay / 2);
}

static rlock_status unavailable(const rli_lane *lane, rli_outcome outcome, int done, const char *why)
{
    const char *word = done == 1 ? "attempt" : "attempts";
    if (outcome == RLI_SILENT)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer within %lld ms (%d %s)",
                        lane->address->text, (long long)lane->settings->timeout_ms, done, word);
    if (outcome == RLI_BROKEN)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s closed the connection before it answered (%d %s)",
                        lane->address->text, done, word);
    if (outcome == RLI_GAVE_UP)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer in the time given (%d %s)",
                        lane->address->text, done, word);
    return rli_fail(RLOCK_UNAVAILABLE, "%.380s (%d %s)", why, done, word);
}

/* An attempt that was sent got no answer. */
static void note_unanswered(rli_call *call, uint64_t run, uint64_t *runs)
{
    call->unanswered++;
    if (*runs == 0)
        *runs = run;
    if (run == 0 || run != *runs)
        call->same_run = false;
}

/* The attempt came to nothing: whether another may follow. */
static bool worth_another(const rli_call *call, const rli_caller *caller, rli_outcome outcome,
                          const rli_answer *answer, int done, int attempts)
{
    if (outcome == RLI_GAVE_UP || done >= attempts || rli_now_ms() >= caller->deadline_ms)
        return false;
    if (outcome == RLI_UNSENT)
        return answer->status == RLOCK_UNAVAILABLE;
    return outcome == RLI_ANSWERED || !call->once;
}

static rlock_status failed(const rli_call *call, rli_caller *caller, const rli_lane *lane, rli_outcome outcome,
                           const rli_answer *answer, int done)
{
    if (outcome == RLI_UNSENT && answer->status != RLOCK_UNAVAILABLE)
        return answer->status;
    if (call->once && call->unanswered)
        return rli_fail(RLOCK_UNKNOWN, "Redis at %s got the request, but its answer was lost; look "
                        "before you repeat it", lane->address->text);
    rlock_status ended = outcome == RLI_GAVE_UP ? rli_caller_check(caller) : RLOCK_OK;
    if (ended != RLOCK_OK)
        return ended;
    char why[400];
    snprintf(why, sizeof why, "%.399s", rlock_last_error());
    return unavailable(lane, outcome, done, why);
}

rlock_status rli_call_run(rli_call *call, rli_caller *caller, rli_lane *lane)
{
    uint64_t runs = 0;
    int attempts = call->attempts ? call->attempts : lane->settings->retry_attempts + 1;
    call->sent_ms = rli_now_ms();
    if (call->no_memory)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (call->once)
        rli_lane_refresh(lane);
    for (int done = 1;; done++) {
        rli_answer answer;
        int64_t began_ms = done == 1 ? call->sent_ms : rli_now_ms();
        rli_outcome outcome = attempt(call, caller, lane, &answer);
        /* What was refused, or never left, has set no PTTL that could be running. */
        if (!call->unanswered && outcome != RLI_UNSENT)
            call->sent_ms = answer.sent_ms;
        if (outcome == RLI_ANSWERED && answer.reply->type != REDIS_REPLY_ERROR) {
            call->reply = answer.reply;
            call->same_run = call->same_run && (!call->unanswered || answer.run == runs);
            return RLOCK_OK;
        }
        if (outcome == RLI_ANSWERED) {
            bool passing = rli_reply_is_passing(answer.reply);
            rlock_status refused = rli_reply_refusal(answer.reply, call->key ? call->key : "");
            freeReplyObject(answer.reply);
            if (!passing)
                return refused;
        } else if (outcome != RLI_UNSENT) {
            note_unanswered(call, answer.run, &runs);
        }
        if (call->failed_ms == RLI_NEVER)
            call->failed_ms = began_ms;
        if (!worth_another(call, caller, outcome, &answer, done, attempts))
            return failed(call, caller, lane, outcome, &answer, done);
        /* A connection that broke under us says nothing about the server: ask again at once. */
        int64_t until_ms = outcome == RLI_BROKEN && done == 1
                               ? 0 : rli_after_ms(pause_ms(lane->settings, done - 1));
        while (rli_now_ms() < until_ms && rli_now_ms() < caller->deadline_ms) {
            rlock_status ended = rli_caller_check(caller);
            if (ended != RLOCK_OK)
                return ended;
            rli_caller_sleep(caller, until_ms < caller->deadline_ms ? until_ms : caller->deadline_ms);
        }
    }
}
