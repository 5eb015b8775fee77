/* The benchmark's own Redis Cluster: masters without replicas on loopback ports. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/cluster.h"

#include "tests/bench/support/redis.h"
#include "tests/bench/support/usage.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUS_BEYOND 10000 /* a node's second port */
#define PORT_MOST (65535 - BUS_BEYOND)
#define PATIENCE_S 10

static _Noreturn void become_node(int port, const char *folder, pid_t parent)
{
    char number[16], nodes[64];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(1);
    snprintf(number, sizeof number, "%d", port);
    snprintf(nodes, sizeof nodes, "nodes-%d.conf", port);
    execlp("redis-server", "redis-server", "--bind", "127.0.0.1", "--port", number, "--save", "", "--appendonly", "no",
           "--dir", folder, "--cluster-enabled", "yes", "--cluster-config-file", nodes, "--daemonize", "no",
           (char *)NULL);
    perror("redis-server");
    _exit(127);
}

/* The answer has `text` in it. */
static bool says(int port, const char *command, const char *text)
{
    redisContext *context = redisConnect("127.0.0.1", port);
    redisReply *reply = context && !context->err ? redisCommand(context, command) : NULL;
    bool found = reply && reply->str && strstr(reply->str, text);
    freeReplyObject(reply);
    if (context)
        redisFree(context);
    return found;
}

/* Polls: a starting server gives no event to wait for. */
static bool await(const bench_cluster *cluster, const char *command, const char *text)
{
    struct timespec pause = {0, 20000000};
    double end_s = usage_now_s() + PATIENCE_S;
    for (int node = 0; node < CLUSTER_MASTERS;) {
        if (says(cluster->ports[node], command, text)) {
            node++;
        } else if (usage_now_s() > end_s) {
            fprintf(stderr, "bench: port %d of the cluster does not say %s\n", cluster->ports[node], text);
            return false;
        } else {
            nanosleep(&pause, NULL);
        }
    }
    return true;
}

static bool introduce(const bench_cluster *cluster)
{
    char command[256];
    snprintf(command, sizeof command,
             "redis-cli --cluster create 127.0.0.1:%d 127.0.0.1:%d 127.0.0.1:%d --cluster-yes >/dev/null",
             cluster->ports[0], cluster->ports[1], cluster->ports[2]);
    if (system(command) == 0)
        return true;
    fputs("bench: redis-cli makes no cluster\n", stderr);
    return false;
}

bool cluster_start(bench_cluster *cluster, const char *folder)
{
    pid_t parent = getpid();
    for (int i = 0; i < CLUSTER_MASTERS; i++) {
        do
            cluster->ports[i] = redis_free_port();
        while (cluster->ports[i] > PORT_MOST);
        cluster->pids[i] = fork();
        if (cluster->pids[i] == 0)
            become_node(cluster->ports[i], folder, parent);
        if (cluster->pids[i] < 0)
            return false;
    }
    snprintf(cluster->url, sizeof cluster->url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             cluster->ports[0], cluster->ports[1], cluster->ports[2]);
    return await(cluster, "PING", "PONG") && introduce(cluster) && await(cluster, "CLUSTER INFO", "cluster_state:ok");
}

void cluster_stop(bench_cluster *cluster)
{
    for (int i = 0; i < CLUSTER_MASTERS; i++) {
        if (cluster->pids[i] <= 0)
            continue;
        kill(cluster->pids[i], SIGKILL); /* it has nothing to save */
        waitpid(cluster->pids[i], NULL, 0);
    }
}

double cluster_cpu_us(const bench_cluster *cluster)
{
    double us = 0;
    for (int i = 0; i < CLUSTER_MASTERS; i++)
        us += usage_cpu_us(cluster->pids[i]);
    return us;
}
