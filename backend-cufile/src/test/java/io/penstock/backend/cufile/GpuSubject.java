// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import io.penstock.tck.Require;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The machine's own GPU as the TCK's subject.
 *
 * @param variant that transfers take
 * @param path that they are expected to name
 * @param fileOptions what files are opened with
 */
record GpuSubject(CufilePath variant, TransferPath path, Set<FileOption> fileOptions) implements GatedSubject {

    /** Whether libcufile takes this disk's files: "works", or "refused" as in a container without udev's records. */
    private static final boolean REFUSED = "refused".equals(System.getProperty("gpu.cufile"));

    /** Skips the tests with the reason unless there is a GPU. */
    static void require() {
        Require.backend("gpu", new CufileProvider().probe(Options.none().resolve(Backends.options())));
    }

    /** Makes the subject. */
    static GpuSubject of(CufilePath variant, TransferPath path, FileOption... fileOptions) {
        return new GpuSubject(variant, path, Set.of(fileOptions));
    }

    /** Makes one that libcufile serves where it can, and we where it refuses. */
    static GpuSubject cufile(CufilePath variant, FileOption... fileOptions) {
        return of(variant, REFUSED ? TransferPath.STAGED : TransferPath.COMPAT, fileOptions);
    }

    @Override
    public String backend() {
        return "cufile";
    }

    @Override
    public Options options() {
        return Options.none().with(CufileOptions.PATH, variant);
    }

    @Override
    public Path folder() {
        return Path.of(System.getProperty("java.io.tmpdir"), "tck");
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "GPU memory",
                LiveObjects.count(GpuMemory.class),
                "pinned staging buffers",
                LiveObjects.count(PinnedBuffer.class),
                "cuFile handles",
                LiveObjects.count(FileHandles.class));
    }
}
