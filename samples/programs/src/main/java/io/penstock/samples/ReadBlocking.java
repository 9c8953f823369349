// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BlockingBackend;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** Reads a file without Reactor: by blocking calls, on a virtual thread if you like, or as a CompletableFuture. */
public final class ReadBlocking {

    private ReadBlocking() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Backend backend = Backends.open()) {
            System.out.println(read(backend.blocking(), Path.of(arguments[0])));
            System.out.println(size(backend, Path.of(arguments[0])).join());
        }
    }

    /** Returns the bytes read. An interrupt cancels whichever call it finds. */
    static long read(BlockingBackend backend, Path path) throws IOException, InterruptedException {
        try (StorageFile file = backend.openFile(path);
                DeviceBuffer buffer = backend.allocate(file.size())) {
            return backend.submit(Transfer.read(file.all(), buffer.all())).bytes();
        }
    }

    /** Returns a future, whose cancel closes a file that is being opened. */
    static CompletableFuture<Long> size(Backend backend, Path path) {
        return backend.blocking().future(backend.openFile(path)).thenApply(file -> {
            try (file) {
                return file.size();
            }
        });
    }
}
