// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which memory is registered with cuFile, when, and until when; the fake complains of a wrong end. */
@ExtendWith(FreshFakes.class)
class RegistrationTest {

    private static final int MIB = 1 << 20;
    private static final String REGISTER = "cuFileBufRegister";
    private static final String DEREGISTER = "cuFileBufDeregister";

    private final FakeControl cufile = Fakes.cufile();
    private CuFileBench bench;
    private StorageFile file;
    private GpuContext context;

    @BeforeEach
    void thereIsADirectPath() {
        cufile.set("nvfs", 1);
    }

    @AfterEach
    void close() throws IOException {
        bench.close();
    }

    private void open(Options options) throws IOException {
        bench = CuFileBench.open(options, new CuFileFake.WithNvidiaFs());
        file = bench.file(CuFileBench.bytes(4 * MIB));
    }

    private void open() throws IOException {
        open(CuFileFake.options(CufilePath.SYNC));
    }

    private Transfer read(DeviceBuffer buffer) {
        return Transfer.read(file.region(0, buffer.length()), buffer.all());
    }

    private TransferPath path(DeviceBuffer buffer) {
        return bench.move(read(buffer)).path();
    }

    @Test
    void aSmallBufferIsRegisteredWhenItIsAllocatedAndUsedDirectly() throws IOException {
        open();
        DeviceBuffer buffer = bench.buffer(MIB);
        assertThat(path(buffer)).isEqualTo(TransferPath.DIRECT);
        assertThat(BackendFixture.content(buffer)).isEqualTo(Arrays.copyOf(CuFileBench.bytes(4 * MIB), MIB));
        assertThat(cufile.calls(REGISTER)).isEqualTo(1);
    }

    @Test
    void partsOfOneAllocationAreRegisteredOnceWholeAndUsedByOffset() throws IOException {
        open();
        DeviceBuffer[] parts = {bench.buffer(4096), bench.buffer(4096), bench.buffer(4096)};
        for (DeviceBuffer part : parts) {
            assertThat(path(part)).isEqualTo(TransferPath.DIRECT);
            assertThat(BackendFixture.content(part)).isEqualTo(Arrays.copyOf(CuFileBench.bytes(4 * MIB), 4096));
        }
        assertThat(cufile.calls(REGISTER)).isEqualTo(1);
        assertThat(cufile.live("buffers")).isEqualTo(1);
    }

    @Test
    void memoryThatIsHandedOutAgainStaysRegistered() throws IOException {
        open();
        for (int i = 0; i < 5; i++) {
            DeviceBuffer buffer = bench.buffer(MIB);
            assertThat(path(buffer)).isEqualTo(TransferPath.DIRECT);
            buffer.close();
        }
        assertThat(cufile.calls(REGISTER)).isEqualTo(1);
        assertThat(cufile.calls(DEREGISTER)).isZero();
    }

