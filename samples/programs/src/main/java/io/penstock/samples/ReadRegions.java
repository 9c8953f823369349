// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.nio.file.Path;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads a file with many transfers, eight in flight: the next is taken from the Flux when one has ended. */
public final class ReadRegions {

    private static final int REGION = 1 << 20;
    private static final SubmitOptions EIGHT = SubmitOptions.DEFAULT.inFlight(8).errors(SubmitOptions.Errors.DELAY);

    private ReadRegions() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            System.out.println(read(backend, Path.of(arguments[0])).block());
        }
    }

    /** Emits the bytes read. All transfers run, also if one fails; then its error is signalled. */
    static Mono<Long> read(Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(file.size(), buffer -> {
                    int regions = (int) ((file.size() + REGION - 1) / REGION);
                    Flux<Transfer> transfers = Flux.range(0, regions).map(region -> {
                        long offset = (long) region * REGION;
                        long length = Math.min(REGION, file.size() - offset);
                        return Transfer.read(file.region(offset, length), buffer.region(offset, length));
                    });
                    return backend.submit(transfers, EIGHT)
                            .reduce(0L, (bytes, completion) -> bytes + completion.bytes());
                }));
    }
}
