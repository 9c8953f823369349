// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The fake of libcufile as the TCK's subject.
 *
 * @param variant that transfers take
 * @param path that they are expected to name
 * @param fileOptions what files are opened with
 */
record CuFileFake(CufilePath variant, TransferPath path, Set<FileOption> fileOptions) implements GatedSubject {

    static CuFileFake of(CufilePath variant, TransferPath path, FileOption... fileOptions) {
        options(variant);
        return new CuFileFake(variant, path, Set.of(fileOptions));
    }

    /** Returns options by which the fakes are found, also by what takes none, such as a list of backends. */
    static Options options(CufilePath variant) {
        Fakes.require();
        String libcuda = Fakes.libcuda().toString();
        String libcufile = Fakes.libcufile().toString();
        System.setProperty(CufileOptions.LIBCUDA.name(), libcuda);
        System.setProperty(CufileOptions.LIBCUFILE.name(), libcufile);
        return Options.none()
                .with(CufileOptions.LIBCUDA, libcuda)
                .with(CufileOptions.LIBCUFILE, libcufile)
                .with(CufileOptions.PATH, variant);
    }

    /** Returns the driver, which a backend of the test has opened. */
    static FileDriver driver() {
        FileDriver driver = FileDriver.join(CuFile.API);
        driver.leave();
        return driver;
    }

    /**
     * The disk of a test is any: say that it is one that cuFile reaches, but of files whose names begin with "far", as
     * the fake does.
     */
    static StorageKind nvme(Path file) {
        if (file.getFileName().toString().startsWith("far")) {
            return new StorageKind("ext4", "/dev/sda1", EnumSet.of(Storage.SCSI));
        }
        return new StorageKind("ext4", "/dev/nvme0n1", EnumSet.of(Storage.NVME));
    }

    /** A machine where nvidia-fs is loaded, and every disk one that it reaches. */
    static final class WithNvidiaFs implements CuFileLibrary.Storages {
        @Override
        public StorageKind of(Path file) {
            return nvme(file);
        }

        @Override
        public Path nvidiaFs() {
            return Path.of("/"); // there
        }
    }

    @Override
    public String backend() {
        return "cufile";
    }

    @Override
    public Options options() {
        return options(variant);
    }

    @Override
    public Backend open(Options options) {
        Fakes.cufile().set("short_seed", 20261123); // each operation may come short
        return GatedSubject.gated(
                () -> new CufileProvider().open(options.resolve(Backends.options()), CuFileFake::nvme));
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
