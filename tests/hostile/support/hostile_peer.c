/* One connection to the hostile server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/hostile_parts.h"

#include "tests/fault/support/resp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- its life --- */

static void unblock(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

peer *peer_open(foe *of, int at, int client, int number)
{
    static const int calms[] = {200, 60, 30, 20, 12, 8, 5, 2};
    peer *self = calloc(1, sizeof *self);
    int server = place_connect(&of->server_at);
    if (!self)
        abort();
    if (server < 0) {
        free(self);
        return NULL;
    }
    unblock(client);
    unblock(server);
    *self = (peer){.of = of, .at = at, .client = client, .server = server,
                   .dice = dice_seeded(of->seed + (uint64_t)number)};
    self->calm = calms[dice_roll(&self->dice, 8)];
    return self;
}

static void drop_owed(peer *self)
{
    owed *gone = self->first;
    self->first = gone->next;
    bytes_free(&gone->answer);
    free(gone);
}

void peer_close(peer *self)
{
    if (self->resets)
        setsockopt(self->client, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    while (self->first)
        drop_owed(self);
    bytes_free(&self->from_client);
    bytes_free(&self->to_server);
    bytes_free(&self->from_server);
    bytes_free(&self->to_client);
    close(self->client);
    close(self->server);
    free(self);
}

/* --- answers --- */

static const char *channel_of(const peer *self)
{
    return *self->channel ? self->channel : NULL;
}

static void follow(peer *self, distortion what, int64_t now_ms)
{
    if (what.delay_ms)
        self->silent_until_ms = now_ms + what.delay_ms;
    self->silent |= what.fate == FATE_FALLS_SILENT;
    self->drips |= what.fate == FATE_DRIPS;
    self->ending |= what.fate == FATE_HANGS_UP || what.fate == FATE_RESETS;
    self->resets |= what.fate == FATE_RESETS;
}

static void answer(peer *self, const char *data, size_t length, int64_t now_ms)
{
    foe *of = self->of;
    if (self->ending || self->silent)
        return;
    atomic_fetch_add(&of->counts->answers, 1);
    if (dice_roll(&self->dice, self->calm) == 0) {
        atomic_fetch_add(&of->counts->distortions, 1);
        follow(self, distort(&self->dice, &of->world.ports, &of->past, channel_of(self), data, length, &self->to_client),
               now_ms);
    } else {
        bytes_add(&self->to_client, data, length);
    }
    past_add(&of->past, data, length);
}

static bool is_message(const char *data, size_t length)
{
    size_t shown = length < 32 ? length : 32;
    return bytes_have(data, shown, "\r\nmessage\r\n") || bytes_have(data, shown, "\r\nsmessage\r\n");
}

/* Answers in their order; messages of the server behind as they come. */
static void answer_all(peer *self, int64_t now_ms)
{
    for (;;) {
        ssize_t length = self->from_server.length ? resp_length(self->from_server.data, self->from_server.length) : 0;
        bool message = length > 0 && is_message(self->from_server.data, (size_t)length);
        if (!message && self->first && self->first->own) {
            answer(self, self->first->answer.data, self->first->answer.length, now_ms);
            drop_owed(self);
        } else if (length > 0) {
            answer(self, self->from_server.data, (size_t)length, now_ms);
            bytes_take(&self->from_server, (size_t)length);
            if (!message && self->first)
                drop_owed(self);
        } else {
            return;
        }
    }
}

/* --- requests --- */

static void note_channel(peer *self, char *const words[], int count)
{
    if (count > 1 && (strcmp(words[0], "SUBSCRIBE") == 0 || strcmp(words[0], "SSUBSCRIBE") == 0))
        snprintf(self->channel, sizeof self->channel, "%s", words[1]);
}

static void take_request(peer *self, const char *data, size_t length)
{
    char *words[8], *copy = malloc(length + 1);
    owed *fresh = calloc(1, sizeof *fresh);
    if (!copy || !fresh)
        abort();
    memcpy(copy, data, length);
    copy[length] = 0;
    int count = resp_words(copy, length, words, 8);
    fresh->own = count > 0 && topologies_answer(&self->of->world, &self->dice, self->at, words, count, &fresh->answer);
    if (!fresh->own)
        bytes_add(&self->to_server, data, length);
    note_channel(self, words, count);
    free(copy);
    if (self->first)
        self->last->next = fresh;
    else
        self->first = fresh;
    self->last = fresh;
}

/* --- bytes --- */

static bool read_from(int fd, bytes *to)
{
    char piece[65536];
    ssize_t n = read(fd, piece, sizeof piece);
    if (n > 0)
        bytes_add(to, piece, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool write_to(int fd, bytes *from, size_t most)
{
    size_t length = from->length < most ? from->length : most;
    ssize_t n = length ? write(fd, from->data, length) : 0;
    if (n > 0)
        bytes_take(from, (size_t)n);
    return n >= 0 || errno == EAGAIN || errno == EINTR;
}

void peer_wants(const peer *self, struct pollfd polled[2])
{
    bool speaks = self->to_client.length && !self->silent_until_ms;
    polled[0] = (struct pollfd){.fd = self->client, .events = (short)(POLLIN | (speaks ? POLLOUT : 0))};
    polled[1] = (struct pollfd){.fd = self->server, .events = (short)(POLLIN | (self->to_server.length ? POLLOUT : 0))};
}

static bool hear_requests(peer *self)
{
    ssize_t length;
    if (!read_from(self->client, &self->from_client))
        return false;
    while ((length = resp_length(self->from_client.data, self->from_client.length)) > 0) {
        take_request(self, self->from_client.data, (size_t)length);
        bytes_take(&self->from_client, (size_t)length);
    }
    return true;
}

bool peer_step(peer *self, const struct pollfd polled[2], int64_t now_ms)
{
    if (polled[0].revents & (POLLIN | POLLHUP | POLLERR) && !hear_requests(self))
        return false;
    if (polled[1].revents & (POLLIN | POLLHUP | POLLERR) && !read_from(self->server, &self->from_server))
        return false;
    if (now_ms >= self->silent_until_ms)
        self->silent_until_ms = 0;
    answer_all(self, now_ms);
    if (*self->channel && !self->silent && !self->ending && dice_roll(&self->dice, 20 * self->calm) == 0)
        add_push(&self->dice, channel_of(self), &self->to_client);
    if (!self->silent_until_ms && !write_to(self->client, &self->to_client, self->drips ? 3 : SIZE_MAX))
        return false;
    return write_to(self->server, &self->to_server, SIZE_MAX) && !(self->ending && !self->to_client.length);
}
