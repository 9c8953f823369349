// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;

/** Checks that the device of a backend works: copies bytes to it and back. */
final class DeviceCheck {

    private static final Log LOG = LogFactory.getLog(DeviceCheck.class);

    /** The time limit of a check. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private DeviceCheck() {}

    /**
     * Emits name, device and means of the backend, if the device works.
     *
     * <p><b>Errors:</b> the errors of the device; {@link io.penstock.ClosedException}; {@link IllegalStateException} if
     * other bytes came back; {@link java.util.concurrent.TimeoutException}.
     */
    static Mono<Map<String, Object>> of(Backend backend) {
        return backend.withBuffer(Long.BYTES, DeviceCheck::roundTrip)
                .timeout(PATIENCE)
                .map(done -> details(backend));
    }

    /** Returns name, device and means of a backend. */
    static Map<String, Object> details(Backend backend) {
        return Map.of(
                "backend", backend.name(),
                "device", backend.capabilities().device(),
                "means", backend.means());
    }

    /** Emits the health of a backend, which either version of Boot has in its own type; logs why a device is down. */
    static <H> Mono<H> health(Backend backend, Function<Map<String, Object>, H> up, Function<Throwable, H> down) {
        return of(backend).map(up).onErrorResume(failure -> {
            LOG.warn("the device of Penstock's backend failed its check", failure);
            return Mono.just(down.apply(failure));
        });
    }

    private static Mono<Boolean> roundTrip(DeviceBuffer buffer) {
        long word = ThreadLocalRandom.current().nextLong(); // the memory may still hold the word of the last check
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
