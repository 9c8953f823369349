// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import io.penstock.StorageFile;
import java.nio.ByteBuffer;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** Device memory that is an array. */
public final class FakeBuffer implements DeviceBuffer {

    public final byte[] bytes;
    private final boolean visible;
    public boolean closed;

    public FakeBuffer(int length, boolean visible) {
        this.bytes = new byte[length];
        this.visible = visible;
    }

    @Override
    public long length() {
        return bytes.length;
    }

    @Override
    public long nativeHandle() {
        return 0;
    }

    @Override
    public Optional<HostView> hostView() {
        return visible ? Optional.of(new View()) : Optional.empty();
    }

    @Override
    public StorageFile asFile() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Long> upload(long offset, ByteBuffer source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Long> download(long offset, ByteBuffer target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        closed = true;
    }

    private final class View implements HostView {

        @Override
        public long length() {
            return bytes.length;
        }

        @Override
        public byte get(long index) {
            return bytes[(int) index];
        }

        @Override
        public void put(long index, byte value) {
            bytes[(int) index] = value;
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            target.put(bytes, (int) offset, target.remaining());
        }

        @Override
        public void write(long offset, ByteBuffer source) {
            source.get(bytes, (int) offset, source.remaining());
        }

        @Override
        public ByteBuffer buffer(long offset, int length) {
            return ByteBuffer.wrap(bytes, (int) offset, length).slice();
        }
    }
}
