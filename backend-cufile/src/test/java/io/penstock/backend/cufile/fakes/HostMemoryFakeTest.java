// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Mappings that are registered, and memory that is exported: as seen on an H200. */
@ExtendWith(FreshFakes.class)
class HostMemoryFakeTest {

    private static final int READ_ONLY = 8;
    private static final int BYTES = 65536;

    @TempDir
    Path folder;

    private final byte[] content = new byte[BYTES];
    private Path file = Path.of("");
    private Gpu gpu;

    @BeforeEach
    void begin() throws IOException {
        new Random(6).nextBytes(content);
        file = Files.write(folder.resolve("file"), content);
        gpu = new Gpu();
    }

    @AfterEach
    void end() {
        gpu.close();
    }

    private MappedByteBuffer map(FileChannel.MapMode mode) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(mode, 0, BYTES);
        }
    }

    @Test
    void aReadOnlyMappingNeedsItsFlag() throws IOException {
        Pointer mapping = Native.getDirectBufferPointer(map(FileChannel.MapMode.READ_ONLY));
        assertThat(CudaAbi.cuMemHostRegister_v2(mapping, BYTES, 0)).isEqualTo(1);
        Fakes.cuda().set("read_only_register", 0);
        assertThat(CudaAbi.cuMemHostRegister_v2(mapping, BYTES, READ_ONLY)).isEqualTo(801);
        Fakes.cuda().set("read_only_register", 1);
        ok(CudaAbi.cuMemHostRegister_v2(mapping, BYTES, READ_ONLY));
        assertThat(CudaAbi.cuMemHostRegister_v2(mapping, 4096, READ_ONLY)).isEqualTo(712);
        assertThat(Fakes.cuda().live("pinned")).isEqualTo(BYTES);
        ok(CudaAbi.cuMemHostUnregister(mapping));
        assertThat(CudaAbi.cuMemHostUnregister(mapping)).isEqualTo(713);
        complains("nothing is registered");
    }

    @Test
    void aWritableMappingOfAFileOnADiskIsRefused() throws IOException {
        Pointer mapping = Native.getDirectBufferPointer(map(FileChannel.MapMode.READ_WRITE));
        assertThat(CudaAbi.cuMemHostRegister_v2(mapping, BYTES, 0)).isEqualTo(1);
    }

    @Test
    void pinnedPagesKeepTheOldBytesWhenTheFileIsCut() throws IOException {
        MappedByteBuffer mapped = map(FileChannel.MapMode.READ_ONLY);
        Pointer mapping = Native.getDirectBufferPointer(mapped);
        ok(CudaAbi.cuMemHostRegister_v2(mapping, BYTES, READ_ONLY));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
        long memory = gpu.allocate(BYTES);
        long stream = gpu.stream();
        ok(CudaAbi.cuMemcpyHtoDAsync_v2(memory, mapping, BYTES, stream));
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(gpu.read(memory, BYTES)).isEqualTo(content);
        assertThat(CudaAbi.cuMemHostRegister_v2(mapping.share(4096), 4096, READ_ONLY))
                .isEqualTo(712);
        ok(CudaAbi.cuMemHostUnregister(mapping));
        assertThat(CudaAbi.cuMemHostRegister_v2(mapping, BYTES, READ_ONLY))
                .as("pages that do not come")
                .isEqualTo(1);
        ok(CudaAbi.cuStreamDestroy_v2(stream));
        ok(CudaAbi.cuMemFree_v2(memory));
        assertThat(mapped.capacity()).isEqualTo(BYTES);
    }

    @Test
    void thereIsALimitToWhatCanBePinned() {
        Fakes.cuda().set("max_pinned", 8192);
        Pointer first = gpu.pinned(8192);
        assertThat(CudaAbi.cuMemHostAlloc(new long[1], 1, 0)).isEqualTo(2);
        ok(CudaAbi.cuMemFreeHost(first));
        ok(CudaAbi.cuMemFreeHost(gpu.pinned(8192)));
    }

    @Test
    void anotherDeviceSeesTheBytesOfAnExport() {
        long memory = gpu.allocate(4L << 20);
        gpu.write(memory + 8192, content);
        int[] fd = new int[1];
        assertThat(CudaAbi.cuMemGetHandleForAddressRange(fd, memory + 512, 4096, 1, 0))
                .isEqualTo(1);
        ok(CudaAbi.cuMemGetHandleForAddressRange(fd, memory + 8192, BYTES, 1, 0));
        byte[] seen = new byte[BYTES];
        assertThat(OpenFiles.read(fd[0], seen, BYTES)).isEqualTo(BYTES);
        assertThat(seen).isEqualTo(content);
        OpenFiles.close(fd[0]);
        ok(CudaAbi.cuMemFree_v2(memory));
    }

    @Test
    void memoryIsNotFreedWhileItIsExported() {
        long memory = gpu.allocate(2L << 20);
        int[] fd = new int[1];
        ok(CudaAbi.cuMemGetHandleForAddressRange(fd, memory, 2L << 20, 1, 0));
        ok(CudaAbi.cuMemFree_v2(memory));
        complains("the memory is exported as descriptor " + fd[0]);
        OpenFiles.close(fd[0]);
    }

    @Test
    void exportCanBeMissing() {
        Fakes.cuda().set("dma_buf", 0);
        long memory = gpu.allocate(2L << 20);
        assertThat(CudaAbi.cuMemGetHandleForAddressRange(new int[1], memory, 2L << 20, 1, 0))
                .isEqualTo(801);
        int[] value = {1};
        ok(CudaAbi.cuDeviceGetAttribute(value, 124, 0));
        assertThat(value[0]).isZero();
        ok(CudaAbi.cuMemFree_v2(memory));
    }

    private static void complains(String about) {
        assertThat(Fakes.cuda().complaint())
                .hasValueSatisfying(said -> assertThat(said).contains(about));
        Fakes.cuda().forgive();
    }
}
