// Many threads that wait for one lock, each of which has it once.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

final class Waiters {
    private final RLock lock;
    private final Claims claims;
    private final String name;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    /* The holder's alone: it reads gaveNs first and writes it last, and so sees what the one before wrote. */
    private volatile long gaveNs;
    private final Histogram handOvers = new Histogram();
    private long violations;

    Waiters(RedissonClient client, Claims claims, String name) {
        this.lock = client.getLock(name);
        this.claims = claims;
        this.name = name;
    }

    /** The calling thread takes the lock, and so many others wait for it. */
    void gather(int count) throws InterruptedException {
        lock.lock();
        for (int i = 0; i < count; i++) {
            Claims.Claim claim = claims.of(name, i);
            Thread thread = new Thread(() -> {
                try {
                    haveOnce(claim);
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            });
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            while (!isAsleep(thread)) {
                Thread.sleep(1);
            }
        }
    }

    private void haveOnce(Claims.Claim claim) {
        lock.lock();
        long hasNs = System.nanoTime();
        long waitedNs = hasNs - gaveNs;
        claim.check();
        handOvers.add(waitedNs);
        violations += claim.violations;
        gaveNs = System.nanoTime();
        lock.unlock();
    }

    /** Parked where a message is waited for; elsewhere it waits for an answer. */
    private static boolean isAsleep(Thread thread) {
        boolean bed = false;
        boolean parked = false;
        for (StackTraceElement frame : thread.getStackTrace()) {
            bed |= frame.getClassName().equals("java.util.concurrent.Semaphore");
            parked |= frame.getClassName().equals("java.util.concurrent.locks.LockSupport");
        }
        return bed && parked;
    }

    /** What `free` answers. */
    String free() throws Throwable {
        long cpuBeforeNs = Usage.cpuNs();
        long beganNs = System.nanoTime();
        gaveNs = beganNs;
        lock.unlock();
        for (Thread thread : threads) {
            thread.join();
        }
        long ns = System.nanoTime() - beganNs;
        if (failure.get() != null) {
            throw failure.get();
        }
        return Usage.done(threads.size(), ns, Usage.cpuNs() - cpuBeforeNs, handOvers, violations);
    }
}
