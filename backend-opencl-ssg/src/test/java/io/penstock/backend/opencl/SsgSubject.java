// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.doubles.FreshSsg;
import io.penstock.backend.opencl.doubles.SsgDouble;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.engine.testing.HoldingRoute;
import io.penstock.tck.Gate;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The double of AMD's driver as the TCK's subject.
 *
 * @param options that it is opened with
 * @param fileOptions what files are opened with
 */
record SsgSubject(Options options, Set<FileOption> fileOptions) implements TckSubject {

    /** Options by which every buffer is persistent; slots, which few transfers need here, are soon made. */
    static final Options PERSISTENT = Options.none()
            .with(OpenClOptions.PATH, OpenClPath.SSG)
            .with(OpenClOptions.SSG_PIECE_BYTES, 64L << 10)
            .with(StagingOptions.SLOT_BYTES, 64L << 10);

    /** Options by which the ring takes all persistent memory, and buffers are ordinary. */
    static final Options RING =
            PERSISTENT.with(OpenClOptions.SSG_RING_BYTES, 256L << 10).with(OpenClOptions.PERSISTENT_BYTES, 256L << 10);

    static SsgSubject of(Options options, FileOption... fileOptions) {
        SsgDouble.require();
        return new SsgSubject(options, Set.of(fileOptions));
    }

    /**
     * Makes a machine with an SSG, whose file objects do not see a file grow.
     *
     * @param grows whether the driver lengthens files that it writes
     */
    static void machine(int blockBytes, boolean grows) {
        SsgDouble.reset();
        SsgDouble.set("block_size", blockBytes);
        SsgDouble.set("growth_seen", 0);
        SsgDouble.set("grows", grows ? 1 : 0);
        SsgDouble.arm();
    }

    /** Ends it: what was made is gone, and was used as the vendor wants. */
    static void nothingIsLeft() {
        try {
            FreshSsg.assertNothingLeft();
        } finally {
            SsgDouble.reset();
        }
    }

    @Override
    public String backend() {
        return "opencl-ssg";
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    @Override
    public Backend open(Options options) {
        // As Backends does it, with commands held in front of the queues.
        return new OpenClProvider().open(options.resolve(Backends.options()), HoldingRoute::new);
    }

    @Override
    public Optional<Gate> gate(Path folder) throws IOException {
        return Optional.of(HeldCommands.in(folder));
    }

    @Override
    public Path folder() {
        return Path.of("target", "tck"); // of the build: on a disk, where /tmp may be memory and refuse O_DIRECT
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "buffers", ClMemory.LIVE.get(),
                "slots", ClSlots.LIVE.get() + SsgSlot.LIVE.get(),
                "file objects", ClSsgFile.LIVE.get());
    }
}
