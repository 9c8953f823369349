// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Parts of a shared read that end while they are started. */
class SharedReadTest {

    private static final int CHUNKS = 20_000;

    private final StorageFile file = Untouched.file("model.bin", CHUNKS);
    private final StorageFile buffers = Untouched.file("buffer", CHUNKS);
    private final Queue<Runnable> reads = new ArrayDeque<>(); // that have begun and not ended

    private static <T> T of(Class<T> type, Function<Object[], Map<String, Object>> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> answers.apply(arguments).get(method.getName())));
    }

    private DeviceBuffer buffer() {
        return of(DeviceBuffer.class, arguments -> Map.of("length", (long) CHUNKS, "asFile", buffers));
    }

    private static Completion completion(Transfer transfer) {
        return of(
                Completion.class,
                arguments ->
                        Map.of("transfer", transfer, "bytes", transfer.length(), "startedNanos", 0L, "endedNanos", 0L));
    }

    private Mono<Completion> move(Transfer transfer) {
        return transfer.fileRegion(0).file() == buffers
                ? Mono.error(new UnsupportedOperationException("copies from buffers of others"))
                : Mono.create(read -> reads.add(() -> read.success(completion(transfer))));
    }

    private Mono<Completion> join(SharedRead shared) {
        Backend backend = of(Backend.class, arguments -> Map.of("submit", move((Transfer) arguments[0])));
        return shared.join(backend, Transfer.read(file.region(0, CHUNKS), new BufferRegion(buffer(), 0, CHUNKS)));
    }

    /** A member that joins late finds that another has each chunk; those that it cannot copy are read. */
    @Test
    void manyCopiesMayBeRefusedAtOnce() {
        SharedRead shared = new SharedRead(1);
        AtomicInteger completed = new AtomicInteger();
        join(shared).subscribe(end -> completed.incrementAndGet());
        for (int i = 1; i < CHUNKS; i++) {
            reads.remove().run();
        }
        join(shared).subscribe(end -> completed.incrementAndGet());
        while (!reads.isEmpty()) {
            reads.remove().run();
        }
        assertThat(completed).as("members that have completed").hasValue(2);
    }
}