    @Test
    void aLargeBufferIsRegisteredOnceItIsReused() throws IOException {
        open(CuFileFake.options(CufilePath.SYNC).with(CufileOptions.REGISTER_BYTES, 4096L));
        DeviceBuffer buffer = bench.buffer(2 * MIB);
        assertThat(path(buffer)).as("one use may be all").isEqualTo(TransferPath.COMPAT);
        assertThat(cufile.calls(REGISTER)).isZero();
        assertThat(path(buffer)).isEqualTo(TransferPath.COMPAT);
        assertThat(cufile.awaitCalls(REGISTER, 1)).isEqualTo(1);
        while (bench.backend().explain(read(buffer)).path() != TransferPath.DIRECT) {
            Thread.onSpinWait(); // the call has been made, and its answer is on its way
        }
        assertThat(path(buffer)).isEqualTo(TransferPath.DIRECT);
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "DIRECT"})
    void aLargeBufferIsRegisteredOnceItIsReusedAlsoWhereTheRestIsStaged(CufilePath variant) throws IOException {
        open(CuFileFake.options(variant).with(CufileOptions.REGISTER_BYTES, 4096L));
        DeviceBuffer buffer = bench.buffer(2 * MIB);
        Transfer twoParts = Transfer.read(file.region(0, MIB), buffer.region(0, MIB))
                .and(file.region(MIB, MIB), buffer.region(MIB, MIB));
        assertThat(bench.move(twoParts).path()).isEqualTo(TransferPath.STAGED);
        Transfer edges = Transfer.read(file.region(1, 5000), buffer.region(0, 5000));
        assertThat(bench.move(edges).path()).isEqualTo(TransferPath.STAGED);
        assertThat(cufile.calls(REGISTER))
                .as("one use that could have been direct")
                .isZero();
        assertThat(path(buffer)).isEqualTo(TransferPath.STAGED);
        assertThat(cufile.awaitCalls(REGISTER, 1)).isEqualTo(1);
        while (bench.backend().explain(read(buffer)).path() != TransferPath.DIRECT) {
            Thread.onSpinWait(); // the call has been made, and its answer is on its way
        }
        assertThat(bench.move(read(buffer).requireDirect()).path()).isEqualTo(TransferPath.DIRECT);
        assertThat(BackendFixture.content(buffer)).isEqualTo(Arrays.copyOf(CuFileBench.bytes(4 * MIB), 2 * MIB));
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "DIRECT", "SYNC"})
    void memoryThatWasAllocatedBeforeTheFirstFileIsRegisteredWhenTheDriverOpens(CufilePath variant) throws IOException {
        bench = CuFileBench.open(
                CuFileFake.options(variant).with(CufileOptions.REGISTER_BYTES, 2L * MIB),
                new CuFileFake.WithNvidiaFs());
        DeviceBuffer large = bench.buffer(3 * MIB);
        DeviceBuffer buffer = bench.buffer(MIB);
        long pointer = allocate(2 * MIB);
        DeviceBuffer wrapped = bench.backend().wrap(pointer, 2 * MIB);
        long freed = allocate(2 * MIB);
        bench.backend().wrap(freed, 2 * MIB).close();
        free(freed);
        assertThat(cufile.calls("cuFileDriverOpen")).isZero();
        file = bench.file(CuFileBench.bytes(4 * MIB));
        assertThat(cufile.calls(REGISTER))
                .as("not what is large, nor what is gone")
                .isEqualTo(2);
        assertThat(path(buffer)).isEqualTo(TransferPath.DIRECT);
        assertThat(path(wrapped)).isEqualTo(TransferPath.DIRECT);
        assertThat(path(large)).isNotEqualTo(TransferPath.DIRECT);
        wrapped.close();
        assertThat(cufile.calls(DEREGISTER)).isEqualTo(1);
        free(pointer);
    }

    @Test
    void aReadOfManySegmentsIsOneUse() throws IOException {
        open(CuFileFake.options(CufilePath.SYNC)
                .with(CufileOptions.REGISTER_BYTES, 4096L)
                .with(CufileOptions.SEGMENT_BYTES, 64L << 10));
        DeviceBuffer buffer = bench.buffer(2 * MIB);
        assertThat(path(buffer)).isEqualTo(TransferPath.COMPAT);
        assertThat(cufile.calls("cuFileRead")).isEqualTo(32);
        assertThat(cufile.awaitCalls(REGISTER, 0)).isZero();
        assertThat(bench.backend().explain(read(buffer)).path()).isEqualTo(TransferPath.COMPAT);
    }

    @Test
    void neverMeansNever() throws IOException {
        open(CuFileFake.options(CufilePath.SYNC).with(CufileOptions.REGISTER, Registering.NEVER));
        DeviceBuffer buffer = bench.buffer(MIB);
        for (int i = 0; i < 5; i++) {
            assertThat(path(buffer)).isEqualTo(TransferPath.COMPAT);
        }
        assertThat(cufile.calls(REGISTER)).isZero();
    }

    @Test
    void alwaysRegistersAtAllocationAlsoBeforeTheFirstFile() throws IOException {
        Options always = CuFileFake.options(CufilePath.SYNC).with(CufileOptions.REGISTER, Registering.ALWAYS);
        bench = CuFileBench.open(always);
        DeviceBuffer buffer = bench.buffer(MIB);
        assertThat(cufile.calls(REGISTER)).isEqualTo(1);
        file = bench.file(CuFileBench.bytes(MIB));
        assertThat(path(buffer)).isEqualTo(TransferPath.DIRECT);
    }

    @Test
    void onAGpuWithASmallBarNothingIsRegisteredByItself() throws IOException {
        cufile.set("bar_kb", 256 << 10);
        open();
        DeviceBuffer buffer = bench.buffer(MIB);
        assertThat(path(buffer)).isEqualTo(TransferPath.COMPAT);
        assertThat(bench.backend().explain(read(buffer)).whyNotDirect())
                .contains("not registered", "BAR of 256 MiB is smaller than its memory");
        assertThat(cufile.calls(REGISTER)).isZero();
    }

    @Test
    void anExhaustedBarLeavesTheBufferUnregisteredAndUsable() throws IOException {
        cufile.fail(REGISTER, 0, 5016);
        open(CuFileFake.options(CufilePath.SYNC).with(CufileOptions.REGISTER, Registering.ALWAYS));
        DeviceBuffer buffer = bench.buffer(MIB);
        assertThat(path(buffer)).isEqualTo(TransferPath.COMPAT);
        assertThatThrownBy(() -> bench.move(read(buffer).requireDirect()))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("CU_FILE_INVALID_MAPPING_SIZE (5016)");
    }

    @Test
    void twoWrappingsOfOnePointerShareARegistrationUntilTheSecondIsClosed() throws IOException {
        open();
        long pointer = allocate(2 * MIB);
        DeviceBuffer first = bench.backend().wrap(pointer, 2 * MIB);
        DeviceBuffer second = bench.backend().wrap(pointer, 2 * MIB);
        assertThat(cufile.calls(REGISTER)).isEqualTo(1);
        first.close();
        assertThat(path(second)).isEqualTo(TransferPath.DIRECT);
        second.close();
        assertThat(cufile.calls(DEREGISTER))
                .as("before the application may free it")
                .isEqualTo(1);
        free(pointer);
    }

    @Test
    void aWrappedPointerThatStartsInsideABlockIsUsedUnregistered() throws IOException {
        open();
        long pointer = allocate(2 * MIB);
        DeviceBuffer wrapped = bench.backend().wrap(pointer + 256, MIB);
        assertThat(path(wrapped)).isEqualTo(TransferPath.COMPAT);
        assertThat(BackendFixture.content(wrapped)).isEqualTo(Arrays.copyOf(CuFileBench.bytes(4 * MIB), MIB));
        assertThat(cufile.calls(REGISTER)).isZero();
        wrapped.close();
        free(pointer);
    }

    @Test
    void required_201_aBufferThatIsClosedInFlightIsDeregisteredWhenTheReadHasEnded() throws IOException {
        open();
        long pointer = allocate(2 * MIB);
        DeviceBuffer wrapped = bench.backend().wrap(pointer, 2 * MIB);
        cufile.hold("cuFileRead");
        var reading = bench.backend().submit(read(wrapped)).toFuture();
        assertThat(cufile.awaitHeld("cuFileRead", 1)).isPositive();
        wrapped.close();
        assertThat(cufile.calls(DEREGISTER)).isZero();
        cufile.release("cuFileRead");
        assertThat(reading.orTimeout(20, SECONDS).join().bytes()).isEqualTo(2 * MIB);
        assertThat(cufile.awaitCalls(DEREGISTER, 1)).isEqualTo(1);
        free(pointer);
    }

    private long allocate(long bytes) {
        return context().run("allocation", () -> {
            long[] pointer = new long[1];
            assertThat(Cuda.DRIVER.memAlloc(pointer, bytes)).isZero();
            return pointer[0];
        });
    }

    private void free(long pointer) {
        context().run("release", () -> Cuda.DRIVER.memFree(pointer));
        context.leave();
        context = null;
    }

    private GpuContext context() {
        if (context == null) {
            context = ContextChoice.open(CuFileFake.options(CufilePath.SYNC).resolve(new CufileProvider().options()));
        }
        return context;
    }
}
