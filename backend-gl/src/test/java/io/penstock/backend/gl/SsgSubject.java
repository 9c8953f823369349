// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.gl.fakes.FreshSsg;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.backend.gl.ssg.GlSsgFile;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.testing.GatedSubject;
import java.util.Map;

/**
 * The fake of AMD's SSG as the TCK's subject.
 *
 * @param options that it is opened with
 */
public record SsgSubject(Options options) implements GatedSubject {

    /** What one has to say of the fake, as of the vendor's own. */
    public static Options said() {
        return Options.none()
                .with(GlOptions.PATH, GlPath.SSG)
                .with(GlOptions.SSG_LIBRARY, SsgFake.file().toString())
                .with(GlOptions.SSG_BLOCK_SIZE_TOKEN, "0x7F01")
                .with(GlOptions.SSG_FILE_SIZE_TOKEN, "0x7F02")
                .with(GlOptions.SSG_HANDLE_BITS, "64")
                .with(GlOptions.SSG_SEGMENT_BYTES, 256L << 10)
                .with(GlOptions.SSG_RING_BYTES, 1L << 20);
    }

    /** Options by which the ring takes all visible memory, and buffers are the device's own. */
    static Options ring() {
        return said().with(GlOptions.VISIBLE_BYTES, 256L << 10);
    }

    /** Opens the backend as applications do. */
    static Backend opened(Options options) {
        return new GlProvider().open(options.resolve(Backends.options()));
    }

    /** Opens it in a context that shares with an application's. */
    static Backend sharing(Application application, Options options) {
        return GlBackends.sharing(application.display(), application.context(), options);
    }

    static SsgSubject of(Options options) {
        GlSubject.require();
        SsgFake.require();
        return new SsgSubject(options);
    }

    /** Makes a machine with an SSG; pairs of names and values that {@link SsgFake#set} takes. */
    static void machine(Object... properties) {
        GlSubject.require();
        SsgFake.control().reset();
        SsgFake.set("visible_bytes", 100L << 20);
        for (int i = 0; i < properties.length; i += 2) {
            SsgFake.set((String) properties[i], ((Integer) properties[i + 1]).longValue());
        }
    }

    /** Ends it: what was made is gone, and was used as the vendor wants. */
    static void nothingIsLeft() {
        try {
            FreshSsg.assertNothingLeft();
        } finally {
            SsgFake.control().reset();
        }
    }

    @Override
    public String backend() {
        return "gl";
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    @Override
    public boolean wrapsHostMemory() {
        return false; // a buffer is one that GL has made
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "buffers", LiveObjects.count(GlMemory.class),
                "staging buffers", LiveObjects.count(GlStagingBuffer.class),
                "GL files", LiveObjects.count(GlSsgFile.class),
                "slabs", Slabs.shared().liveSlabs());
    }
}
