// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.HostLease;
import io.penstock.StreamPlan;
import java.nio.file.Path;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Answers HTTP requests with a file. The socket is written from the memory that the file was read into. */
public final class SendFile {

    private SendFile() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            start(backend, Path.of(arguments[0]), 8080).onDispose().block();
        }
    }

    /** Listens on {@code port}. */
    static DisposableServer start(Backend backend, Path path, int port) {
        return HttpServer.create()
                .port(port)
                .handle((request, response) -> response.send(chunks(backend, path)))
                .bindNow();
    }

    /** Emits leased chunks under back-pressure: a response has at most two in memory. */
    private static Flux<Leased> chunks(Backend backend, Path path) {
        StreamPlan plan = StreamPlan.of(path).chunkBytes(256 << 10).depth(2);
        return backend.stream(plan, chunk -> Mono.fromSupplier(chunk::retain)).map(Leased::new);
    }

    /** Ends the lease when Netty releases the buffer, be it written or discarded. */
    private static final class Leased extends UnpooledDirectByteBuf {

        private final HostLease lease;

        Leased(HostLease lease) {
            super(
                    UnpooledByteBufAllocator.DEFAULT,
                    lease.buffer(),
                    lease.buffer().capacity());
            this.lease = lease;
        }

        @Override
        protected void deallocate() {
            super.deallocate(); // the memory stays the lease's
            lease.close();
        }
    }
}
