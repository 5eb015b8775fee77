// The kinds of lock, and one turn at each: to take it and to give it back.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

final class Kinds {
    private Kinds() {
    }

    interface Maker {
        Taking make(RedissonClient client, String name);
    }

    private static Maker lock(BiFunction<RedissonClient, String, RLock> get) {
        return (client, name) -> {
            RLock lock = get.apply(client, name);
            return new Taking() {
                @Override
                public void take() {
                    lock.lock();
                }

                @Override
                public void give() {
                    lock.unlock();
                }
            };
        };
    }

    private static RLock multi(RedissonClient client, String name) {
        return multiOf(client, name, 3);
    }

    private static RLock multiOf(RedissonClient client, String name, int count) {
        RLock[] members = new RLock[count];
        for (int i = 0; i < count; i++) {
            members[i] = client.getLock(name + ":" + i);
        }
        return new RedissonMultiLock(members);
    }

    /** With one permit, so that it excludes. */
    private static Taking semaphore(RedissonClient client, String name) {
        RSemaphore semaphore = client.getSemaphore(name);
        semaphore.trySetPermits(1);
        return new Taking() {
            @Override
            public void take() throws InterruptedException {
                semaphore.acquire();
            }

            @Override
            public void give() {
                semaphore.release();
            }

            @Override
            public void end() {
                semaphore.delete();
            }
        };
    }

    private static Taking permit(RedissonClient client, String name) {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
        semaphore.trySetPermits(1);
        return new Taking() {
            private String id;

            @Override
            public void take() throws InterruptedException {
                id = semaphore.acquire();
            }

            @Override
            public void give() {
                semaphore.release(id);
            }

            @Override
            public void end() {
                semaphore.delete();
            }
        };
    }

    private static RLock group(RedissonClient client, String name) {
        List<Object> values = new ArrayList<>();
        for (long i = 0; i < 1000; i++) {
            values.add(i);
        }
        return client.getMultiLock(name, values);
    }

    private static final Map<String, Maker> ALL = Map.ofEntries(
        Map.entry("lock", lock(RedissonClient::getLock)),
        Map.entry("fair", lock(RedissonClient::getFairLock)),
        Map.entry("spin", lock(RedissonClient::getSpinLock)),
        Map.entry("fenced", lock(RedissonClient::getFencedLock)),
        Map.entry("non-reentrant", lock(RedissonClient::getNonReentrantLock)),
        Map.entry("read", lock((client, name) -> client.getReadWriteLock(name).readLock())),
        Map.entry("write", lock((client, name) -> client.getReadWriteLock(name).writeLock())),
        Map.entry("multi", lock(Kinds::multi)),
        Map.entry("group", lock(Kinds::group)),
        Map.entry("semaphore", Kinds::semaphore),
        Map.entry("permit", Kinds::permit));

    static Maker named(String kind) {
        if (kind.startsWith("multi-")) {
            int count = Integer.parseInt(kind.substring("multi-".length()));
            return lock((client, name) -> multiOf(client, name, count));
        }
        Maker maker = kind.equals("none") ? (client, name) -> Taking.NONE : ALL.get(kind);
        if (maker == null) {
            throw new IllegalArgumentException("Redisson has no kind " + kind);
        }
        return maker;
    }
}
