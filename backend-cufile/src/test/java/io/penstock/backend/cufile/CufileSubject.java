// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import java.util.Map;
import java.util.Set;

/**
 * A GPU made of host memory as the TCK's subject.
 *
 * @param variant that transfers take
 * @param path that they are expected to name
 * @param fileOptions what files are opened with
 */
record CufileSubject(CufilePath variant, TransferPath path, Set<FileOption> fileOptions) implements GatedSubject {

    /** Makes the subject, or skips the test where there can be no fakes. */
    static CufileSubject of(CufilePath variant, TransferPath path, FileOption... fileOptions) {
        fakes();
        return new CufileSubject(variant, path, Set.of(fileOptions));
    }

    /** Returns options by which the fakes are found, also by what takes none, such as a list of backends. */
    static Options fakes() {
        Fakes.require();
        String libcuda = Fakes.libcuda().toString();
        String libcufile = Fakes.libcufile().toString();
        System.setProperty(CufileOptions.LIBCUDA.name(), libcuda);
        System.setProperty(CufileOptions.LIBCUFILE.name(), libcufile);
        return Options.none().with(CufileOptions.LIBCUDA, libcuda).with(CufileOptions.LIBCUFILE, libcufile);
    }

    @Override
    public String backend() {
        return "cufile";
    }

    @Override
    public Options options() {
        // Smaller than by default: the fake fills all memory with garbage, also the memory of staging buffers.
        return fakes().with(CufileOptions.PATH, variant).with(CufileOptions.SEGMENT_BYTES, 256L << 10);
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "GPU memory",
                LiveObjects.count(GpuMemory.class),
                "pinned staging buffers",
                LiveObjects.count(PinnedBuffer.class));
    }
}
