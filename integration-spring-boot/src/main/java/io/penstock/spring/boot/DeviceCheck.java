// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Mono;

/** Whether the device of a backend still works: bytes that are copied to it come back. */
final class DeviceCheck {

    /** No check of health is waited for longer. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private DeviceCheck() {}

    /**
     * Emits what is known of the backend.
     *
     * <p><b>Errors:</b> those of the device; {@link io.penstock.ClosedException}; {@link IllegalStateException} if other
     * bytes came back; {@link java.util.concurrent.TimeoutException}.
     */
    static Mono<Map<String, Object>> of(Backend backend) {
        return backend.withBuffer(Long.BYTES, DeviceCheck::roundTrip)
                .timeout(PATIENCE)
                .map(done -> Map.of(
                        "backend",
                        backend.name(),
                        "device",
                        backend.capabilities().device()));
    }

    private static Mono<Boolean> roundTrip(DeviceBuffer buffer) {
        long word = ThreadLocalRandom.current().nextLong(); // another each time: the memory may still hold the last one
        ByteBuffer sent = ByteBuffer.allocateDirect(Long.BYTES).putLong(0, word);
        ByteBuffer back = ByteBuffer.allocateDirect(Long.BYTES);
        return buffer.upload(0, sent).then(buffer.download(0, back)).map(copied -> {
            if (back.getLong(0) != word) {
                throw new IllegalStateException("other bytes came back from the device than were copied to it");
            }
            return true;
        });
    }
}
