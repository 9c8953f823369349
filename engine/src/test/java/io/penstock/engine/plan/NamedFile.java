// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import reactor.core.publisher.Mono;

/** A file that is a name and a block size: all that the planner needs. */
public record NamedFile(String name, long blockSize) implements StorageFile {

    @Override
    public Path path() {
        return Path.of(name);
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
