/* Heard: what listeners are told, compared with what became of their keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/heard.h"

#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

#define MS INT64_C(1000000)
#define KEYS (PLAN_OBJECTS + PLAN_THREADS)
#define KEPT 512
/* A message comes within a round trip and a wake-up, when nothing fails. */
#define TOLD_MS 1000

/* How often one key was deleted and has expired, and when, for the last KEPT times of each. */
typedef struct fate {
    char key[32];
    int count[2];
    int64_t at_ns[2][KEPT];
} fate;

static fate fates[KEYS];
static int fate_count;
static hearing *hearings;
static bool calls[PLAN_CLIENTS]; /* some function of that client runs */

const char *heard_word(rlock_event_kind kind)
{
    return kind == RLOCK_EVENT_EXPIRED ? "has expired" : "was deleted";
}

static fate *fate_of(const char *key, size_t length)
{
    for (int i = 0; i < fate_count; i++) {
        if (strlen(fates[i].key) == length && memcmp(fates[i].key, key, length) == 0)
            return &fates[i];
    }
    return NULL;
}

void heard_happened(const char *key, size_t length, const char *what)
{
    bool expired = strcmp(what, "expired") == 0;
    fate *of = expired || strcmp(what, "del") == 0 ? fate_of(key, length) : NULL;
    if (of)
        of->at_ns[expired][of->count[expired]++ % KEPT] = world_now_ns();
}

void heard_begin(hearing *one)
{
    one->began_ns = world_now_ns();
    one->next = hearings;
    hearings = one;
    if (!fate_of(one->key, strlen(one->key)) && fate_count < KEYS)
        snprintf(fates[fate_count++].key, sizeof fates->key, "%s", one->key);
}

/* How many of them were before that. */
static int count_before(const fate *of, rlock_event_kind kind, int64_t ns)
{
    int count = of->count[kind];
    while (count > 0 && of->count[kind] - count < KEPT && of->at_ns[kind][(count - 1) % KEPT] >= ns)
        count--;
    return count;
}

/* Where messages may take as long as they like, all that ever was may be told. */
static int most_to_tell(const hearing *one, const fate *of, rlock_event_kind kind)
{
    int64_t on_the_way_ns = (run_of->latency_us + run_of->jitter_us) * 1000 * 3 + MS;
    return of->count[kind] - (run_is_calm() ? count_before(of, kind, one->began_ns - on_the_way_ns) : 0);
}

void heard_told(hearing *one, rlock_event_kind kind)
{
    const fate *of = fate_of(one->key, strlen(one->key));
    one->told[kind]++;
    one->told_ns[kind] = world_now_ns();
    if (calls[one->client])
        finding("%s is called while another function of its client runs", one->title);
    calls[one->client] = true;
    if (one->ended)
        finding("%s is called after it was removed", one->title);
    if (of && one->told[kind] > most_to_tell(one, of, kind))
        finding("%s is told for the %d. time that its key %s, which has happened %d times", one->title, one->told[kind],
                heard_word(kind), most_to_tell(one, of, kind));
}

void heard_has_told(const hearing *one)
{
    calls[one->client] = false;
}

int64_t heard_round_ms(int client)
{
    int64_t all_ms = 0;
    for (const hearing *one = hearings; one; one = one->next)
        all_ms += one->client == client ? 2 * one->pause_ms : 0;
    return all_ms;
}

/* Since when it waits to be told: the first of what it has not been told of that happened after it was added. */
static int64_t untold_ns(const hearing *one, const fate *of, rlock_event_kind kind)
{
    int64_t first_ns = WORLD_NEVER, from_ns = one->told_ns[kind] > one->added_ns ? one->told_ns[kind] : one->added_ns;
    for (int i = of->count[kind]; i > 0 && of->count[kind] - i < KEPT && of->at_ns[kind][(i - 1) % KEPT] > from_ns; i--)
        first_ns = of->at_ns[kind][(i - 1) % KEPT];
    return first_ns;
}

/* It may just have been called when it happened; then all others are called before it, and it may be in the middle of a
 * round. */
static void look_at(const hearing *one, rlock_event_kind kind)
{
    const fate *of = fate_of(one->key, strlen(one->key));
    if (!of || of->count[kind] == 0 || one->ended || !one->added_ns)
        return;
    int64_t untold_ms = (world_now_ns() - untold_ns(one, of, kind)) / MS;
    if (untold_ms > TOLD_MS + 2 * heard_round_ms(one->client))
        finding("%s was not told for %" PRId64 " ms that its key %s", one->title, untold_ms,
                heard_word(kind));
}

void heard_forget(void)
{
    hearings = NULL;
}

void heard_look(void)
{
    for (const hearing *one = hearings; one && (run_is_calm() || run_is_gentle()); one = one->next) {
        look_at(one, RLOCK_EVENT_DELETED);
        look_at(one, RLOCK_EVENT_EXPIRED);
    }
}
