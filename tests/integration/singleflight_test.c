/* Singleflight: of many callers one loads, and whatever becomes of it, each gets an answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rlock_singleflight *flights;
static event began, may_end; /* a load has begun; it may end */

static void open_flights(void)
{
    event_init(&began);
    event_init(&may_end);
    flights = rlock_singleflight_new();
    cr_assert(flights != NULL);
}

static void close_flights(void)
{
    rlock_singleflight_free(flights);
    flights = NULL;
    event_destroy(&began);
    event_destroy(&may_end);
}

TestSuite(singleflight, .init = open_flights, .fini = close_flights);

#define KEY "user:42"
#define SOON_MS 10000

/* --- a load that the test lets end --- */

typedef struct source {
    atomic_int loads;
    event *began, *may_end;
    rlock_status status;
    const char *text; /* NULL: no bytes */
    bool ends_thread; /* in the first load */
} source;

static rlock_status load(const char *key, void *arg, void **bytes, size_t *length)
{
    source *self = arg;
    int number = atomic_fetch_add(&self->loads, 1) + 1;
    cr_assert(strcmp(key, KEY) == 0);
    if (self->began)
        event_set(self->began);
    if (self->may_end)
        cr_assert(event_wait_ms(self->may_end, SOON_MS));
    if (self->ends_thread && number == 1)
        pthread_exit(NULL);
    if (self->text && !(*bytes = strdup(self->text)))
        return RLOCK_NO_MEMORY;
    *length = self->text ? strlen(self->text) : 0;
    return self->status;
}

typedef struct asking {
    source *from;
    rlock_singleflight_options options;
    rlock_loaded *loaded;
} asking;

static rlock_status ask(void *arg)
{
    asking *self = arg;
    return rlock_singleflight_do(flights, KEY, &self->options, load, self->from, &self->loaded);
}

static asking asking_from(source *from)
{
    return (asking){.from = from, .options = RLOCK_SINGLEFLIGHT_OPTIONS_INIT};
}

static void assert_got(rlock_loaded *loaded, const char *text)
{
    size_t length = 77;
    const char *bytes = rlock_loaded_bytes(loaded, &length);
    cr_assert(bytes && length == strlen(text) && memcmp(bytes, text, length) == 0);
    rlock_loaded_free(loaded);
}

/* --- one for all --- */

Test(singleflight, one_of_many_loads_and_all_get_it)
{
    enum { CALLERS = 8 };
    source from = {.began = &began, .may_end = &may_end, .text = "Ada"};
    asking calls[CALLERS];
    actor *callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        calls[i] = asking_from(&from);
        callers[i] = actor_start();
        actor_begin(callers[i], ask, &calls[i]);
        if (i == 0)
            cr_assert(event_wait_ms(&began, SOON_MS));
        else
            cr_assert(actor_asleep(callers[i], SOON_MS));
    }
    event_set(&may_end);
    for (int i = 0; i < CALLERS; i++) {
        assert_ok(actor_finish(callers[i], SOON_MS));
        cr_assert(rlock_loaded_bytes(calls[i].loaded, NULL) == rlock_loaded_bytes(calls[0].loaded, NULL), "not the same");
    }
    cr_assert(from.loads == 1, "%d loads", (int)from.loads);
    for (int i = 0; i < CALLERS; i++) {
        assert_got(calls[i].loaded, "Ada");
        actor_end(callers[i]);
    }
}

/* It is no cache. */
Test(singleflight, who_asks_later_loads_again)
{
    source from = {.text = "Ada"};
    for (int i = 1; i <= 3; i++) {
        rlock_loaded *loaded = NULL;
        assert_ok(rlock_singleflight_do(flights, KEY, NULL, load, &from, &loaded));
        assert_got(loaded, "Ada");
        cr_assert(from.loads == i);
    }
}

static rlock_status load_another(const char *key, void *arg, void **bytes, size_t *length)
{
    source *from = arg;
    rlock_loaded *loaded = NULL;
    (void)key;
    assert_ok(rlock_singleflight_do(flights, KEY, NULL, load, from, &loaded));
    *bytes = strdup(rlock_loaded_bytes(loaded, length));
    rlock_loaded_free(loaded);
    return RLOCK_OK;
}

Test(singleflight, load_may_ask_for_another_key)
{
    source from = {.text = "Ada"};
    rlock_loaded *loaded = NULL;
    assert_ok(rlock_singleflight_do(flights, "page:1", NULL, load_another, &from, &loaded));
    assert_got(loaded, "Ada");
}

