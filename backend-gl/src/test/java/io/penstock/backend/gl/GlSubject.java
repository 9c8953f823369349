// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.fence.GlPoint;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.testing.GatedSubject;
import io.penstock.tck.Require;
import java.util.Map;
import java.util.Set;

/**
 * The machine's OpenGL as the TCK's subject.
 *
 * @param variant that transfers take
 * @param path that they are expected to name
 * @param fileOptions what files are opened with
 */
public record GlSubject(GlPath variant, TransferPath path, Set<FileOption> fileOptions) implements GatedSubject {

    /** Makes the subject, or skips the test where there is no OpenGL. */
    static GlSubject of(GlPath variant, TransferPath path, FileOption... fileOptions) {
        require();
        return new GlSubject(variant, path, Set.of(fileOptions));
    }

    /** Skips the tests with the reason unless there is an OpenGL. */
    public static void require() {
        SsgFake.install(); // before OpenGL is loaded
        Require.backend("gl", new GlProvider().probe(Options.none().resolve(Backends.options())));
    }

    @Override
    public String backend() {
        return "gl";
    }

    @Override
    public Options options() {
        return Options.none().with(GlOptions.PATH, variant);
    }

    @Override
    public boolean wrapsHostMemory() {
        return false; // a buffer is one that GL has made
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "GL buffers",
                LiveObjects.count(GlMemory.class),
                "mapped staging buffers",
                LiveObjects.count(GlStagingBuffer.class),
                "fences",
                LiveObjects.count(GlPoint.class),
                "slabs",
                Slabs.shared().liveSlabs());
    }
}
