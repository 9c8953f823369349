// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import reactor.core.publisher.Mono;

/** A file whose byte at {@code i} is {@code (byte) i} until it is written. */
public final class FakeFile implements StorageFile {

    public final byte[] bytes = new byte[1 << 16];
    public int size;
    public boolean statesNoLength;
    public boolean closed;
    public int closes;
    public int syncs;
    public Mono<Void> sync = Mono.empty();

    public FakeFile(int size) {
        this.size = size;
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) i;
        }
    }

    @Override
    public Path path() {
        return Path.of("weights.bin");
    }

    @Override
    public Set<FileOption> options() {
        return Set.of(FileOption.READ, FileOption.WRITE);
    }

    @Override
    public BasicFileAttributes attributes() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long size() {
        return statesNoLength ? 0 : size;
    }

    @Override
    public long blockSize() {
        return 1;
    }

    @Override
    public Mono<Void> sync() {
        return sync.doOnSubscribe(s -> syncs++);
    }

    @Override
    public Mono<Void> truncate(long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Mono<Void> preallocate(long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        closed = true;
        closes++;
    }
}