/* Keys that are loaded at the same time, each within the load of the one before. */
static rlock_status load_next(const char *key, void *arg, void **bytes, size_t *length)
{
    int number = atoi(key + 4);
    char next[16];
    rlock_loaded *loaded = NULL;
    rlock_status status = RLOCK_OK;
    snprintf(next, sizeof next, "key:%d", number - 1);
    if (number > 0)
        status = rlock_singleflight_do(flights, next, NULL, load_next, arg, &loaded);
    cr_assert(number == 0 || strcmp(rlock_loaded_bytes(loaded, NULL), next) == 0);
    rlock_loaded_free(loaded);
    *bytes = strdup(key);
    *length = strlen(key) + 1;
    return status;
}

Test(singleflight, many_keys_have_a_load_each)
{
    rlock_loaded *loaded = NULL;
    assert_ok(rlock_singleflight_do(flights, "key:100", NULL, load_next, NULL, &loaded));
    cr_assert_str_eq(rlock_loaded_bytes(loaded, NULL), "key:100");
    rlock_loaded_free(loaded);
}

static rlock_status load_nothing(const char *key, void *arg, void **bytes, size_t *length)
{
    (void)key;
    *bytes = malloc(1);
    *length = 0;
    return *(rlock_status *)arg;
}

/* No bytes, which is not the same as none. */
Test(singleflight, empty_answer_is_an_answer)
{
    rlock_loaded *loaded = NULL;
    rlock_status status = RLOCK_OK;
    size_t length = 77;
    assert_ok(rlock_singleflight_do(flights, KEY, NULL, load_nothing, &status, &loaded));
    cr_assert(rlock_loaded_bytes(loaded, &length) && length == 0);
    rlock_loaded_free(loaded);
}

/* --- errors --- */

/* What it says of an error is told; what others said before on its thread is not. */
static rlock_status load_and_say(const char *key, void *arg, void **bytes, size_t *length)
{
    (void)key;
    (void)bytes;
    (void)length;
    return arg ? rlock_unlock(NULL) : RLOCK_UNAVAILABLE;
}

Test(singleflight, message_is_that_of_its_load)
{
    rlock_loaded *loaded = NULL;
    assert_status(rlock_unlock(NULL), RLOCK_INVALID);
    assert_status(rlock_singleflight_do(flights, KEY, NULL, load_and_say, NULL, &loaded), RLOCK_UNAVAILABLE);
    assert_error("the load of \"" KEY "\" failed");
    cr_assert(!strstr(rlock_last_error(), "NULL"), "%s", rlock_last_error());
    assert_status(rlock_singleflight_do(flights, KEY, NULL, load_and_say, "", &loaded), RLOCK_INVALID);
    assert_error("NULL");
    cr_assert(!strstr(rlock_last_error(), "the load of"), "%s", rlock_last_error());
}

/* With its bytes and its words; and the next one asks anew. */
Test(singleflight, error_reaches_all_and_is_not_kept)
{
    source from = {.began = &began, .may_end = &may_end, .status = RLOCK_UNAVAILABLE, .text = "the database is down"};
    asking first = asking_from(&from), second = asking_from(&from);
    actor *one = actor_start(), *another = actor_start();
    actor_begin(one, ask, &first);
    cr_assert(event_wait_ms(&began, SOON_MS));
    actor_begin(another, ask, &second);
    cr_assert(actor_asleep(another, SOON_MS));
    event_set(&may_end);
    assert_status(actor_finish(one, SOON_MS), RLOCK_UNAVAILABLE);
    assert_status(actor_finish(another, SOON_MS), RLOCK_UNAVAILABLE);
    cr_assert(strstr(actor_error(another), KEY), "%s", actor_error(another));
    assert_got(first.loaded, "the database is down");
    assert_got(second.loaded, "the database is down");
    from = (source){.text = "Ada"};
    rlock_loaded *loaded = NULL;
    assert_ok(rlock_singleflight_do(flights, KEY, NULL, load, &from, &loaded));
    assert_got(loaded, "Ada");
    actor_end(one);
    actor_end(another);
}

/* --- a loader that ends --- */

static void *ask_and_end(void *arg)
{
    (void)ask(arg);
    cr_assert_fail("its thread went on");
    return NULL;
}

