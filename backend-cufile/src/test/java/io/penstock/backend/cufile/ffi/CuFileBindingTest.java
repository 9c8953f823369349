// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** libcufile's functions as we call them, also functions that no path uses. */
@ExtendWith(FreshFakes.class)
class CuFileBindingTest {

    private static final int BYTES = 8192;

    private final FakeControl cufile = Fakes.cufile();
    private final FakeControl cuda = Fakes.cuda();
    private final long[] memory = new long[1];
    private final long[] stream = new long[1];
    private final long[] handle = new long[1];
    private HostFile file;

    @BeforeEach
    void open() throws IOException {
        assertThat(Cuda.load(Fakes.libcuda().toString())).isEmpty();
        assertThat(CuFile.LIBRARY.load(Fakes.libcufile().toString())).isEmpty();
        assertThat(CuFile.LIBRARY.absent())
                .as("functions that the fake has not")
                .isEmpty();
        long[] context = new long[1];
        assertThat(Cuda.DRIVER.init(0)).isZero();
        assertThat(Cuda.DRIVER.devicePrimaryCtxRetain(context, 0)).isZero();
        assertThat(Cuda.DRIVER.ctxPushCurrent(context[0])).isZero();
        assertThat(Cuda.DRIVER.memAlloc(memory, BYTES)).isZero();
        assertThat(Cuda.DRIVER.streamCreate(stream, Cuda.STREAM_NON_BLOCKING)).isZero();
        assertThat(CuFile.API.driverOpen()).isZero();
        Path folder = Files.createDirectories(Path.of("target", "cufile"));
        Path path = Files.write(folder.resolve("binding"), new byte[BYTES]);
        file = HostFiles.open(path, Set.of(), Limits.LINUX_MAX_BYTES);
        byte[] descr = new byte[CuFile.DESCR_BYTES];
        ByteBuffer.wrap(descr)
                .order(ByteOrder.nativeOrder())
                .putInt(CuFile.DESCR_TYPE_OFFSET, CuFile.HANDLE_TYPE_OPAQUE_FD)
                .putInt(CuFile.DESCR_FD_OFFSET, file.fd());
        assertThat(CuFile.API.handleRegister(handle, descr)).isZero();
    }

    @AfterEach
    void close() throws IOException {
        CuFile.API.handleDeregister(handle[0]);
        file.close();
        Files.delete(file.path());
        assertThat(CuFile.API.driverClose()).isZero();
        assertThat(Cuda.DRIVER.streamDestroy(stream[0])).isZero();
        assertThat(Cuda.DRIVER.memFree(memory[0])).isZero();
        assertThat(Cuda.DRIVER.ctxPopCurrent(new long[1])).isZero();
        assertThat(Cuda.DRIVER.devicePrimaryCtxRelease(0)).isZero();
    }

    @Test
    void aSizeMayBeSetAfterTheCallIfTheStreamIsNotRegisteredAsFixed() {
        long cells = NativeMemory.allocate(32);
        ByteBuffer view = NativeMemory.view(cells, 32);
        view.putLong(0, BYTES).putLong(8, 0).putLong(16, 0).putLong(24, 0);
        cuda.hold("cuMemsetD8Async");
        assertThat(Cuda.DRIVER.memsetD8Async(memory[0], (byte) 1, BYTES, stream[0]))
                .isZero();
        assertThat(CuFile.API.readAsync(handle[0], memory[0], cells, cells + 8, cells + 16, cells + 24, stream[0]))
                .isZero();
        view.putLong(0, 100); // what work before it in the stream has found out
        cuda.release("cuMemsetD8Async");
        assertThat(Cuda.DRIVER.streamSynchronize(stream[0])).isZero();
        assertThat(view.getLong(24)).isEqualTo(100);
        NativeMemory.free(cells);
    }

    @Test
    void parametersHaveValuesAndBoundsAndAreNotSetWhileTheDriverIsOpen() {
        long[] least = new long[1];
        long[] most = new long[1];
        assertThat(CuFile.API.getParameterMinMaxValue(9, least, most)).isZero();
        assertThat(most[0]).isGreaterThanOrEqualTo(least[0]);
        assertThat(CuFile.error(CuFile.API.setParameterSizeT(9, 16))).isEqualTo(CuFile.DRIVER_ALREADY_OPEN);
        assertThat(cufile.complaint())
                .hasValueSatisfying(said -> assertThat(said).contains("the driver is open"));
        cufile.forgive();
    }

    @Test
    void buffersAreEndedByThePointerThatTheyWereRegisteredBy() {
        assertThat(CuFile.API.bufRegister(memory[0], BYTES, 0)).isZero();
        assertThat(CuFile.error(CuFile.API.bufRegister(memory[0], BYTES, 0))).isEqualTo(5023);
        assertThat(CuFile.API.bufDeregister(memory[0])).isZero();
        assertThat(CuFile.error(CuFile.API.bufDeregister(memory[0]))).isEqualTo(5024);
    }

    @Test
    void theUseCountAndTheVersionAreReported() {
        assertThat(CuFile.API.useCount()).isPositive();
        int[] version = new int[1];
        assertThat(CuFile.API.getVersion(version)).isZero();
        assertThat(version[0]).isEqualTo(1150);
    }
}
