// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.EOFException;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** Copies a file through the device: the write starts when the device has passed the fence behind the read. */
public final class CopyBehindFence {

    private static final FileOption[] READ = {FileOption.READ};
    private static final FileOption[] NEW = {FileOption.WRITE, FileOption.CREATE_NEW};

    private CopyBehindFence() {}

    /** Arguments: a file, and the one that becomes its copy. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            System.out.println(
                    copy(backend, Path.of(arguments[0]), Path.of(arguments[1])).block());
        }
    }

    /** Emits the bytes of the copy. */
    static Mono<Long> copy(Backend backend, Path source, Path copy) {
        return backend.withFile(
                source,
                READ,
                from -> backend.withFile(
                        copy, NEW, to -> backend.withBuffer(from.size(), buffer -> copy(backend, from, buffer, to))));
    }

    private static Mono<Long> copy(Backend backend, StorageFile from, DeviceBuffer buffer, StorageFile to) {
        Transfer read = Transfer.read(from.all(), buffer.all());
        Transfer write = Transfer.write(buffer.all(), to.region(0, buffer.length()));
        return Backend.using(
                        backend.enqueue(read),
                        // A fence is signalled on failure too: its outcome is the truth.
                        fence -> backend.submit(write.after(fence)).then(fence.outcome()))
                .map(Completion::bytes)
                .filter(bytes -> bytes == buffer.length()) // else the rest of the copy is what was in the memory
                .switchIfEmpty(Mono.error(() -> new EOFException(from.path() + " became shorter")));
    }
}
