// etcd's lock service through jetcd: a lease a thread, which is kept alive; one client for all threads.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;

final class Etcd implements Peer {
    private static final long LEASE_S = 30;

    private Client client;

    /** Ignores the answers: when a lease is lost, the next use of its lock fails. */
    private static final class Renewals implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse answer) {
        }

        @Override
        public void onError(Throwable e) {
        }

        @Override
        public void onCompleted() {
        }
    }

    @Override
    public void open(String url) throws Exception {
        client = Client.builder().endpoints(url).build();
        client.getLeaseClient().grant(1).get();
    }

    @Override
    public Taking join(String name) throws Exception {
        ByteSequence asked = ByteSequence.from(name, StandardCharsets.UTF_8);
        long lease = client.getLeaseClient().grant(LEASE_S).get().getID();
        client.getLeaseClient().keepAlive(lease, new Renewals());
        return new Taking() {
            private ByteSequence key;

            @Override
            public void take() throws Exception {
                key = client.getLockClient().lock(asked, lease).get().getKey();
            }

            @Override
            public void give() throws Exception {
                client.getLockClient().unlock(key).get();
            }

            @Override
            public void end() {
                client.getLeaseClient().revoke(lease);
            }
        };
    }
}
