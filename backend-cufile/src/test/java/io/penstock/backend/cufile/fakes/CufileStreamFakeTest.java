// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(FreshFakes.class)
class CufileStreamFakeTest {

    private static final int BYTES = 65536;
    private static final int ALIGNED_AND_FIXED = 15;

    @TempDir
    Path folder;

    private final byte[] content = new byte[BYTES];
    private final Memory cells = new Memory(32);
    private Gpu gpu;
    private long memory;
    private long stream;
    private int fd;
    private long handle;

    @BeforeEach
    void begin() throws IOException {
        new Random(5).nextBytes(content);
        gpu = new Gpu();
        memory = gpu.allocate(BYTES);
        stream = gpu.stream();
        ok(CufileAbi.cuFileDriverOpen());
        fd = OpenFiles.open(Files.write(folder.resolve("file"), content), OpenFiles.READ);
        handle = OpenFiles.register(fd);
        arguments(BYTES, 0, 0);
    }

    @AfterEach
    void end() {
        if (stream != 0) {
            ok(CudaAbi.cuStreamDestroy_v2(stream));
        }
        CufileAbi.cuFileHandleDeregister(handle);
        ok(CufileAbi.cuFileDriverClose_v2());
        OpenFiles.close(fd);
        cells.close();
        ok(CudaAbi.cuMemFree_v2(memory));
        gpu.close();
    }

    private void arguments(long size, long fileOffset, long bufferOffset) {
        cells.setLong(0, size);
        cells.setLong(8, fileOffset);
        cells.setLong(16, bufferOffset);
        cells.setLong(24, 0);
    }

    private long read() {
        return CufileAbi.cuFileReadAsync(
                handle, memory, cells.share(0), cells.share(8), cells.share(16), cells.share(24), stream);
    }

    @Test
    void aReadRunsInTheStreamsOrder() {
        Pointer flag = gpu.pinned(4);
        flag.setInt(0, 0);
        Fakes.cuda().hold("cuMemsetD8Async");
        ok(CudaAbi.cuMemsetD8Async(memory, (byte) 0, BYTES, stream));
        ok(read());
        ok(CudaAbi.cuStreamWriteValue32_v2(stream, Pointer.nativeValue(flag), 1, 0));
        assertThat(Fakes.cuda().awaitHeld("cuMemsetD8Async", 1)).isEqualTo(1);
        assertThat(cells.getLong(24)).isZero();
        assertThat(flag.getInt(0)).isZero();
        Fakes.cuda().release("cuMemsetD8Async");
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(BYTES);
        assertThat(flag.getInt(0)).isEqualTo(1);
        assertThat(gpu.read(memory, BYTES)).isEqualTo(content);
        ok(CudaAbi.cuMemFreeHost(flag));
    }

    @Test
    void argumentsAreReadWhenTheStreamGetsThere() {
        Fakes.cuda().hold("cuMemsetD8Async");
        ok(CudaAbi.cuMemsetD8Async(memory, (byte) 0, BYTES, stream));
        ok(read());
        cells.setLong(0, 100);
        cells.setLong(8, 200);
        cells.setLong(16, 300);
        Fakes.cuda().release("cuMemsetD8Async");
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(100);
        assertThat(gpu.read(memory + 300, 100)).isEqualTo(Arrays.copyOfRange(content, 200, 300));
    }

    @Test
    void fixedArgumentsAreReadAtSubmission() {
        ok(CufileAbi.cuFileStreamRegister(stream, ALIGNED_AND_FIXED));
        Fakes.cuda().hold("cuMemsetD8Async");
        ok(CudaAbi.cuMemsetD8Async(memory, (byte) 0, BYTES, stream));
        ok(read());
        arguments(1, 1, 1);
        Fakes.cuda().release("cuMemsetD8Async");
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(BYTES);
        ok(CufileAbi.cuFileStreamDeregister(stream));
    }

    @Test
    void anAlignedStreamCarriesNothingUnaligned() {
        ok(CufileAbi.cuFileStreamRegister(stream, ALIGNED_AND_FIXED));
        arguments(4096, 3, 0);
        ok(read());
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(-5022);
        complains("an unaligned transfer on a stream that was registered as aligned");
        ok(CufileAbi.cuFileStreamDeregister(stream));
    }

    @Test
    void theSizeMayShrinkButNotGrow() {
        arguments(4096, 0, 0);
        Fakes.cuda().hold("cuMemsetD8Async");
        ok(CudaAbi.cuMemsetD8Async(memory, (byte) 0, BYTES, stream));
        ok(read());
        cells.setLong(0, 8192);
        Fakes.cuda().release("cuMemsetD8Async");
        ok(CudaAbi.cuStreamSynchronize(stream));
        complains("the size grew after submission");
    }

    @Test
    void aFailureLandsInTheCell() {
        Fakes.cufile().fail("late:cuFileReadAsync", 1, -5008);
        ok(read());
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(-5008);
    }

    @Test
    void aReadPastTheEndIsShort() {
        arguments(BYTES, BYTES - 10, 0);
        ok(read());
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(10);
    }

    @Test
    void aStreamIsDeregisteredBeforeItIsDestroyed() {
        ok(CufileAbi.cuFileStreamRegister(stream, 0));
        ok(CudaAbi.cuStreamDestroy_v2(stream));
        complains("the stream is registered with cuFile");
        CufileAbi.cuFileStreamDeregister(stream);
        complains("the stream was destroyed before");
        stream = 0;
    }

    @Test
    void aHandleIsNotDeregisteredWhileAStreamUsesIt() {
        Fakes.cufile().hold("cuFileReadAsync");
        ok(read());
        assertThat(Fakes.cufile().awaitHeld("cuFileReadAsync", 1)).isEqualTo(1);
        CufileAbi.cuFileHandleDeregister(handle);
        complains("1 operations use the handle");
        Fakes.cufile().release("cuFileReadAsync");
        ok(CudaAbi.cuStreamSynchronize(stream));
        assertThat(cells.getLong(24)).isEqualTo(BYTES);
        handle = OpenFiles.register(fd);
    }

    @Test
    void withoutStreamsTheCallIsRefused() {
        Fakes.cufile().set("streams", 0);
        assertThat((int) read()).isEqualTo(5038);
        assertThat((int) CufileAbi.cuFileStreamRegister(stream, 0)).isEqualTo(5038);
    }

    private static void complains(String about) {
        assertThat(Fakes.complaint())
                .hasValueSatisfying(said -> assertThat(said).contains(about));
        Fakes.cufile().forgive();
        Fakes.cuda().forgive();
    }
}