RealTest(singleflight, another_loads_when_the_thread_of_the_load_has_ended)
{
    source from = {.began = &began, .may_end = &may_end, .text = "Ada", .ends_thread = true};
    asking lost = asking_from(&from), calls[3];
    actor *callers[3];
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, ask_and_end, &lost) == 0 && event_wait_ms(&began, SOON_MS));
    for (int i = 0; i < 3; i++) {
        calls[i] = asking_from(&from);
        callers[i] = actor_start();
        actor_begin(callers[i], ask, &calls[i]);
        cr_assert(actor_asleep(callers[i], SOON_MS));
    }
    event_set(&may_end);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        assert_ok(actor_finish(callers[i], SOON_MS));
        assert_got(calls[i].loaded, "Ada");
        actor_end(callers[i]);
    }
    cr_assert(from.loads == 2, "%d loads", (int)from.loads);
}

/* Nobody waited for it. */
RealTest(singleflight, load_whose_thread_has_ended_is_begun_anew)
{
    source from = {.text = "Ada", .ends_thread = true};
    asking lost = asking_from(&from);
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, ask_and_end, &lost) == 0);
    pthread_join(thread, NULL);
    rlock_loaded *loaded = NULL;
    assert_ok(rlock_singleflight_do(flights, KEY, NULL, load, &from, &loaded));
    assert_got(loaded, "Ada");
}

/* The first time, it ends its thread; the second, it asks for what it is to load. */
static rlock_status load_or_ask_itself(const char *key, void *arg, void **bytes, size_t *length)
{
    source *from = arg;
    rlock_loaded *loaded = NULL;
    if (from->loads == 0)
        return load(key, arg, bytes, length);
    assert_status(rlock_singleflight_do(flights, key, NULL, load_or_ask_itself, arg, &loaded), RLOCK_INVALID);
    return RLOCK_OK;
}

static rlock_status ask_with_it(void *arg)
{
    asking *self = arg;
    return rlock_singleflight_do(flights, KEY, NULL, load_or_ask_itself, self->from, &self->loaded);
}

static void *ask_with_it_and_end(void *arg)
{
    (void)ask_with_it(arg);
    cr_assert_fail("its thread went on");
    return NULL;
}

/* Nor may the one that goes on with the load ask for its own key. */
RealTest(singleflight, load_that_was_taken_over_knows_its_thread)
{
    source from = {.began = &began, .may_end = &may_end, .text = "Ada", .ends_thread = true};
    asking lost = asking_from(&from), waiting = asking_from(&from);
    actor *waiter = actor_start();
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, ask_with_it_and_end, &lost) == 0 && event_wait_ms(&began, SOON_MS));
    actor_begin(waiter, ask_with_it, &waiting);
    cr_assert(actor_asleep(waiter, SOON_MS));
    event_set(&may_end);
    pthread_join(thread, NULL);
    assert_ok(actor_finish(waiter, SOON_MS));
    actor_end(waiter);
}

/* --- the thread of a load that has ended --- */

typedef struct last_words {
    asking before, after;
    rlock_status status;
} last_words;

static pthread_key_t words;

static void say(void *arg)
{
    last_words *self = arg;
    self->status = ask(&self->after);
}

static void *ask_end_and_ask(void *arg)
{
    last_words *self = arg;
    cr_assert(pthread_setspecific(words, self) == 0);
    return ask_and_end(&self->before);
}

/* It may ask again while it ends, and the system gives its id to other threads, before anybody goes on with its load. */
RealTest(singleflight, who_has_the_id_of_an_ended_loader_is_not_taken_for_one_that_loads)
{
    cr_assert(pthread_key_create(&words, say) == 0);
    for (int i = 0; i < 50; i++) {
        source from = {.began = &began, .may_end = &may_end, .text = "Ada", .ends_thread = true};
        last_words last = {asking_from(&from), asking_from(&from), RLOCK_UNKNOWN};
        asking waiting = asking_from(&from);
        actor *waiter = actor_start();
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, ask_end_and_ask, &last) == 0 && event_wait_ms(&began, SOON_MS));
        actor_begin(waiter, ask, &waiting);
        cr_assert(actor_asleep(waiter, SOON_MS));
        event_set(&may_end);
        pthread_join(thread, NULL);
        assert_ok(last.status);
        assert_got(last.after.loaded, "Ada");
        assert_ok(actor_finish(waiter, SOON_MS));
        assert_got(waiting.loaded, "Ada");
        actor_end(waiter);
        close_flights();
        open_flights();
    }
    pthread_key_delete(words);
}

