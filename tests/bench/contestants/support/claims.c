/* Claims: who holds a lock says so in memory that all contestants share, so that a second holder is seen. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/claims.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bench_claim *all;
    uint64_t count;
} claims;

bool claims_map(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool right = fstat(fd, &about) == 0;
    void *all = right ? mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (all == MAP_FAILED)
        return false;
    claims.all = all;
    claims.count = (uint64_t)about.st_size / sizeof *claims.all;
    return claims.count > 0;
}

bench_claim *claims_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return &claims.all[hash % claims.count];
}

uint64_t claims_id(int index)
{
    return (uint64_t)getpid() << 20 | ((uint64_t)index + 1);
}

/* Swaps, instead of reads and writes: two holders cannot miss each other. */
bool claims_enter(bench_claim *claim, uint64_t id)
{
    return atomic_exchange(&claim->holder, id) == 0;
}

bool claims_leave(bench_claim *claim, uint64_t id)
{
    return atomic_exchange(&claim->holder, 0) == id;
}

bool claims_handed(bench_claim *claim, uint64_t id)
{
    uint64_t last = atomic_load_explicit(&claim->last, memory_order_relaxed);
    if (last != id)
        atomic_store_explicit(&claim->last, id, memory_order_relaxed);
    return last && last != id;
}
