// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(FreshFakes.class)
class CufileFakeTest {

    private static final int BYTES = 1 << 20;

    @TempDir
    Path folder;

    private final byte[] content = new byte[BYTES];
    private Path file = Path.of("");
    private Gpu gpu;
    private long memory;

    @BeforeEach
    void begin() throws IOException {
        new Random(2).nextBytes(content);
        file = Files.write(folder.resolve("file"), content);
        gpu = new Gpu();
        memory = gpu.allocate(2L * BYTES);
    }

    @AfterEach
    void end() {
        Fakes.cufile().reset();
        ok(CudaAbi.cuMemFree_v2(memory));
        gpu.close();
    }

    @ParameterizedTest
    @CsvSource({"0, 1048576, 0", "3, 100000, 0", "4096, 8192, 3", "1, 1, 1", "1048000, 4096, 4096"})
    void aReadPutsTheFilesBytesIntoTheDevice(long fileOffset, int size, long bufferOffset) {
        try (Opened opened = new Opened(OpenFiles.READ | OpenFiles.DIRECT)) {
            int there = Math.min(size, BYTES - (int) fileOffset);
            assertThat(CufileAbi.cuFileRead(opened.handle, memory, size, fileOffset, bufferOffset))
                    .isEqualTo(there);
            assertThat(gpu.read(memory + bufferOffset, there))
                    .isEqualTo(Arrays.copyOfRange(content, (int) fileOffset, (int) fileOffset + there));
            assertThat(gpu.read(memory + bufferOffset + size, 16)).containsOnly(0xd7);
            if (there < size) { // as an H200 did: zeros behind the count of a read from amid a block
                assertThat(gpu.read(memory + bufferOffset + there, size - there))
                        .containsOnly(0);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1048576, 0", "3, 100000, 0", "4096, 8192, 3", "1, 1, 1", "1048000, 5000, 4096"})
    void aWriteChangesNothingElse(int fileOffset, int size, long bufferOffset) throws IOException {
        byte[] written = new byte[size];
        new Random(3).nextBytes(written);
        gpu.write(memory + bufferOffset, written);
        byte[] expected = Arrays.copyOf(content, Math.max(BYTES, fileOffset + size));
        System.arraycopy(written, 0, expected, fileOffset, size);
        try (Opened opened = new Opened(OpenFiles.READ_WRITE | OpenFiles.DIRECT)) {
            assertThat(CufileAbi.cuFileWrite(opened.handle, memory, size, fileOffset, bufferOffset))
                    .isEqualTo(size);
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(expected);
    }

    @Test
    void anUnalignedWriteLosesWhatItsNeighbourWrites() throws IOException {
        gpu.write(memory, new byte[200]);
        try (Opened opened = new Opened(OpenFiles.READ_WRITE)) {
            Fakes.cufile().hold("read-modify-write");
            CompletableFuture<Long> first = CompletableFuture.supplyAsync(() -> {
                ok(CudaAbi.cuCtxSetCurrent(gpu.context()));
                return CufileAbi.cuFileWrite(opened.handle, memory, 100, 100, 0);
            });
            assertThat(Fakes.cufile().awaitHeld("read-modify-write", 1)).isEqualTo(1);
            byte[] neighbour = content.clone();
            Arrays.fill(neighbour, 1000, 1100, (byte) 1);
            Files.write(file, neighbour);
            Fakes.cufile().release("read-modify-write");
            assertThat(first.join()).isEqualTo(100);
        }
        assertThat(Arrays.copyOfRange(Files.readAllBytes(file), 1000, 1100))
                .isEqualTo(Arrays.copyOfRange(content, 1000, 1100));
    }

    @Test
    void aDescriptorThatMayNotReadOrWriteGetsErrno() {
        try (Opened writer = new Opened(OpenFiles.WRITE);
                Opened reader = new Opened(OpenFiles.READ)) {
            assertThat(CufileAbi.cuFileRead(writer.handle, memory, 4096, 0, 0)).isEqualTo(-1);
            assertThat(Native.getLastError()).isEqualTo(9);
            assertThat(CufileAbi.cuFileWrite(reader.handle, memory, 4096, 0, 0)).isEqualTo(-1);
            assertThat(Native.getLastError()).isEqualTo(9);
        }
    }

    @ParameterizedTest
    @CsvSource({"02000, 5019", "01000000, 5019"})
    void flagsThatTheReferenceExcludesAreRefused(String flags, int error) {
        int fd = OpenFiles.open(file, OpenFiles.READ_WRITE | Integer.parseInt(flags, 8));
        ok(CufileAbi.cuFileDriverOpen());
        assertThat(OpenFiles.register(fd, new long[1])).isEqualTo(error);
        OpenFiles.close(fd);
    }

    @Test
    void onlyFilesOnADiskAreMapped() throws IOException {
        ok(CufileAbi.cuFileDriverOpen());
        int fd = OpenFiles.open(folder, OpenFiles.READ);
        assertThat(OpenFiles.register(fd, new long[1])).isEqualTo(5018);
        OpenFiles.close(fd);
        Path memoryFile = Files.createTempFile(Path.of("/dev/shm"), "penstock", "");
        fd = OpenFiles.open(memoryFile, OpenFiles.READ);
        assertThat(OpenFiles.register(fd, new long[1])).isEqualTo(5027);
        OpenFiles.close(fd);
        Files.delete(memoryFile);
        Fakes.cufile().set("udev", 0);
        fd = OpenFiles.open(file, OpenFiles.READ);
        assertThat(OpenFiles.register(fd, new long[1])).isEqualTo(5027);
        OpenFiles.close(fd);
    }

    @Test
    void aDescriptorHasOneHandle() {
        try (Opened opened = new Opened(OpenFiles.READ)) {
            assertThat(OpenFiles.register(opened.fd, new long[1])).isEqualTo(5028);
        }
    }

    @Test
    void aHandleEndsBeforeItsDescriptor() {
        ok(CufileAbi.cuFileDriverOpen());
        int fd = OpenFiles.open(file, OpenFiles.READ);
        long handle = OpenFiles.register(fd);
        OpenFiles.close(fd);
        // The same number for the same file is another descriptor all the same.
        assertThat(OpenFiles.open(file, OpenFiles.READ)).isEqualTo(fd);
        CufileAbi.cuFileHandleDeregister(handle);
        complains("was closed before");
        assertThat(CufileAbi.cuFileRead(handle, memory, 4096, 0, 0)).isEqualTo(-5027);
        complains("the handle was deregistered");
        OpenFiles.close(fd);
        ok(CufileAbi.cuFileDriverClose_v2());
    }

    @Test
    void theDriverIsOpenedFirstAndClosedLast() {
        assertThat((int) CufileAbi.cuFileDriverClose_v2()).isEqualTo(5001);
        int fd = OpenFiles.open(file, OpenFiles.READ);
        OpenFiles.register(fd);
        complains("before cuFileDriverOpen");
        assertThat(CufileAbi.cuFileUseCount()).isEqualTo(1);
        ok(CufileAbi.cuFileBufRegister(memory, BYTES, 0));
        ok(CufileAbi.cuFileDriverClose_v2());
        complains("1 handles, 1 buffers");
        OpenFiles.close(fd);
    }

    @Test
    void aParameterIsIgnoredOnceTheDriverIsOpen() {
        ok(CufileAbi.cuFileSetParameterSizeT(9, 64));
        ok(CufileAbi.cuFileDriverOpen());
        long[] value = new long[1];
        ok(CufileAbi.cuFileGetParameterSizeT(9, value));
        assertThat(value[0]).isEqualTo(64);
        try (Memory properties = new Memory(56)) {
            ok(CufileAbi.cuFileDriverGetProperties(properties));
            assertThat(properties.getInt(48)).isEqualTo(64);
        }
        assertThat((int) CufileAbi.cuFileSetParameterSizeT(9, 128)).isEqualTo(5026);
        complains("the driver is open");
        ok(CufileAbi.cuFileDriverClose_v2());
    }

    @Test
    void theEnvironmentOverridesTheFileAndTheProgramOverridesBoth() throws IOException {
        Path json = Files.writeString(folder.resolve("cufile.json"), """
                // a comment
                { "properties": { "max_direct_io_size_kb" : 1024, // "io_batchsize": 1
                    "allow_compat_mode": true, "max_device_cache_size_kb": 4096, "per_buffer_cache_size_kb": 512 },
                  "execution": { "max_io_threads" : 7, "parallel_io": false } }
                """);
        OpenFiles.setenv("CUFILE_ENV_PATH_JSON", json.toString(), 1);
        OpenFiles.setenv("CUFILE_MAX_DEVICE_CACHE_SIZE", "8192", 1);
        try (Memory properties = new Memory(56)) {
            ok(CufileAbi.cuFileSetParameterSizeT(7, 2048));
            ok(CufileAbi.cuFileDriverOpen());
            ok(CufileAbi.cuFileDriverGetProperties(properties));
            assertThat(properties.getLong(16)).as("max_direct_io_size").isEqualTo(1024);
            assertThat(properties.getInt(36)).as("max_device_cache_size").isEqualTo(8192);
            assertThat(properties.getInt(40)).as("per_buffer_cache_size").isEqualTo(2048);
            assertThat(properties.getInt(48)).as("max_batch_io_size").isEqualTo(128);
            ok(CufileAbi.cuFileDriverClose_v2());
        } finally {
            OpenFiles.unsetenv("CUFILE_ENV_PATH_JSON");
            OpenFiles.unsetenv("CUFILE_MAX_DEVICE_CACHE_SIZE");
        }
    }

    @Test
    void aBufferIsRegisteredOnceAndDeregisteredByThatPointer() {
        ok(CufileAbi.cuFileDriverOpen());
        ok(CufileAbi.cuFileBufRegister(memory, BYTES, 0));
        assertThat((int) CufileAbi.cuFileBufRegister(memory + 4096, 4096, 0)).isEqualTo(5023);
        assertThat((int) CufileAbi.cuFileBufRegister(memory + BYTES, BYTES + 1L, 0))
                .isEqualTo(5014);
        assertThat((int) CufileAbi.cuFileBufDeregister(memory + 4096)).isEqualTo(5024);
        complains("the buffer was registered by");
        ok(CudaAbi.cuMemFree_v2(memory));
        complainsCuda("the memory is registered with cuFile");
        ok(CufileAbi.cuFileBufDeregister(memory));
        ok(CufileAbi.cuFileDriverClose_v2());
        memory = gpu.allocate(4096);
    }

    @Test
    void theBarCanBeFull() {
        ok(CufileAbi.cuFileDriverOpen());
        Fakes.cufile().set("bar_kb", 1024);
        ok(CufileAbi.cuFileBufRegister(memory, 1 << 19, 0));
        assertThat((int) CufileAbi.cuFileBufRegister(memory + BYTES, BYTES, 0)).isEqualTo(5016);
        ok(CufileAbi.cuFileBufDeregister(memory));
        ok(CufileAbi.cuFileBufRegister(memory + BYTES, BYTES, 0));
        ok(CufileAbi.cuFileBufDeregister(memory + BYTES));
        ok(CufileAbi.cuFileDriverClose_v2());
    }

    @Test
    void countersProveADirectRead() {
        Fakes.cufile().set("nvfs", 1);
        try (Opened opened = new Opened(OpenFiles.READ | OpenFiles.DIRECT);
                Memory stats = new Memory(5000)) {
            assertThat((int) CufileAbi.cuFileGetStatsL3(stats)).isEqualTo(5022);
            ok(CufileAbi.cuFileSetStatsLevel(3));
            ok(CufileAbi.cuFileStatsStart());
            ok(CufileAbi.cuFileBufRegister(memory, BYTES, 0));
            assertThat(CufileAbi.cuFileRead(opened.handle, memory, 8192, 0, 0)).isEqualTo(8192);
            assertThat(CufileAbi.cuFileRead(opened.handle, memory, 100, 0, 0)).isEqualTo(100);
            ok(CufileAbi.cuFileGetStatsL3(stats));
            long gpu0 = 1024 + 8;
            assertThat(stats.getLong(gpu0 + 16)).as("bytes").isEqualTo(8292);
            assertThat(stats.getLong(gpu0 + 64)).as("n_nvfs_reads").isEqualTo(1);
            assertThat(stats.getLong(gpu0 + 72)).as("n_posix_reads").isEqualTo(1);
            assertThat(stats.getLong(gpu0 + 80)).as("n_unaligned_reads").isEqualTo(1);
            ok(CufileAbi.cuFileBufDeregister(memory));
        }
    }

    @Test
    void orderedAnswersAndShortCounts() {
        try (Opened opened = new Opened(OpenFiles.READ)) {
            Fakes.cufile().fail("cuFileRead", 1, -1, 5);
            Fakes.cufile().fail("late:cuFileRead", 2, -5008);
            Fakes.cufile().shorten("cuFileRead", 1000);
            assertThat(CufileAbi.cuFileRead(opened.handle, memory, 4096, 0, 0)).isEqualTo(-1);
            assertThat(Native.getLastError()).isEqualTo(5);
            assertThat(CufileAbi.cuFileRead(opened.handle, memory, 4096, 0, 0)).isEqualTo(1000);
            assertThat(CufileAbi.cuFileRead(opened.handle, memory, 4096, 0, 0)).isEqualTo(-5008);
            assertThat(Fakes.cufile().calls("cuFileRead")).isEqualTo(3);
        }
    }

    /** A handle, with the driver open; closed in the right order. */
    private final class Opened implements AutoCloseable {
        final int fd;
        final long handle;

        Opened(int flags) {
            if (CufileAbi.cuFileUseCount() == 0) {
                ok(CufileAbi.cuFileDriverOpen());
            }
            fd = OpenFiles.open(file, flags);
            handle = OpenFiles.register(fd);
        }

        @Override
        public void close() {
            CufileAbi.cuFileHandleDeregister(handle);
            OpenFiles.close(fd);
            if (Fakes.cufile().live("handles") == 0) {
                ok(CufileAbi.cuFileDriverClose_v2());
            }
        }
    }

    private static void complains(String about) {
        complains(Fakes.cufile(), about);
    }

    private static void complainsCuda(String about) {
        complains(Fakes.cuda(), about);
    }

    private static void complains(FakeControl control, String about) {
        assertThat(control.complaint())
                .hasValueSatisfying(said -> assertThat(said).contains(about));
        control.forgive();
    }
}
