// What many threads of C and of Java do with one object at once; tests/stress/support/games.c plays the same.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import static org.rlock.agent.Operations.MS;

import java.util.List;
import java.util.function.IntFunction;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;

/** Each plays one thread's part until the board is full, and answers how many turns were its own. */
final class Games {
    private static final int LEASE_MS = 30000;

    private Games() {
    }

    /** One turn; whether there was one left. */
    private interface Turn {
        boolean take(int round) throws Exception;
    }

    private static long repeat(Turn turn) throws Exception {
        long turns = 0;
        while (turn.take((int) turns)) {
            turns++;
        }
        return turns;
    }

    static long turns(RLock lock, Board board, long total) throws Exception {
        return repeat(round -> {
            if (lock instanceof RFencedLock) {
                long token = ((RFencedLock) lock).lockAndGetToken();
                board.token(token);
            } else {
                lock.lock();
            }
            try {
                return board.countUp(total);
            } finally {
                lock.unlock();
            }
        });
    }

    static long readers(RReadWriteLock pair, Board board, long total, long limit) throws Exception {
        return repeat(round -> {
            for (int i = 0; i < 3; i++) {
                read(pair.readLock(), board, limit);
            }
            return write(pair.writeLock(), board, total);
        });
    }

    private static void read(RLock lock, Board board, long limit) {
        lock.lock();
        try {
            long before = board.counter();
            board.enter(limit);
            if (board.mirror() != before) {
                board.accuse();
            }
            board.leave();
        } finally {
            lock.unlock();
        }
    }

    private static boolean write(RLock lock, Board board, long total) {
        lock.lock();
        try {
            if (!board.countUp(total)) {
                return false;
            }
            Thread.yield();
            board.mirror(board.counter());
            return true;
        } finally {
            lock.unlock();
        }
    }

    private static boolean beInside(Board board, long total, long limit) {
        board.enter(limit);
        boolean more = board.claim(total);
        board.leave();
        return more;
    }

    static long permits(RSemaphore semaphore, Board board, long total, long limit) throws Exception {
        return repeat(round -> {
            semaphore.acquire();
            try {
                return beInside(board, total, limit);
            } finally {
                semaphore.release();
            }
        });
    }

    static long permitIds(RPermitExpirableSemaphore semaphore, Board board, long total, long limit) throws Exception {
        return repeat(round -> {
            List<String> permits = semaphore.acquire(1, LEASE_MS, MS);
            try {
                return beInside(board, total, limit);
            } finally {
                semaphore.release(permits.get(0));
            }
        });
    }

    static long rounds(IntFunction<RCountDownLatch> latches, Board board, long total, long limit) throws Exception {
        return repeat(round -> {
            if (round >= total / limit) {
                return false;
            }
            RCountDownLatch latch = latches.apply(round);
            latch.trySetCount(limit);
            board.arrive();
            latch.countDown();
            latch.await();
            if (board.counter() < (round + 1) * limit) {
                board.accuse();
            }
            return true;
        });
    }
}
