// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.tck.Pattern;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** Reads a file over and over and tells, line by line, how this was done: the program of a {@link ChildJvm}. */
final class ReadAndTell {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int BYTES = 32_768; // shorter reads of what is cached need no registered memory
    private static final int READS = 200; // often enough for memory in use to be registered

    private ReadAndTell() {}

    public static void main(String[] args) throws IOException {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("host"))
                .forEach(listing -> System.out.println("listed: " + listing.availability()));
        try (Backend backend = Backends.open("host")) {
            System.out.println("means: " + backend.means() + ", fallback: " + backend.isFallback());
            System.out.println("moved: " + read(backend, Path.of(args[0])) + " bytes");
            System.out.println("fallbacks: " + backend.counters().fallbacks());
            Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmPin"))
                    .forEach(System.out::println);
        }
        try (Backend forced = Backends.open("host", Options.none().with(HostOptions.IO, HostIo.URING))) {
            System.out.println("forced: " + forced.name());
        } catch (BackendUnavailableException e) {
            System.out.println("forced: " + e.outcome() + " " + e.getMessage());
        }
    }

    private static long read(Backend backend, Path path) {
        long moved = 0;
        try (StorageFile file = get(backend.openFile(path, FileOption.READ));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            for (int i = 0; i < READS; i++) {
                long offset = i * 1000L;
                Completion completion = get(backend.submit(Transfer.read(file.region(offset, BYTES), buffer.all())));
                ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
                get(buffer.download(0, bytes));
                if (Pattern.of(path).difference(bytes, offset) >= 0) {
                    throw new IllegalStateException("wrong bytes at " + offset);
                }
                moved += completion.bytes();
                if (i == 0) {
                    System.out.println("reason: " + completion.reason());
                }
            }
        }
        return moved;
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(PATIENCE));
    }
}
