// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.ssg.ClSsgFile;
import io.penstock.backend.opencl.ssg.SsgBounceBuffer;
import io.penstock.backend.opencl.staged.ClStagingBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.testing.GatedSubject;
import java.util.Map;
import java.util.Set;

/**
 * The fake of AMD's driver as the TCK's subject.
 *
 * @param options that it is opened with
 * @param fileOptions what files are opened with
 */
record SsgSubject(Options options, Set<FileOption> fileOptions) implements GatedSubject {

    /**
     * Options by which every buffer is persistent; staging buffers, which few transfers need here, are soon made and
     * filled.
     */
    static final Options PERSISTENT = Options.none()
            .with(OpenClOptions.PATH, OpenClPath.SSG)
            .with(OpenClOptions.SSG_SEGMENT_BYTES, 64L << 10)
            .with(OpenClOptions.SSG_RING_BYTES, 1L << 20)
            .with(StagingOptions.BUFFER_BYTES, 64L << 10);

    /** Options by which the ring takes all persistent memory, and buffers are ordinary. */
    static final Options RING =
            PERSISTENT.with(OpenClOptions.SSG_RING_BYTES, 256L << 10).with(OpenClOptions.PERSISTENT_BYTES, 256L << 10);

    static SsgSubject of(Options options, FileOption... fileOptions) {
        SsgFake.require();
        return new SsgSubject(options, Set.of(fileOptions));
    }

    /**
     * Makes a machine with an SSG, whose file objects do not see a file grow.
     *
     * @param grows whether the driver lengthens files that it writes
     */
    static void machine(int blockBytes, boolean grows) {
        SsgFake.reset();
        SsgFake.set("block_size", blockBytes);
        SsgFake.set("growth_seen", 0);
        SsgFake.set("grows", grows ? 1 : 0);
        SsgFake.arm();
    }

    /** Ends it: what was made is gone, and was used as the vendor wants. */
    static void nothingIsLeft() {
        try {
            FreshSsg.assertNothingLeft();
        } finally {
            SsgFake.reset();
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
    public Map<String, Long> live() {
        return Map.of(
                "buffers", LiveObjects.count(ClMemory.class),
                "staging buffers", LiveObjects.count(ClStagingBuffer.class) + LiveObjects.count(SsgBounceBuffer.class),
                "file objects", LiveObjects.count(ClSsgFile.class));
    }
}
