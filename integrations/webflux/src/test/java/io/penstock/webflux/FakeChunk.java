// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.Chunk;
import io.penstock.HostLease;
import io.penstock.HostView;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Map;

/** A chunk of a write, in memory of the heap. */
final class FakeChunk {

    private FakeChunk() {}

    static Chunk of(int bytes) {
        HostView view = like(HostView.class, Map.of("buffer", ByteBuffer.allocate(bytes)));
        HostLease lease = like(HostLease.class, Map.of("view", view));
        return like(Chunk.class, Map.of("length", (long) bytes, "retain", lease));
    }

    private static <T> T like(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.get(method.getName())));
    }
}
