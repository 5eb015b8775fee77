// The one member of a cluster, on a port of loopback, which ends with its input; "count" is answered with how many operations
// it has executed so far.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.spi.impl.operationservice.impl.OperationServiceImpl;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

public final class Member {
    private Member() {
    }

    public static void main(String[] args) throws IOException {
        Config config = new Config();
        config.setProperty("hazelcast.logging.type", "none");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.socket.bind.any", "false");
        config.getNetworkConfig().setPort(Integer.parseInt(args[0])).setPortAutoIncrement(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        HazelcastInstance member = com.hazelcast.core.Hazelcast.newHazelcastInstance(config);
        OperationServiceImpl operations =
            ((HazelcastInstanceProxy) member).getOriginal().node.getNodeEngine().getOperationService();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(operations.getOperationExecutor().getExecutedOperationCount());
        }
        Runtime.getRuntime().halt(0);
    }
}
