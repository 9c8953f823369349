// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StorageKindTest {

    private static final DriverProperties NVME =
            new DriverProperties("nvidia-fs", 2, 24, 4, 16_384, 1 << Storage.NVME.bit, 0, 0, 131_072, 1024, 0, 128, 5);

    @TempDir
    Path blockDevices;

    @Test
    void storageThatTheDriverSupportsIsDirect() throws IOException {
        assertThat(kind("ext4", "/dev/nvme0n1p1").whyNotDirect(CuFile.API, NVME))
                .isEmpty();
        assertThat(kind("xfs", "/dev/nvme3n1").whyNotDirect(CuFile.API, NVME)).isEmpty();
    }

    @Test
    void anUnsupportedStorageIsNotDirectAndTheReasonNamesBoth() throws IOException {
        assertThat(kind("nfs4", "server:/export").whyNotDirect(CuFile.API, NVME))
                .contains("reaches [NVME], not [NFS] (nfs4 on server:/export)");
        assertThat(kind("ext4", "/dev/sda1").whyNotDirect(CuFile.API, NVME)).contains("not [SCSI]");
    }

    @Test
    void anUnknownStorageIsNotDirect() throws IOException {
        assertThat(kind("tmpfs", "tmpfs").whyNotDirect(CuFile.API, NVME)).contains("it is unknown", "tmpfs");
        assertThat(kind("ext4", "/dev/vda").whyNotDirect(CuFile.API, NVME)).contains("it is unknown", "/dev/vda");
    }

    @Test
    void withoutADirectPathNothingIs() throws IOException {
        DriverProperties none = new DriverProperties("nvidia-fs", 0, 0, 4, 16_384, 0, 2, 0, 131_072, 1024, 0, 128, 5);
        assertThat(kind("ext4", "/dev/nvme0n1").whyNotDirect(CuFile.API, none)).startsWith("nvidia-fs is not loaded");
    }

    @Test
    void anArrayIsWhatAllItsDisksAre() throws IOException {
        disk("md0", "nvme0n1");
        disk("md0", "nvme1n1");
        disk("md1", "nvme0n1");
        disk("md1", "sda");
        disk("dm-0", "md0");
        assertThat(kind("ext4", "/dev/md0").whyNotDirect(CuFile.API, NVME)).isEmpty();
        assertThat(kind("ext4", "/dev/dm-0").whyNotDirect(CuFile.API, NVME)).isEmpty();
        assertThat(kind("ext4", "/dev/md1").whyNotDirect(CuFile.API, NVME)).contains("it is unknown");
    }

    @Test
    void aRealFileHasAStorageKind() throws IOException {
        StorageKind kind = StorageKind.of(Files.createFile(blockDevices.resolve("file")));
        assertThat(kind.fileSystem()).isNotEmpty();
    }

    private StorageKind kind(String fileSystem, String device) throws IOException {
        return StorageKind.of(fileSystem, device, blockDevices);
    }

    private void disk(String array, String disk) throws IOException {
        Files.createDirectories(blockDevices.resolve(array).resolve("slaves").resolve(disk));
    }
}
