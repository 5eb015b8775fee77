/* The impostor: a process in a server's place that answers as the test says, which need not be as Redis would.
 * (The fault proxy passes on only what client and server say.) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_IMPOSTOR_H
#define FAULT_IMPOSTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct impostor impostor;

/* One connection to it. */
typedef struct impostor_peer {
    int fd;
    int number;       /* connections count from 0 */
    impostor *of;
    const void *context;
} impostor_peer;

/* Answers one request, given whole, as it came, and terminated; "" stands for the connection itself, once, before its
 * requests. False: hangs up. Runs in the impostor's process, in one thread a connection. */
typedef bool impostor_fn(impostor_peer *peer, const char *request);

/* Listens on a free loopback port. Start it before the test has threads. It ends with the test's process. */
impostor *impostor_start(impostor_fn *answer, const void *context);
void impostor_stop(impostor *impostor); /* NULL allowed */
int impostor_port(const impostor *impostor);
/* redis://127.0.0.1:port?query; the text lives as long as the impostor, until it is asked for again. */
const char *impostor_url(impostor *impostor, const char *query);

/* --- for the function that answers --- */

/* False: the client has hung up. */
bool impostor_say(impostor_peer *peer, const char *text);
bool impostor_say_bulk(impostor_peer *peer, const char *text);
/* Says `piece` over and over until the client hangs up, or has taken `most` bytes. How many it took, as far as known. */
int64_t impostor_flood(impostor_peer *peer, const char *piece, int64_t most);
/* Answers as a server would that has no keys, no password, and no scripts that do anything: nil. */
bool impostor_answer(impostor_peer *peer, const char *request);

/* --- what both sides know: numbers that start at 0 --- */

enum { IMPOSTOR_NOTES = 8 };
void impostor_note(impostor *impostor, int which, int64_t number); /* added */
int64_t impostor_noted(const impostor *impostor, int which);
/* Waits until it is `number` at least. False: not within ms. */
bool impostor_await(const impostor *impostor, int which, int64_t number, int64_t ms);

#endif
