/* The path of one uncontended rlock_lock: which functions it enters, and which mutexes it takes, from the call until the
 * request is given to the operating system. Built with -finstrument-functions; prints one address a function, in the
 * order in which they are entered first, and then the number of mutexes. Usage: main URL */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <rlock/rlock.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#define MOST 1024

static _Thread_local int recording;
static void *entered[MOST];
static int count, mutexes;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (!recording)
        return;
    for (int i = 0; i < count; i++) {
        if (entered[i] == function)
            return;
    }
    if (count < MOST)
        entered[count++] = function;
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    mutexes += recording;
    return __real_pthread_mutex_lock(mutex);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    recording = 0;
    return __real_send(fd, bytes, length, flags);
}

int main(int argc, char **argv)
{
    rlock_client *client;
    rlock_status status = argc == 2 ? rlock_client_open(&client, argv[1]) : RLOCK_INVALID;
    rlock *lock = status == RLOCK_OK ? rlock_get_lock(client, "path") : NULL;
    for (int i = 0; lock && i < 3; i++) { /* the last time, all that is made once is there */
        count = mutexes = 0;
        recording = 1;
        status = rlock_lock(lock);
        recording = 0;
        if (status == RLOCK_OK)
            status = rlock_unlock(lock);
    }
    if (!lock || status != RLOCK_OK) {
        fprintf(stderr, "%s\n", rlock_last_error());
        return 1;
    }
    for (int i = 0; i < count; i++)
        printf("%p\n", entered[i]);
    printf("mutexes %d\n", mutexes);
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
