// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import io.penstock.StorageFile;
import java.nio.ByteBuffer;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** A buffer that is a name, an address and a length: all that the planner needs. */
public record NamedBuffer(String name, long nativeHandle, long length) implements DeviceBuffer {

    @Override
    public Optional<HostView> hostView() {
        return Optional.empty();
    }

    @Override
    public StorageFile asFile() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Long> upload(long offset, ByteBuffer source) {
        return Mono.empty();
    }

    @Override
    public Mono<Long> download(long offset, ByteBuffer target) {
        return Mono.empty();
    }

    @Override
    public void close() {}
}
