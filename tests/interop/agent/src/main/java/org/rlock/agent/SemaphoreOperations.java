// The operations of an RSemaphore and of an RPermitExpirableSemaphore.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import static org.rlock.agent.Operations.MS;
import static org.rlock.agent.Operations.count;
import static org.rlock.agent.Operations.list;
import static org.rlock.agent.Operations.ms;
import static org.rlock.agent.Operations.text;

import java.time.Duration;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;

final class SemaphoreOperations {
    private SemaphoreOperations() {
    }

    static final Operations<RSemaphore> PLAIN = new Operations<RSemaphore>()
        .act("acquire", (s, a) -> s.acquire(count(a[0])))
        .ask("tryNow", (s, a) -> s.tryAcquire(count(a[0])))
        .ask("try", (s, a) -> s.tryAcquire(count(a[0]), ms(a[1]), MS))
        .act("release", (s, a) -> s.release(count(a[0])))
        .ask("releaseIfExists", (s, a) -> s.releaseIfExists(count(a[0])))
        .ask("trySet", (s, a) -> s.trySetPermits(count(a[0])))
        .ask("trySetFor", (s, a) -> s.trySetPermits(count(a[0]), Duration.ofMillis(ms(a[1]))))
        .act("add", (s, a) -> s.addPermits(count(a[0])))
        .ask("drain", (s, a) -> s.drainPermits())
        .ask("available", (s, a) -> s.availablePermits())
        .ask("delete", (s, a) -> s.delete())
        .ask("exists", (s, a) -> s.isExists())
        .ask("expire", (s, a) -> s.expire(Duration.ofMillis(ms(a[0]))))
        .ask("clearExpire", (s, a) -> s.clearExpire())
        .ask("ttl", (s, a) -> s.remainTimeToLive())
        .act("rename", (s, a) -> s.rename(a[0]))
        .ask("renamenx", (s, a) -> s.renamenx(a[0]))
        .ask("turns", (s, a) -> Games.permits(s, new Board(a[0]), Long.parseLong(a[1]), Long.parseLong(a[2])));

    /** Permit ids stand between commas; a try that fails answers none: "". A lease of -1 has no end. */
    static final Operations<RPermitExpirableSemaphore> EXPIRABLE = new Operations<RPermitExpirableSemaphore>()
        .ask("acquire", (s, a) -> text(s.acquire(count(a[0]))))
        .ask("lease", (s, a) -> text(s.acquire(count(a[0]), ms(a[1]), MS)))
        .ask("tryNow", (s, a) -> text(s.tryAcquire(count(a[0]))))
        .ask("try", (s, a) -> text(s.tryAcquire(count(a[0]), ms(a[1]), ms(a[2]), MS)))
        .act("release", (s, a) -> s.release(list(a[0])))
        .act("releaseOne", (s, a) -> s.release(a[0]))
        .ask("tryRelease", (s, a) -> s.tryRelease(list(a[0])))
        .ask("tryReleaseOne", (s, a) -> s.tryRelease(a[0]))
        .ask("updateLease", (s, a) -> s.updateLeaseTime(a[0], ms(a[1]), MS))
        .ask("leaseLeft", (s, a) -> s.getLeaseTime(a[0]))
        .ask("trySet", (s, a) -> s.trySetPermits(count(a[0])))
        .act("set", (s, a) -> s.setPermits(count(a[0])))
        .act("add", (s, a) -> s.addPermits(count(a[0])))
        .ask("available", (s, a) -> s.availablePermits())
        .ask("acquired", (s, a) -> s.acquiredPermits())
        .ask("permits", (s, a) -> s.getPermits())
        .ask("delete", (s, a) -> s.delete())
        .ask("exists", (s, a) -> s.isExists())
        .ask("expire", (s, a) -> s.expire(Duration.ofMillis(ms(a[0]))))
        .ask("clearExpire", (s, a) -> s.clearExpire())
        .ask("ttl", (s, a) -> s.remainTimeToLive())
        .act("rename", (s, a) -> s.rename(a[0]))
        .ask("renamenx", (s, a) -> s.renamenx(a[0]))
        .ask("turns", (s, a) -> Games.permitIds(s, new Board(a[0]), Long.parseLong(a[1]), Long.parseLong(a[2])));
}
