// A file in which the members of a load of C and of Java note their turns; support/ledger.h has the same.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.IntFunction;
import org.redisson.api.RLock;

/** One member's page of it. */
final class Ledger {
    private static final VarHandle LONG =
        MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int FRONT = 8; // words before the pages; the first one: whether to stop
    private static final int TURNS_MAX = 8192;
    private static final int PAGE = 8 + 4 * TURNS_MAX;
    private static final int TURNS = 0;
    private static final int LOCKS_FAILED = 1;
    private static final int UNLOCKS_FAILED = 2;
    private static final int NOTES = 8;
    private static final long PAUSE_MS = 2; // between turns: the locks are not fair, and who has one would take it again

    private final ByteBuffer memory;
    private final int page;
    private long turns;
    private String last = "";

    Ledger(String path, int member) throws IOException {
        page = FRONT + member * PAGE;
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = file.map(FileChannel.MapMode.READ_WRITE, 0, (long) (page + PAGE) * Long.BYTES);
        }
    }

    private void set(int word, long value) {
        LONG.setVolatile(memory, word * Long.BYTES, value);
    }

    private void failed(int what, RuntimeException e) {
        set(page + what, (long) LONG.getVolatile(memory, (page + what) * Long.BYTES) + 1);
        last = e.getMessage() + (e.getCause() == null ? "" : ": " + e.getCause().getMessage());
    }

    private void note(long asked, long had, long until, long name) {
        int at = page + NOTES + 4 * (int) turns;
        set(at, asked);
        set(at + 1, had);
        set(at + 2, until);
        set(at + 3, name);
        set(page + TURNS, ++turns);
    }

    /** Takes turns at the locks until the file says stop; answers what failed last. */
    String keep(IntFunction<RLock> locks, int names, int member) throws InterruptedException {
        for (int turn = member; (long) LONG.getVolatile(memory, 0) == 0 && turns < TURNS_MAX; turn++) {
            RLock lock = locks.apply(turn % names);
            long asked = System.nanoTime();
            try {
                lock.lock();
            } catch (RuntimeException e) {
                failed(LOCKS_FAILED, e);
                continue;
            }
            long had = System.nanoTime();
            Thread.sleep(1); // also, so that no page is full too soon
            note(asked, had, System.nanoTime(), turn % names);
            try {
                lock.unlock();
                // Redisson asks again when the answer went down with a master, and what that had passed on
                // already counts as a first hold: it would stay for ever, renewed. So would one whose lock() or
                // unlock() failed, and one whose end the next master has not heard of, once this thread takes the
                // lock again.
                while (lock.isHeldByCurrentThread()) {
                    lock.unlock();
                }
            } catch (RuntimeException e) {
                failed(UNLOCKS_FAILED, e);
            }
            Thread.sleep(PAUSE_MS);
        }
        return last;
    }
}
