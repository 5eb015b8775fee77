/* The impostor: a process in a server's place that answers as the test says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"

#include "tests/fault/support/bytes.h"
#include "tests/fault/support/place.h"
#include "tests/fault/support/resp.h"
#include "tests/support/beside.h"
#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/support/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct impostor {
    beside *process;
    int listener;           /* of that process */
    int port_fd;          /* holds its port */
    _Atomic int64_t *notes; /* shared by both processes */
    impostor_fn *answer;
    const void *context;
    char url[512];
};

/* --- its process --- */

static bool hear(impostor_peer *peer, bytes *heard)
{
    char piece[16384];
    ssize_t n;
    do
        n = read(peer->fd, piece, sizeof piece);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        bytes_add(heard, piece, (size_t)n);
    return n > 0;
}

/* Answers all complete requests. False: the connection is over. */
static bool answer_all(impostor_peer *peer, bytes *heard)
{
    ssize_t length;
    while ((length = resp_length(heard->data, heard->length)) > 0) {
        char *request = strndup(heard->data, (size_t)length);
        bool goes_on = request && peer->of->answer(peer, request);
        free(request);
        bytes_take(heard, (size_t)length);
        if (!goes_on)
            return false;
    }
    return length == 0;
}

static void *serve(void *argument)
{
    impostor_peer *peer = argument;
    bytes heard = {0};
    bool goes_on = peer->of->answer(peer, "");
    while (goes_on && hear(peer, &heard))
        goes_on = answer_all(peer, &heard);
    bytes_free(&heard);
    close(peer->fd);
    free(peer);
    return NULL;
}

static void accept_one(impostor *self, int fd, int number)
{
    impostor_peer *peer = malloc(sizeof *peer);
    pthread_t thread;
    if (!peer)
        abort();
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* an answer may be said in pieces */
    *peer = (impostor_peer){.fd = fd, .number = number, .of = self, .context = self->context};
    if (pthread_create(&thread, NULL, serve, peer) != 0)
        abort();
    pthread_detach(thread);
}

static void be_impostor(void *argument)
{
    impostor *self = argument;
    signal(SIGPIPE, SIG_IGN);
    for (int number = 0;;) {
        struct pollfd polled = {.fd = self->listener, .events = POLLIN};
        int fd = poll(&polled, 1, -1) > 0 ? accept(self->listener, NULL, NULL) : -1;
        if (fd >= 0)
            accept_one(self, fd, number++);
    }
}

/* --- the test's side --- */

impostor *impostor_start(impostor_fn *answer, const void *context)
{
    impostor *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    size_t size = IMPOSTOR_NOTES * sizeof *self->notes;
    self->notes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert((void *)self->notes != MAP_FAILED);
    self->answer = answer;
    self->context = context;
    self->port_fd = port_hold(0);
    place at = place_of_port(port_held(self->port_fd));
    self->listener = place_listen(&at);
    cr_assert(self->listener >= 0, "no place for the impostor: %s", strerror(errno));
    self->process = beside_start(be_impostor, self, (const int[]){self->listener, -1});
    close(self->listener);
    return self;
}

void impostor_stop(impostor *self)
{
    if (!self)
        return;
    beside_kill(self->process);
    close(self->port_fd);
    munmap((void *)self->notes, IMPOSTOR_NOTES * sizeof *self->notes);
    free(self);
}

int impostor_port(const impostor *self)
{
    return port_held(self->port_fd);
}

const char *impostor_url(impostor *self, const char *query)
{
    snprintf(self->url, sizeof self->url, "redis://127.0.0.1:%d?%s", impostor_port(self), query);
    return self->url;
}

/* --- answers --- */

static bool say_bytes(impostor_peer *peer, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(peer->fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

bool impostor_say(impostor_peer *peer, const char *text)
{
    return say_bytes(peer, text, strlen(text));
}

bool impostor_say_bulk(impostor_peer *peer, const char *text)
{
    char header[32];
    snprintf(header, sizeof header, "$%zu\r\n", strlen(text));
    return impostor_say(peer, header) && impostor_say(peer, text) && impostor_say(peer, "\r\n");
}

int64_t impostor_flood(impostor_peer *peer, const char *piece, int64_t most)
{
    enum { AT_ONCE = 65536 };
    char block[AT_ONCE];
    size_t length = strlen(piece), whole = AT_ONCE / length * length;
    for (size_t at = 0; at < whole; at += length)
        memcpy(block + at, piece, length);
    int64_t taken = 0;
    while (taken < most && say_bytes(peer, block, whole))
        taken += (int64_t)whole;
    return taken;
}

bool impostor_answer(impostor_peer *peer, const char *request)
{
    char *copy = strdup(request), *words[8];
    int count = copy ? resp_words(copy, strlen(copy), words, 8) : 0;
    const char *word = count ? words[0] : "";
    bool said = true;
    if (strcmp(word, "INFO") == 0)
        said = impostor_say_bulk(peer, "run_id:0123456789abcdef0123456789abcdef01234567\r\nrole:master\r\n");
    else if (strcmp(word, "PING") == 0)
        said = impostor_say(peer, "+PONG\r\n");
    else if (strncmp(word, "EVAL", 4) == 0)
        said = impostor_say(peer, "$-1\r\n");
    else if (strstr(word, "SUBSCRIBE") && count == 2)
        said = impostor_say(peer, strncmp(word, "UN", 2) == 0 ? "*3\r\n$11\r\nunsubscribe\r\n" : "*3\r\n$9\r\nsubscribe\r\n") &&
               impostor_say_bulk(peer, words[1]) && impostor_say(peer, ":1\r\n");
    else if (*word)
        said = impostor_say(peer, "+OK\r\n");
    free(copy);
    return said;
}

/* --- notes --- */

void impostor_note(impostor *self, int which, int64_t number)
{
    atomic_fetch_add(&self->notes[which], number);
}

int64_t impostor_noted(const impostor *self, int which)
{
    return atomic_load(&self->notes[which]);
}

bool impostor_await(const impostor *self, int which, int64_t number, int64_t ms)
{
    int64_t until_ms = limit_end_ms(ms);
    while (impostor_noted(self, which) < number && now_ms() < until_ms)
        pass_ms(1);
    return impostor_noted(self, which) >= number;
}
