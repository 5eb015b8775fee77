// A few numbers that processes of C and of Java share; tests/stress/support/board.h has the same.
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

/** Only the object under test protects it. */
final class Board {
    private static final VarHandle LONG =
        MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int COUNTER = 0;
    private static final int MIRROR = 1;
    private static final int TOKEN = 2;
    private static final int INSIDE = 3;
    private static final int MOST = 4;
    private static final int WRONG = 5;
    private static final int MISSING = 6;
    private static final int WORDS = 7;
    private static final long OWN_SIDE = 1;

    private final ByteBuffer memory;

    Board(String path) throws IOException {
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = file.map(FileChannel.MapMode.READ_WRITE, 0, WORDS * Long.BYTES);
        }
    }

    private long get(int word) {
        return (long) LONG.getVolatile(memory, word * Long.BYTES);
    }

    private void set(int word, long value) {
        LONG.setVolatile(memory, word * Long.BYTES, value);
    }

    /** What it was before. */
    private long add(int word, long value) {
        return (long) LONG.getAndAdd(memory, word * Long.BYTES, value);
    }

    long counter() {
        return get(COUNTER);
    }

    long mirror() {
        return get(MIRROR);
    }

    void mirror(long value) {
        set(MIRROR, value);
    }

    /** Whether there were so many turns, and each side had one; else it has one now. */
    private boolean isOver(long turns, long total) {
        boolean over = turns >= total && get(MISSING) == 0;
        if (!over) {
            LONG.getAndBitwiseAnd(memory, MISSING * Long.BYTES, ~OWN_SIDE);
        }
        return over;
    }

    /** Reads, lets others run, writes: two inside at once lose a turn. */
    boolean countUp(long total) {
        long value = get(COUNTER);
        if (isOver(value, total)) {
            return false;
        }
        Thread.yield();
        set(COUNTER, value + 1);
        return true;
    }

    /** The same for many who are inside at once. */
    boolean claim(long total) {
        if (!isOver(add(COUNTER, 1), total)) {
            return true;
        }
        add(COUNTER, -1);
        return false;
    }

    void arrive() {
        add(COUNTER, 1);
    }

    void enter(long limit) {
        long inside = add(INSIDE, 1) + 1;
        if (inside > limit) {
            accuse();
        }
        for (long most = get(MOST); inside > most; most = get(MOST)) {
            LONG.compareAndSet(memory, MOST * Long.BYTES, most, inside);
        }
        Thread.yield();
    }

    void leave() {
        add(INSIDE, -1);
    }

    void token(long token) {
        if (get(TOKEN) >= token) {
            accuse();
        }
        set(TOKEN, token);
    }

    void accuse() {
        add(WRONG, 1);
    }
}
