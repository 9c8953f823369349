// SPDX-License-Identifier: Apache-2.0
package io.penstock.cudf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.rapids.cudf.DataSource;
import ai.rapids.cudf.HostMemoryBuffer;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * cudf's own {@link DataSource} over files, called as its native library calls it. The GPU's memory is the host's, by
 * the host backend.
 */
class CudfSourceTest {

    private static final int BYTES = 300_000;
    private static final long CUDA_STREAM_PER_THREAD = 2; // driver_types.h
    private static final long STREAM = 0x7000;

    @TempDir
    Path folder;

    private final byte[] content = new byte[BYTES];
    private Path file;
    private Backend gpu;
    private Backend host;

    @BeforeEach
    void open() throws IOException {
        FakeCudf.load();
        new Random(1).nextBytes(content);
        file = Files.write(folder.resolve("data.parquet"), content);
        gpu = Backends.open("host");
        host = Backends.open("host");
    }

    @AfterEach
    void close() {
        for (Backend backend : new Backend[] {gpu, host}) {
            if (backend != null) {
                assertThat(backend.counters().files()).isZero();
                assertThat(backend.counters().buffers()).isZero();
                backend.close();
            }
        }
    }

    /** Calls one of the private methods that cudf's native library calls. */
    private static Object fromNative(DataSource source, String name, long... arguments) throws Exception {
        Class<?>[] types = new Class<?>[arguments.length];
        Arrays.fill(types, long.class);
        Method method = DataSource.class.getDeclaredMethod(name, types);
        method.setAccessible(true);
        try {
            return method.invoke(source, Arrays.stream(arguments).boxed().toArray());
        } catch (InvocationTargetException e) {
            throw (Exception) e.getCause();
        }
    }

    private static byte[] bytes(HostMemoryBuffer buffer, long length) {
        byte[] bytes = new byte[(int) length];
        buffer.getBytes(bytes, 0, 0, length);
        return bytes;
    }

    @Test
    void metadataAreReadToTheHost() throws Exception {
        try (CudfSource source = CudfSource.open(gpu, host, file)) {
            assertThat(source.size()).isEqualTo(BYTES);
            long[] answer = (long[]) fromNative(source, "hostReadBuff", BYTES - 8, 8);
            assertThat(answer[1]).isEqualTo(8);
            assertThatThrownBy(source::close).isInstanceOf(IllegalStateException.class); // cudf has the buffer
            try (HostMemoryBuffer target = HostMemoryBuffer.allocate(8)) {
                assertThat(fromNative(source, "hostRead", BYTES - 8, 8, target.getAddress()))
                        .isEqualTo(8L);
                assertThat(bytes(target, 8)).isEqualTo(Arrays.copyOfRange(content, BYTES - 8, BYTES));
            }
            fromNative(source, "onHostBufferDone", answer[2]);
        }
    }

    @Test
    void readsEndWhereTheFileEnds() throws Exception {
        try (CudfSource source = CudfSource.open(gpu, host, file.toUri())) {
            try (HostMemoryBuffer end = source.hostRead(BYTES - 3, 100)) {
                assertThat(end.getLength()).isEqualTo(3);
                assertThat(bytes(end, 3)).isEqualTo(Arrays.copyOfRange(content, BYTES - 3, BYTES));
            }
            try (HostMemoryBuffer nothing = source.hostRead(BYTES, 100)) {
                assertThat(nothing.getLength()).isZero();
            }
            long[] answer = (long[]) fromNative(source, "hostReadBuff", BYTES + 1, 8);
            assertThat(answer[1]).isZero();
            fromNative(source, "onHostBufferDone", answer[2]);
            try (HostMemoryBuffer target = HostMemoryBuffer.allocate(100)) {
                long address = target.getAddress();
                assertThat(fromNative(source, "deviceRead", BYTES - 3, 100, address, STREAM))
                        .isEqualTo(3L);
                assertThat(fromNative(source, "deviceRead", BYTES, 100, address, STREAM))
                        .isEqualTo(0L);
                assertThat(fromNative(source, "deviceRead", BYTES + 10, 100, address, STREAM))
                        .isEqualTo(0L);
            }
        }
    }

    @Test
    void whatIsDecodedIsReadIntoMemoryOfTheGpuBehindTheWorkOfTheStream() throws Exception {
        try (CudfSource source = CudfSource.open(gpu, host, file);
                HostMemoryBuffer target = HostMemoryBuffer.allocate(200_000)) {
            assertThat(source.supportsDeviceRead()).isTrue();
            int before = FakeCudf.synchronizations();
            assertThat(fromNative(source, "deviceRead", 12_345, 200_000, target.getAddress(), STREAM))
                    .isEqualTo(200_000L);
            assertThat(FakeCudf.synchronizations()).isEqualTo(before + 1);
            assertThat(FakeCudf.lastSynchronized()).isEqualTo(CUDA_STREAM_PER_THREAD);
            assertThat(bytes(target, 200_000)).isEqualTo(Arrays.copyOfRange(content, 12_345, 212_345));
        }
    }

    @Test
    void anInterruptedThreadReadsAllAndStaysInterrupted() throws Exception {
        try (CudfSource source = CudfSource.open(gpu, host, file);
                HostMemoryBuffer target = HostMemoryBuffer.allocate(BYTES)) {
            Thread.currentThread().interrupt();
            assertThat(fromNative(source, "deviceRead", 0, BYTES, target.getAddress(), STREAM))
                    .isEqualTo((long) BYTES);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(bytes(target, BYTES)).isEqualTo(content);
        }
    }

    @Test
    void aFileThatBecomesShorterHasFewerBytes() throws Exception {
        try (CudfSource source = CudfSource.open(gpu, host, file)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(1000);
            }
            try (HostMemoryBuffer start = source.hostRead(0, BYTES)) {
                assertThat(bytes(start, start.getLength())).isEqualTo(Arrays.copyOf(content, (int) start.getLength()));
                assertThat(start.getLength()).isEqualTo(1000);
            }
        }
    }

    @Test
    void whatCannotBeOpenedLeavesNothingOpen() {
        assertThatThrownBy(() -> CudfSource.open(gpu, host, folder.resolve("none")))
                .isInstanceOf(NoSuchFileException.class);
        host.close();
        assertThatThrownBy(() -> CudfSource.open(gpu, host, file)).isInstanceOf(ClosedException.class);
        host = null;
    }

    @Test
    void aClosedSourceRefuses() throws Exception {
        CudfSource source = CudfSource.open(gpu, host, file);
        source.close();
        source.close();
        assertThatThrownBy(() -> source.hostRead(0, 10)).isInstanceOf(ClosedException.class);
    }
}
