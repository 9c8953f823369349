// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.HostView;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.Set;
import reactor.core.publisher.Mono;

/** Makes gathers without an engine. */
final class Gathers {

    private Gathers() {}

    static Transfer of(int length, long... offsets) {
        return Transfer.gather(new File(), offsets, length, new Buffer((long) offsets.length * length).all());
    }

    private record File() implements StorageFile {
        @Override
        public Path path() {
            return Path.of("file");
        }

        @Override
        public Set<FileOption> options() {
            return Set.of();
        }

        @Override
        public BasicFileAttributes attributes() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long size() {
            return Long.MAX_VALUE;
        }

        @Override
        public long blockSize() {
            return 1;
        }

        @Override
        public Mono<Void> sync() {
            return Mono.empty();
        }

        @Override
        public Mono<Void> truncate(long size) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> preallocate(long size) {
            return Mono.empty();
        }

        @Override
        public void close() {}
    }

    private record Buffer(long length) implements DeviceBuffer {
        @Override
        public long nativeHandle() {
            return 1;
        }

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
}
