// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Flux;
import reactor.util.context.Context;

/** A chunk that is filled from ByteBuffers, which may come on any thread. */
class ByteSourceTest {

    private static final int CHUNK = 8;

    private final AtomicInteger leases = new AtomicInteger();
    private final List<Long> written = new ArrayList<>();

    private final HostView view = of(HostView.class, (method, arguments) -> {
        assertThat(method).isEqualTo("write");
        assertThat(leases).as("leases of the copy itself").hasValue(1);
        written.add((Long) arguments[0]);
        return null;
    });

    private final HostLease lease =
            of(HostLease.class, (method, arguments) -> method.equals("close") ? leases.decrementAndGet() : view);

    private final DeviceBuffer buffer = of(DeviceBuffer.class, (method, arguments) -> switch (method) {
        case "hostView" -> Optional.of(view);
        case "length" -> (long) CHUNK;
        default -> throw new AssertionError(method);
    });

    private final Chunk chunk = of(Chunk.class, (method, arguments) -> switch (method) {
        case "length" -> (long) CHUNK;
        case "region" -> new BufferRegion(buffer, 0, CHUNK);
        case "retain" -> {
            leases.incrementAndGet();
            yield lease;
        }
        default -> throw new AssertionError("the lease of the write is used: " + method);
    });

    private interface Answers {
        Object to(String method, Object[] arguments);
    }

    private static <T> T of(Class<T> type, Answers answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Object answer = answers.to(method.getName(), arguments);
                    return method.getReturnType() == void.class ? null : answer;
                }));
    }

    /** A cancel on another thread ends the lease of the write while bytes are copied. */
    @Test
    void eachCopyHasALeaseOfItsOwn() {
        Flux<ByteBuffer> bytes = Flux.just(ByteBuffer.allocate(3), ByteBuffer.allocate(4), ByteBuffer.allocate(5));
        ByteSource source = new ByteSource(bytes, Context.empty());
        assertThat(source.fill(chunk).block()).isEqualTo(CHUNK);
        assertThat(source.fill(chunk).block()).as("the rest").isEqualTo(4);
        assertThat(written).containsExactly(0L, 3L, 7L, 0L);
        assertThat(leases).hasValue(0);
    }

    /** Its bytes would be missing from the file. */
    @Test
    void aByteBufferThatWasNotRequestedIsAnError() {
        Flux<ByteBuffer> bytes = Flux.from(subscriber -> subscriber.onSubscribe(new Subscription() {

            private boolean sent;

            @Override
            public void request(long buffers) {
                if (!sent) {
                    sent = true;
                    subscriber.onNext(ByteBuffer.allocate(CHUNK));
                    subscriber.onNext(ByteBuffer.allocate(CHUNK));
                    subscriber.onComplete();
                }
            }

            @Override
            public void cancel() {
                // sends what it likes
            }
        }));
        ByteSource source = new ByteSource(bytes, Context.empty());
        assertThat(source.fill(chunk).block()).isEqualTo(CHUNK);
        assertThatThrownBy(() -> source.fill(chunk).block()).hasMessageContaining("more than was requested");
    }
}
