// The operations of an RLock of any kind, those that only a fenced one has, of a read-write pair, and of many locks.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import static org.rlock.agent.Operations.MS;
import static org.rlock.agent.Operations.count;
import static org.rlock.agent.Operations.ms;

import java.util.function.IntFunction;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

final class LockOperations {
    private LockOperations() {
    }

    static final Operations<RLock> ANY = new Operations<RLock>()
        .act("lock", (lock, a) -> lock.lock())
        .act("lease", (lock, a) -> lock.lock(ms(a[0]), MS))
        .ask("try", (lock, a) -> lock.tryLock(ms(a[0]), ms(a[1]), MS))
        .ask("tryNow", (lock, a) -> lock.tryLock())
        .act("unlock", (lock, a) -> lock.unlock())
        .ask("force", (lock, a) -> lock.forceUnlock())
        .ask("isLocked", (lock, a) -> lock.isLocked())
        .ask("holdCount", (lock, a) -> lock.getHoldCount())
        .ask("isHeld", (lock, a) -> lock.isHeldByCurrentThread())
        .ask("ttl", (lock, a) -> lock.remainTimeToLive())
        .ask("turns", (lock, a) -> Games.turns(lock, new Board(a[0]), Long.parseLong(a[1])));

    /** Of many locks, by number. */
    static final Operations<IntFunction<RLock>> MANY = new Operations<IntFunction<RLock>>()
        .ask("keep", (all, a) -> new Ledger(a[0], count(a[2])).keep(all, count(a[1]), count(a[2])));

    static final Operations<RReadWriteLock> PAIR = new Operations<RReadWriteLock>()
        .ask("turns", (pair, a) -> Games.readers(pair, new Board(a[0]), Long.parseLong(a[1]), Long.parseLong(a[2])));

    /** A try that fails answers no token: "". */
    static final Operations<RFencedLock> FENCED = new Operations<RFencedLock>().with(ANY)
        .ask("lockAndGetToken", (lock, a) -> lock.lockAndGetToken())
        .ask("leaseAndGetToken", (lock, a) -> lock.lockAndGetToken(ms(a[0]), MS))
        .ask("tryAndGetToken", (lock, a) -> lock.tryLockAndGetToken(ms(a[0]), ms(a[1]), MS))
        .ask("token", (lock, a) -> lock.getToken());
}
