// The kinds of object: how each is had from Redisson, and what can be done to it.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

final class Kinds {
    private Kinds() {
    }

    private record Kind<T>(BiFunction<RedissonClient, String, T> get, Operations<? super T> operations) {
        Object run(RedissonClient client, String name, String operation, String[] arguments) throws Exception {
            return operations.run(operation, get.apply(client, name), arguments);
        }
    }

    private static Kind<RLock> lock(BiFunction<RedissonClient, String, RLock> get) {
        return new Kind<>(get, LockOperations.ANY);
    }

    /** The name of a multi lock is the names of its members, between commas or blanks. */
    private static RLock multi(RedissonClient client, String names) {
        return new RedissonMultiLock(Operations.list(names).stream().map(client::getLock).toArray(RLock[]::new));
    }

    /** The name of a group lock is the group, then its values, between commas; a value that begins with # is a Long. */
    private static RLock group(RedissonClient client, String name) {
        String[] words = name.split(",");
        List<Object> values = new ArrayList<>();
        for (int i = 1; i < words.length; i++) {
            values.add(words[i].startsWith("#") ? (Object) Long.valueOf(words[i].substring(1)) : words[i]);
        }
        return client.getMultiLock(words[0], values);
    }

    private static IntFunction<RCountDownLatch> latches(RedissonClient client, String prefix) {
        return number -> client.getCountDownLatch(prefix + number);
    }

    private static IntFunction<RLock> locks(RedissonClient client, String prefix) {
        return number -> client.getLock(prefix + number);
    }

    private static final Map<String, Kind<?>> ALL = Map.ofEntries(
        Map.entry("lock", lock(RedissonClient::getLock)),
        Map.entry("fair", lock(RedissonClient::getFairLock)),
        Map.entry("spin", lock(RedissonClient::getSpinLock)),
        Map.entry("nonreentrant", lock(RedissonClient::getNonReentrantLock)),
        Map.entry("nonreentrantfair", lock(RedissonClient::getNonReentrantFairLock)),
        Map.entry("read", lock((client, name) -> client.getReadWriteLock(name).readLock())),
        Map.entry("write", lock((client, name) -> client.getReadWriteLock(name).writeLock())),
        Map.entry("multi", lock(Kinds::multi)),
        Map.entry("group", lock(Kinds::group)),
        Map.entry("fenced", new Kind<>(RedissonClient::getFencedLock, LockOperations.FENCED)),
        Map.entry("semaphore", new Kind<>(RedissonClient::getSemaphore, SemaphoreOperations.PLAIN)),
        Map.entry("permits", new Kind<>(RedissonClient::getPermitExpirableSemaphore, SemaphoreOperations.EXPIRABLE)),
        Map.entry("readwrite", new Kind<>(RedissonClient::getReadWriteLock, LockOperations.PAIR)),
        Map.entry("locks", new Kind<>(Kinds::locks, LockOperations.MANY)),
        Map.entry("latches", new Kind<>(Kinds::latches, LatchOperations.MANY)),
        Map.entry("latch", new Kind<>(RedissonClient::getCountDownLatch, LatchOperations.ALL)));

    static Object run(RedissonClient client, String kind, String name, String operation, String[] arguments)
        throws Exception {
        Kind<?> known = ALL.get(kind);
        if (known == null) {
            throw new IllegalArgumentException("no such kind of object: " + kind);
        }
        return known.run(client, name, operation, arguments);
    }
}
