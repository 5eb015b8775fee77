// Curator's lock on ZooKeeper: a mutex a thread, one client for all.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

final class ZooKeeper implements Peer {
    private CuratorFramework client;

    @Override
    public void open(String url) throws Exception {
        client = CuratorFrameworkFactory.newClient(url, new ExponentialBackoffRetry(1000, 3));
        client.start();
        if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection to " + url);
        }
    }

    @Override
    public Taking join(String name) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/" + name);
        return new Taking() {
            @Override
            public void take() throws Exception {
                mutex.acquire();
            }

            @Override
            public void give() throws Exception {
                mutex.release();
            }
        };
    }
}
