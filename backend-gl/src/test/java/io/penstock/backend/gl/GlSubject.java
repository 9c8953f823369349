// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.gl.doubles.SsgDouble;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.engine.testing.HoldingRoute;
import io.penstock.tck.Gate;
import io.penstock.tck.Require;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The machine's OpenGL as the TCK's subject.
 *
 * @param way that transfers take
 * @param path that they are expected to name
 * @param fileOptions what files are opened with
 */
record GlSubject(GlPath way, TransferPath path, Set<FileOption> fileOptions) implements TckSubject {

    /** Makes the subject, or skips the test where there is no OpenGL. */
    static GlSubject of(GlPath way, TransferPath path, FileOption... fileOptions) {
        require();
        return new GlSubject(way, path, Set.of(fileOptions));
    }

    /** Goes on if there is an OpenGL, else skips the tests with the reason. */
    static void require() {
        SsgDouble.install(); // before OpenGL is loaded
        Require.backend("gl", new GlProvider().probe(Options.none().resolve(Backends.options())));
    }

    @Override
    public String backend() {
        return "gl";
    }

    @Override
    public Options options() {
        return Options.none().with(GlOptions.PATH, way);
    }

    @Override
    public Backend open(Options options) {
        // As Backends does it, with commands held in front of the queues.
        return new GlProvider().open(options.resolve(Backends.options()), HoldingRoute::new);
    }

    @Override
    public Optional<Gate> gate(Path folder) throws IOException {
        return Optional.of(HeldCommands.in(folder));
    }

    @Override
    public boolean wrapsHostMemory() {
        return false; // a buffer is one that GL has made
    }

    @Override
    public Path folder() {
        return Path.of("target", "tck"); // of the build: on a disk, where /tmp may be memory and refuse O_DIRECT
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "GL buffers",
                GlMemory.LIVE.get(),
                "mapped slots",
                GlSlot.LIVE.get(),
                "fences",
                GlPoint.LIVE.get(),
                "slabs",
                Slabs.shared().liveSlabs());
    }
}
