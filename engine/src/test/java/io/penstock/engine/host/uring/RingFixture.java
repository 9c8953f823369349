// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.FileOption;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A ring, memory and a file of random bytes; keeps completions in the order in which they came. */
public final class RingFixture implements CompletionHandler, AutoCloseable {
    static final int FILE_BYTES = 1 << 20;

    /** A completion. */
    record Completed(long userData, int result) {}

    final Slabs slabs = new Slabs(true);
    final Slab memory = slabs.allocate(FILE_BYTES);
    final byte[] content = new byte[FILE_BYTES];
    final List<Completed> completed = new ArrayList<>();
    final LinuxFile file;
    final Ring ring;
    final SubmissionQueue submissions;

    RingFixture(Path directory, Kernel kernel, RingOptions options) throws IOException {
        new Random(1).nextBytes(content);
        Path path = Files.write(directory.resolve("data"), content);
        file = LinuxFile.open(path, Set.of(FileOption.READ, FileOption.WRITE), 1 << 20);
        ring = Ring.open(kernel, options);
        submissions = ring.submissions();
    }

    public static void assumeRing() {
        RingAvailability availability = RingProbe.probe(LinuxKernel.INSTANCE);
        assumeTrue(availability.isAvailable(), availability::toString);
    }

    /** Waits until {@code count} completions have come in all. */
    void await(int count) throws IOException {
        while (completed.size() < count) {
            ring.submitAndWait();
            ring.reap(this);
        }
    }

    byte[] bytes(int offset, int length) {
        byte[] bytes = new byte[length];
        memory.buffer(offset, length).get(bytes);
        return bytes;
    }

    @Override
    public void completed(long userData, int result, int flags) {
        completed.add(new Completed(userData, result));
    }

    @Override
    public void close() {
        ring.close();
        file.close();
        memory.free();
        slabs.close();
    }
}
