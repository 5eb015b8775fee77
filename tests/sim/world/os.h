/* The operating system as the library meets it in the simulation. Its objects, and those of hiredis and libuuid, call
 * these instead: their symbols are renamed when the simulation is linked (Makefile, tests/sim/world/renamed). Signatures
 * and errors are those of the functions that they stand for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_OS_H
#define SIM_OS_H

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>

/* sync.c */
int os_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int os_pthread_mutex_lock(pthread_mutex_t *mutex);
int os_pthread_mutex_unlock(pthread_mutex_t *mutex);
int os_pthread_mutex_destroy(pthread_mutex_t *mutex);
int os_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes);
int os_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int os_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at);
int os_pthread_cond_signal(pthread_cond_t *cond);
int os_pthread_cond_broadcast(pthread_cond_t *cond);
int os_pthread_cond_destroy(pthread_cond_t *cond);
int os_pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count);
int os_pthread_barrier_wait(pthread_barrier_t *barrier);
int os_pthread_barrier_destroy(pthread_barrier_t *barrier);
int os_pthread_once(pthread_once_t *once, void (*act)(void));
long os_syscall(long number, ...); /* futex alone */

/* keys.c */
int os_pthread_key_create(pthread_key_t *key, void (*end)(void *));
int os_pthread_setspecific(pthread_key_t key, const void *value);

/* process.c */
int os_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);
int os_pthread_join(pthread_t thread, void **result);
int os_pthread_detach(pthread_t thread);
pthread_t os_pthread_self(void);
int os_pthread_setname_np(pthread_t thread, const char *name);
int os_pthread_setcancelstate(int state, int *before);
int os_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int os_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int os_sched_yield(void);
pid_t os_gettid(void);
pid_t os_getpid(void);
pid_t os_getppid(void);
int os_tgkill(pid_t process, pid_t thread, int number);
pid_t os_fork(void);
ssize_t os_getrandom(void *bytes, size_t length, unsigned flags);
void os_uuid_generate_random(unsigned char uuid[16]);

/* clocks.c */
int os_clock_gettime(clockid_t clock, struct timespec *now);
int os_nanosleep(const struct timespec *span, struct timespec *left);
int os_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left);
int os_usleep(useconds_t span_us);

/* descriptors.c, sockets.c */
int os_socket(int family, int type, int protocol);
int os_socketpair(int family, int type, int protocol, int ends[2]);
int os_bind(int fd, const struct sockaddr *address, socklen_t length);
int os_getsockname(int fd, struct sockaddr *address, socklen_t *length);
int os_listen(int fd, int backlog);
int os_accept(int fd, struct sockaddr *address, socklen_t *length);
int os_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int os_connect(int fd, const struct sockaddr *address, socklen_t length);
ssize_t os_send(int fd, const void *bytes, size_t length, int flags);
ssize_t os_recv(int fd, void *bytes, size_t length, int flags);
int os_shutdown(int fd, int how);
int os_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int os_getsockopt(int fd, int level, int option, void *value, socklen_t *length);
int os_fcntl(int fd, int command, ...);
int os_eventfd(unsigned value, int flags);
ssize_t os_read(int fd, void *bytes, size_t length);
ssize_t os_write(int fd, const void *bytes, size_t length);
int os_poll(struct pollfd *polled, nfds_t count, int timeout_ms);
int os_close(int fd);

/* epoll.c, timers.c */
int os_epoll_create1(int flags);
int os_epoll_ctl(int epoll_fd, int how, int fd, struct epoll_event *wanted);
int os_epoll_wait(int epoll_fd, struct epoll_event *found, int most, int timeout_ms);
int os_timerfd_create(int clock, int flags);
int os_timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *before);

/* names.c */
int os_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found);
void os_freeaddrinfo(struct addrinfo *found);

/* memory.c */
void *os_malloc(size_t size);
void *os_calloc(size_t count, size_t size);
void *os_realloc(void *old, size_t size);
void os_free(void *memory);
char *os_strdup(const char *text);
char *os_strndup(const char *text, size_t most);

#endif
