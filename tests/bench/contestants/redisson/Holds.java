// Many locks, taken as fast as Redisson does it and then kept by its watchdog.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.api.RedissonClient;

final class Holds {
    private static final int UNDER_WAY = 1000;

    private final RedissonClient client;
    private int held;

    Holds(RedissonClient client) {
        this.client = client;
    }

    /** Takes more, until there are so many; asynchronously, or a million would take minutes. */
    void grow(int count) throws Throwable {
        Semaphore room = new Semaphore(UNDER_WAY);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (; held < count && failure.get() == null; held++) {
            room.acquire();
            client.getLock("bench:" + Usage.PID + ":h" + held).lockAsync(1).whenComplete((nothing, failed) -> {
                failure.compareAndSet(null, failed);
                room.release();
            });
        }
        room.acquire(UNDER_WAY);
        if (failure.get() != null) {
            throw failure.get();
        }
    }
}