/* --- waits that end --- */

Test(singleflight, wait_ends_with_its_time_or_its_token_and_the_load_goes_on)
{
    source from = {.began = &began, .may_end = &may_end, .text = "Ada"};
    asking first = asking_from(&from), brief = asking_from(&from), cancelled = asking_from(&from);
    actor *one = actor_start(), *another = actor_start();
    actor_begin(one, ask, &first);
    cr_assert(event_wait_ms(&began, SOON_MS));
    brief.options.wait_ms = 0;
    assert_status(ask(&brief), RLOCK_TIMEOUT);
    assert_error(KEY);
    brief.options.wait_ms = 20;
    assert_status(ask(&brief), RLOCK_TIMEOUT);
    rlock_cancel *token = cancelled.options.cancel = rlock_cancel_new();
    actor_begin(another, ask, &cancelled);
    cr_assert(actor_asleep(another, SOON_MS));
    rlock_cancel_fire(token);
    assert_status(actor_finish(another, SOON_MS), RLOCK_CANCELLED);
    cr_assert(!brief.loaded && !cancelled.loaded && !actor_ended(one, 0));
    event_set(&may_end);
    assert_ok(actor_finish(one, SOON_MS));
    assert_got(first.loaded, "Ada");
    actor_end(one);
    actor_end(another);
    rlock_cancel_free(token);
}

Test(singleflight, that_is_freed_ends_waits_and_no_load)
{
    source from = {.began = &began, .may_end = &may_end, .text = "Ada"};
    asking first = asking_from(&from), second = asking_from(&from);
    actor *one = actor_start(), *another = actor_start();
    actor_begin(one, ask, &first);
    cr_assert(event_wait_ms(&began, SOON_MS));
    actor_begin(another, ask, &second);
    cr_assert(actor_asleep(another, SOON_MS));
    rlock_singleflight_free(flights);
    flights = NULL;
    assert_status(actor_finish(another, SOON_MS), RLOCK_CLOSED);
    cr_assert(strstr(actor_error(another), "freed"), "%s", actor_error(another));
    event_set(&may_end);
    assert_ok(actor_finish(one, SOON_MS));
    assert_got(first.loaded, "Ada");
    actor_end(one);
    actor_end(another);
}

/* --- what is refused --- */

static rlock_status load_itself(const char *key, void *arg, void **bytes, size_t *length)
{
    rlock_loaded *loaded = NULL;
    (void)bytes;
    (void)length;
    assert_status(rlock_singleflight_do(flights, key, NULL, load_itself, arg, &loaded), RLOCK_INVALID);
    assert_error("already loading", KEY);
    return RLOCK_OK;
}

Test(singleflight, wrong_arguments_are_named)
{
    source from = {.text = "Ada"};
    rlock_loaded *loaded = NULL;
    rlock_singleflight_options options = {.size = 3};
    assert_status(rlock_singleflight_do(NULL, KEY, NULL, load, &from, &loaded), RLOCK_INVALID);
    assert_error("singleflight");
    loaded = (rlock_loaded *)(void *)&from;
    assert_status(rlock_singleflight_do(flights, NULL, NULL, load, &from, &loaded), RLOCK_INVALID);
    assert_error("key");
    cr_assert(!loaded);
    assert_status(rlock_singleflight_do(flights, KEY, NULL, NULL, &from, &loaded), RLOCK_INVALID);
    assert_error("load");
    assert_status(rlock_singleflight_do(flights, KEY, NULL, load, &from, NULL), RLOCK_INVALID);
    assert_status(rlock_singleflight_do(flights, KEY, &options, load, &from, &loaded), RLOCK_INVALID);
    assert_error("RLOCK_SINGLEFLIGHT_OPTIONS_INIT");
    assert_ok(rlock_singleflight_do(flights, KEY, NULL, load_itself, &from, &loaded));
    cr_assert(!loaded && from.loads == 0);
    rlock_singleflight_free(NULL);
    rlock_loaded_free(NULL);
}

static const char *ask_in_the_child(child *self)
{
    source from = {.text = "Ada"};
    rlock_loaded *loaded = NULL;
    (void)self;
    child_check(rlock_singleflight_do(flights, KEY, NULL, load, &from, &loaded) == RLOCK_FORKED && from.loads == 0);
    rlock_singleflight_free(flights);
    return NULL;
}

RealTest(singleflight, of_a_parent_process_is_refused)
{
    in_child(ask_in_the_child);
}
