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

/** A backend under test: what the rules have to know about it, and cannot ask it. */
public interface TckSubject {

    /** Returns the provider's name. */
    String backend();

    /** Returns the path that plain reads are expected to take. */
    TransferPath path();

    /** Returns a folder for the files of the tests, on a file system that the backend is meant for. */
    Path folder();

    /** Returns what the backend is opened with; tests add to it. */
    default Options options() {
        return Options.none();
    }

    /** Opens the backend. */
    default Backend open(Options options) {
        return Backends.open(backend(), options);
    }

    /**
     * Returns what every ordinary file is opened with beside READ and WRITE, for example DIRECT and EXCLUSIVE. IMMUTABLE
     * goes to those only that are not opened for writing.
     */
    default Set<FileOption> fileOptions() {
        return Set.of();
    }

    /**
     * Returns whether the backend takes memory of the host's own as a buffer, which one whose buffers the processor
     * reaches usually does; not one whose device must have made them.
     */
    default boolean wrapsHostMemory() {
        return true;
    }

    /**
     * Returns an offset, a multiple of 4096, at which the device itself refuses to write: behind the largest file of the
     * file system, unless overridden, where Linux answers EFBIG.
     */
    default long unwritableOffset() {
        return 1L << 60;
    }

    /**
     * Returns something that keeps native operations in flight for as long as a test wants, or nothing, which skips the
     * rules that need it. Unless overridden this is the gate of the first {@link GateProvider} on the class path, which
     * for backends on Penstock's engine is the artifact {@code penstock-engine} with the classifier {@code testing}. Where
     * there is none it is a named pipe, which the device itself must be able to read: every read and write goes there but
     * ends only when the test feeds or drains it.
     *
     * @param folder where it may leave a file; removed after the test
     */
    default Optional<Gate> gate(Path folder) throws IOException {
        Optional<GateProvider> provider = ServiceLoader.load(GateProvider.class).findFirst();
        return provider.isPresent() ? Optional.of(provider.get().in(folder)) : Gate.namedPipe(folder);
    }

    /**
     * Returns the live counts of the backend's own accounting (pins, slabs, slots, open files and the like), which
     * have to be back after each test to what they were before it. They may lag behind a little.
     */
    default Map<String, Long> live() {
        return Map.of();
    }
}
