/* docs/examples.md, job-queue workers: any number of workers on any number of hosts work on the jobs of a shared folder.
 * A lock for each job sees to it that no two workers have the same one. A job whose worker dies is free again after
 * lockWatchdogTimeout (30 s), and another worker takes it.
 *
 *     job_queue FOLDER [URL] */
#define _DEFAULT_SOURCE /* for usleep, also with -std=c11 */
#include <dirent.h>
#include <rlock/rlock.h>
#include <stdio.h>
#include <unistd.h>

/* The work on one job. Removing the file marks it as done, before the lock is released. */
static void work_on(const char *path)
{
    usleep(2000);
    if (unlink(path) == 0)
        printf("done: %s\n", path);
}

/* Works on each job that is free. Returns how many jobs are left; −1: a call failed. */
static int pass(rlock_client *client, const char *folder)
{
    DIR *jobs = opendir(folder);
    if (!jobs)
        return perror(folder), -1;
    int left = 0;
    for (struct dirent *job; left >= 0 && (job = readdir(jobs));) {
        char name[300], path[600];
        if (job->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "job:%s", job->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, job->d_name);
        rlock *lock = rlock_get_lock(client, name);
        rlock_status status = lock ? rlock_try_lock(lock, 0, RLOCK_WATCHDOG) : RLOCK_NO_MEMORY;
        if (status == RLOCK_OK) {
            if (access(path, F_OK) == 0) /* look again: another worker may have done it since readdir() */
                work_on(path);
            status = rlock_unlock(lock);
        } else if (status == RLOCK_TIMEOUT) {
            left++; /* another worker has it */
            status = RLOCK_OK;
        }
        if (status != RLOCK_OK)
            fprintf(stderr, "%s\n", rlock_last_error()), left = -1;
        rlock_free(lock);
    }
    closedir(jobs);
    return left;
}

int main(int argc, char **argv)
{
    rlock_client *client;
    if (argc < 2)
        return fprintf(stderr, "usage: job_queue FOLDER [URL]\n"), 2;
    if (rlock_client_open(&client, argc > 2 ? argv[2] : "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    int left;
    while ((left = pass(client, argv[1])) > 0)
        usleep(10000);
    rlock_client_close(client);
    return left < 0;
}
