// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** Writes memory of the device to a file, and completes when the bytes are durable. */
public final class SaveBuffer {

    private static final FileOption[] NEW = {FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE};

    private SaveBuffer() {}

    /** Arguments: the file, and a text for it. */
    public static void main(String[] arguments) {
        ByteBuffer text = StandardCharsets.UTF_8.encode(arguments[1]);
        try (Backend backend = Backends.open()) {
            System.out.println(save(backend, text, Path.of(arguments[0])).block());
        }
    }

    /** Emits the number of bytes. */
    static Mono<Long> save(Backend backend, ByteBuffer bytes, Path path) {
        return backend.withBuffer(
                bytes.remaining(),
                buffer -> buffer.upload(0, bytes) // in place of what a kernel would have written there
                        .then(backend.withFile(
                                path,
                                NEW,
                                file -> backend.submit(Transfer.write(buffer.all(), file.region(0, buffer.length())))
                                        .map(Completion::bytes)
                                        .flatMap(written -> file.sync().thenReturn(written)))));
    }
}
