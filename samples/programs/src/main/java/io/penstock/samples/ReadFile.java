// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** Reads a whole file into memory of the device: with {@code PENSTOCK_BACKEND=gpu} a GPU's, otherwise the host's. */
public final class ReadFile {

    private ReadFile() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            System.out.println(read(backend, Path.of(arguments[0])).block());
        }
    }

    /** Emits what was moved, and by which path. Kernels run in the innermost function, where the buffer is open. */
    static Mono<String> read(Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        file.size(),
                        buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))
                                .map(ReadFile::describe)));
    }

    private static String describe(Completion completion) {
        return completion.bytes() + " bytes, path " + completion.path();
    }
}
