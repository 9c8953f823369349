// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import reactor.core.publisher.Mono;

/** Reads many small records of a file into one buffer: one transfer, whatever their number. */
public final class GatherBlocks {

    private static final int RECORD = 4096; // bytes

    private GatherBlocks() {}

    /** Arguments: the file, and the numbers of the records. */
    public static void main(String[] arguments) {
        long[] records =
                Arrays.stream(arguments).skip(1).mapToLong(Long::parseLong).toArray();
        try (Backend backend = Backends.open()) {
            System.out.println(gather(backend, Path.of(arguments[0]), records).block());
        }
    }

    /** Emits the records, one behind the other, copied to the host. */
    static Mono<ByteBuffer> gather(Backend backend, Path path, long... records) {
        long[] offsets = Arrays.stream(records).map(record -> record * RECORD).toArray();
        ByteBuffer copy = ByteBuffer.allocate(records.length * RECORD);
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        copy.capacity(),
                        buffer -> backend.submit(Transfer.gather(file, offsets, RECORD, buffer.all()))
                                .filter(done -> done.bytes() == copy.capacity())
                                .switchIfEmpty(Mono.error(() -> new EOFException(path + " is shorter")))
                                .then(buffer.download(0, copy))
                                .thenReturn(copy)));
    }
}
