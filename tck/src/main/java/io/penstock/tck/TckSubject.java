// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/** A backend under test, with the facts about it that the rules cannot query. */
public interface TckSubject {

    /** Returns the provider's name. */
    String backend();

    /** Returns the path that plain reads are expected to take. */
    TransferPath path();

    /** Returns a folder for the files of the tests, on a file system intended for the backend. */
    Path folder();

    /** Returns the options of the backend; tests add to them. */
    default Options options() {
        return Options.none();
    }

    /** Opens the backend. */
    default Backend open(Options options) {
        return Backends.open(backend(), options);
    }

    /**
     * Returns the options of every ordinary file besides READ and WRITE, for example DIRECT and EXCLUSIVE. IMMUTABLE is
     * used only for files that are not opened for writing.
     */
    default Set<FileOption> fileOptions() {
        return Set.of();
    }

    /**
     * Returns whether the backend wraps host memory as a buffer. Usually true if the processor reaches its buffers;
     * false if the device must allocate them.
     */
    default boolean wrapsHostMemory() {
        return true;
    }

    /**
     * Returns an offset, a multiple of 4096, at which the device itself refuses to write: by default beyond the largest
     * file of the file system, where Linux returns EFBIG.
     */
    default long unwritableOffset() {
        return 1L << 60;
    }

    /**
     * Returns a gate that keeps native operations in flight for as long as a test needs, or empty, which skips the
     * rules that need it. By default this is the gate of the first {@link GateProvider} on the class path; for backends
     * on Penstock's engine, the gate of the artifact {@code penstock-engine} with the classifier {@code testing}.
     * Without a provider it is a named pipe, which the device itself must be able to read: reads and writes of it end
     * only when the test feeds or drains it.
     *
     * @param folder where it may create a file; removed after the test
     */
    default Optional<Gate> gate(Path folder) throws IOException {
        Optional<GateProvider> provider = ServiceLoader.load(GateProvider.class).findFirst();
        return provider.isPresent() ? Optional.of(provider.get().in(folder)) : Gate.namedPipe(folder);
    }

    /**
     * Returns the live counts of the backend's own accounting (pins, slabs, bounce buffers, open files and the like),
     * which must return to their previous values after each test. They may lag a little.
     */
    default Map<String, Long> live() {
        return Map.of();
    }
}
