/* The hostile server: its process, and the test's side of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/support/hostile.h"

#include "tests/hostile/support/hostile_parts.h"
#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct hostile {
    pid_t pid;
    hostile_ports ports;
    int port_fds[HOSTILE_PORTS]; /* hold the ports */
    counts *counts;              /* shared by both processes */
};

enum { PEERS = 1000, LOOK_MS = 20 };

/* --- its process --- */

static struct process {
    foe self;
    int listeners[HOSTILE_PORTS];
    peer *peers;
    int count, accepted;
} process;

static void accept_at(int at)
{
    int client;
    while (process.count < PEERS && (client = accept4(process.listeners[at], NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        peer *fresh = peer_open(&process.self, at, client, process.accepted++);
        if (!fresh) {
            close(client);
            continue;
        }
        fresh->next = process.peers;
        process.peers = fresh;
        process.count++;
    }
}

/* The first `count` peers were polled; those that come before them are newer and were not. */
static void step_all(const struct pollfd *polled, int count)
{
    int64_t moment_ms = now_ms();
    int i = 0;
    for (peer **at = &process.peers; *at && i < count; i++) {
        peer *one = *at;
        if (peer_step(one, &polled[2 * i], moment_ms)) {
            at = &one->next;
        } else {
            *at = one->next;
            peer_close(one);
            process.count--;
        }
    }
}

static void turn(void)
{
    static struct pollfd polled[HOSTILE_PORTS + 2 * PEERS];
    int count = 0;
    for (int i = 0; i < HOSTILE_PORTS; i++)
        polled[i] = (struct pollfd){.fd = process.listeners[i], .events = POLLIN};
    for (const peer *one = process.peers; one; one = one->next)
        peer_wants(one, &polled[HOSTILE_PORTS + 2 * count++]);
    if (poll(polled, (nfds_t)(HOSTILE_PORTS + 2 * count), LOOK_MS) < 0)
        return;
    step_all(polled + HOSTILE_PORTS, count);
    for (int i = 0; i < HOSTILE_PORTS; i++)
        accept_at(i);
}

static bool is_listener(int fd)
{
    for (int i = 0; i < HOSTILE_PORTS; i++) {
        if (process.listeners[i] == fd)
            return true;
    }
    return false;
}

static _Noreturn void be_hostile(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(125);
    signal(SIGPIPE, SIG_IGN);
    for (int fd = 3; fd < 1024; fd++) {
        if (!is_listener(fd))
            close(fd);
    }
    for (;;)
        turn();
}

/* --- the test's side --- */

hostile *hostile_start(const server *behind, uint64_t seed)
{
    hostile *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    self->counts = mmap(NULL, sizeof *self->counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert((void *)self->counts != MAP_FAILED);
    for (int i = 0; i < HOSTILE_PORTS; i++) {
        self->port_fds[i] = port_hold(0);
        self->ports.all[i] = port_held(self->port_fds[i]);
        place at = place_of_port(self->ports.all[i]);
        process.listeners[i] = place_listen(&at);
        cr_assert(process.listeners[i] >= 0, "no place for the hostile server: %s", strerror(errno));
    }
    process.self = (foe){.server_at = place_of_path(server_socket(behind)), .seed = seed, .counts = self->counts,
                        .world = {.ports = self->ports, .epoch = 1, .run = 1}};
    pid_t parent = getpid();
    self->pid = fork();
    if (self->pid == 0)
        be_hostile(parent);
    cr_assert(self->pid > 0, "fork: %s", strerror(errno));
    for (int i = 0; i < HOSTILE_PORTS; i++)
        close(process.listeners[i]);
    return self;
}

void hostile_stop(hostile *self)
{
    if (!self)
        return;
    kill(self->pid, SIGKILL);
    waitpid(self->pid, NULL, 0);
    for (int i = 0; i < HOSTILE_PORTS; i++)
        close(self->port_fds[i]);
    munmap(self->counts, sizeof *self->counts);
    free(self);
}

const hostile_ports *hostile_listens_at(const hostile *self)
{
    return &self->ports;
}

bool hostile_is_alive(const hostile *self)
{
    return kill(self->pid, 0) == 0 && waitpid(self->pid, NULL, WNOHANG) == 0;
}

long hostile_answers(const hostile *self)
{
    return atomic_load(&self->counts->answers);
}

long hostile_distortions(const hostile *self)
{
    return atomic_load(&self->counts->distortions);
}
