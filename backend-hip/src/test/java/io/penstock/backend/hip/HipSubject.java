// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.backend.hip.paths.HipProvider;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The double of HIP and hipFile as the TCK's subject.
 *
 * @param variant that transfers take
 * @param path that they are expected to name
 * @param fileOptions what files are opened with
 */
record HipSubject(HipPath variant, TransferPath path, Set<FileOption> fileOptions) implements GatedSubject {

    static HipSubject of(HipPath variant, TransferPath path, FileOption... fileOptions) {
        options(variant);
        return new HipSubject(variant, path, Set.of(fileOptions));
    }

    /** Returns options by which the double is found, also by what takes none, such as a list of backends. */
    static Options options(HipPath variant) {
        String runtime = HipDouble.libamdhip64().toString();
        String files = HipDouble.libhipfile().toString();
        System.setProperty(HipOptions.LIBAMDHIP64.name(), runtime);
        System.setProperty(HipOptions.LIBHIPFILE.name(), files);
        return Options.none()
                .with(HipOptions.LIBAMDHIP64, runtime)
                .with(HipOptions.LIBHIPFILE, files)
                .with(HipOptions.ALLOW_COMPAT, variant != HipPath.DIRECT && variant != HipPath.AUTO)
                .with(HipOptions.PATH, variant);
    }

    /** Opens a backend on a disk that hipFile's fast path reaches. */
    static Backend onNvme(Options options) {
        return new HipProvider().open(options.resolve(Backends.options()), HipSubject::nvme);
    }

    private static StorageKind nvme(Path file) {
        return new StorageKind("ext4", "/dev/nvme0n1", EnumSet.of(Storage.NVME));
    }

    @Override
    public String backend() {
        return "hip";
    }

    @Override
    public Options options() {
        // Smaller than by default: the double fills all memory with garbage, also the memory of staging buffers.
        return options(variant).with(HipOptions.SEGMENT_BYTES, 256L << 10);
    }

    @Override
    public Backend open(Options options) {
        HipDouble.files().set("short_seed", 20_261_130); // each operation may come short
        return GatedSubject.gated(() -> onNvme(options));
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "GPU memory",
                LiveObjects.count(GpuMemory.class),
                "pinned staging buffers",
                LiveObjects.count(PinnedBuffer.class),
                "hipFile handles",
                LiveObjects.count(FileHandles.class));
    }
}
