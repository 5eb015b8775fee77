// The operations of an RCountDownLatch, and of many.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import static org.rlock.agent.Operations.MS;
import static org.rlock.agent.Operations.ms;

import java.util.function.IntFunction;
import org.redisson.api.RCountDownLatch;

final class LatchOperations {
    private LatchOperations() {
    }

    static final Operations<RCountDownLatch> ALL = new Operations<RCountDownLatch>()
        .ask("trySet", (latch, a) -> latch.trySetCount(Long.parseLong(a[0])))
        .act("countDown", (latch, a) -> latch.countDown())
        .ask("count", (latch, a) -> latch.getCount())
        .act("await", (latch, a) -> latch.await())
        .ask("awaitFor", (latch, a) -> latch.await(ms(a[0]), MS))
        .ask("delete", (latch, a) -> latch.delete())
        .ask("exists", (latch, a) -> latch.isExists())
        .act("rename", (latch, a) -> latch.rename(a[0]))
        .ask("renamenx", (latch, a) -> latch.renamenx(a[0]));

    /** Of many latches, by number. */
    static final Operations<IntFunction<RCountDownLatch>> MANY = new Operations<IntFunction<RCountDownLatch>>()
        .ask("turns", (all, a) -> Games.rounds(all, new Board(a[0]), Long.parseLong(a[1]), Long.parseLong(a[2])));
}
