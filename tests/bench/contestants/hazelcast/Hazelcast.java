// Hazelcast's locks of a map's keys, which have no lease unless asked for; one client for all threads.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.map.IMap;

final class Hazelcast implements Peer {
    private IMap<String, String> locks;

    @Override
    public void open(String url) {
        ClientConfig config = new ClientConfig();
        config.getNetworkConfig().addAddress(url);
        config.setProperty("hazelcast.logging.type", "none");
        locks = HazelcastClient.newHazelcastClient(config).getMap("locks");
    }

    @Override
    public Taking join(String name) {
        return new Taking() {
            @Override
            public void take() {
                locks.lock(name);
            }

            @Override
            public void give() {
                locks.unlock(name);
            }
        };
    }
}
