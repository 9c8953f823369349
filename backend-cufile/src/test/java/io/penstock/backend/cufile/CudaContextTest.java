// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which context a backend works in, on every thread; the fake refuses memory of any other. */
@ExtendWith(FreshFakes.class)
class CudaContextTest {

    @TempDir
    Path folder;

    private Options options;
    private FakeControl cuda;

    @BeforeEach
    void find() {
        options = CufileSubject.fakes().with(CufileOptions.PATH, CufilePath.STAGED);
        cuda = Fakes.cuda();
    }

    /** Reads a file of 100,000 bytes to the GPU, and checks what has arrived. */
    private void assertReads(Backend backend) throws IOException {
        byte[] bytes = new byte[100_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31 + i / 251);
        }
        Path file = Files.write(folder.resolve("file"), bytes);
        ByteBuffer seen = ByteBuffer.allocate(bytes.length);
        Long moved = backend.withFile(
                        file,
                        FileOption.READ,
                        opened -> backend.withBuffer(
                                bytes.length,
                                buffer -> backend.submit(Transfer.read(opened.all(), buffer.all()))
                                        .map(Completion::bytes)
                                        .delayUntil(read -> buffer.download(0, seen))))
                .block();
        assertThat(Objects.requireNonNull(moved)).isEqualTo(bytes.length);
        assertThat(seen.array()).isEqualTo(bytes);
    }

    @Test
    void thePrimaryContextIsRetainedOnceAndReleased() throws IOException {
        try (Backend first = Backends.open("cufile", options);
                Backend second = Backends.open("cufile", options)) {
            assertReads(first);
            assertReads(second);
            assertThat(cuda.calls("cuDevicePrimaryCtxRetain")).isEqualTo(1);
            first.closeLater().block();
            assertReads(second);
        }
        assertThat(cuda.awaitLive("contexts", 0)).isZero();
    }

    @Test
    void aBackendThatIsOpenedAgainWorksOnThreadsThatKnewTheFirst() throws IOException {
        // Of another GPU, so that the staging workers go on.
        cuda.set("device_count", 2);
        try (Backend other = Backends.open("cufile", options.with(CufileOptions.DEVICE, 1))) {
            for (int i = 0; i < 3; i++) {
                try (Backend backend = Backends.open("cufile", options)) {
                    assertReads(backend);
                    assertReads(other);
                }
            }
        }
    }

    @Test
    void theApplicationsContextIsUsedAndStaysTheApplications() throws IOException {
        try (OtherContext application = new OtherContext(0)) {
            Options inIt = options.with(CufileOptions.CONTEXT, application.address());
            try (Backend backend = Backends.open("cufile", inIt)) {
                assertReads(backend);
            }
            assertThat(cuda.calls("cuDevicePrimaryCtxRetain")).isZero();
            assertThat(cuda.live("contexts")).as("after the backend was closed").isEqualTo(1);
            assertThat(cuda.awaitLive("allocations", 0)).isZero();
            assertThat(cuda.live("streams")).isZero();
        }
    }

    @Test
    void theContextOfTheOpeningThreadIsUsedIfTheOptionIsCurrent() throws IOException {
        try (OtherContext application = new OtherContext(0)) {
            Options current = options.with(CufileOptions.CONTEXT, "current");
            try (Backend backend = application.current(() -> Backends.open("cufile", current))) {
                assertThat(OtherContext.currentHere()).isZero();
                assertThat(backend.capabilities().features()).anyMatch(line -> line.contains(application.address()));
                assertReads(backend);
            }
        }
    }

    @Test
    void aThreadThatCallsHasItsOwnContextAfterwards() {
        try (OtherContext mine = new OtherContext(0);
                Backend backend = Backends.open("cufile", options)) {
            long before = mine.current(OtherContext::currentHere);
            long after = mine.current(() -> {
                Objects.requireNonNull(backend.allocate(5 << 20).block()).close();
                backend.wrap(
                                Objects.requireNonNull(backend.allocate(4096).block())
                                        .nativeHandle(),
                                4096)
                        .close();
                return OtherContext.currentHere();
            });
            assertThat(after).isEqualTo(before).isEqualTo(mine.handle());
        }
    }

    /** By direct delivery an application runs on the I/O queue's thread, and may use CUDA there. */
    @ParameterizedTest
    @EnumSource(names = {"BATCH", "STREAM"}) // whose I/O queues call CUDA themselves
    void anIoQueueWorksInItsContextAfterTheApplicationHasChangedIt(CufilePath path) throws IOException {
        Options direct =
                options.with(CufileOptions.PATH, path).with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
        Path file = Files.write(folder.resolve("direct"), new byte[4096]);
        try (OtherContext mine = new OtherContext(0);
                Backend backend = Backends.open("cufile", direct)) {
            StorageFile opened = Objects.requireNonNull(
                    backend.openFile(file, FileOption.READ).block());
            DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(4096).block());
            for (int i = 0; i < 3; i++) {
                var before = backend.submit(Transfer.read(opened.all(), buffer.all()))
                        .map(done -> {
                            long current = OtherContext.currentHere();
                            assertThat(Cuda.DRIVER.ctxSetCurrent(mine.handle())).isZero();
                            return current;
                        })
                        .toFuture();
                assertThat(before)
                        .succeedsWithin(Duration.ofSeconds(20))
                        .as("the context behind the transfer's calls")
                        .isNotIn(0L, mine.handle());
            }
        }
    }

    @Test
    void twoGpusWorkSideBySideEachInItsOwnContext() throws IOException {
        cuda.set("device_count", 2);
        try (Backend zero = Backends.open("cufile", options);
                Backend one = Backends.open("cufile", options.with(CufileOptions.DEVICE, 1))) {
            for (int i = 0; i < 5; i++) {
                assertReads(zero);
                assertReads(one);
            }
            assertThat(cuda.calls("cuDevicePrimaryCtxRetain")).isEqualTo(2);
        }
    }

    @Test
    void aContextOnAnotherGpuThanTheOptionsSayIsRefusedWithBoth() {
        cuda.set("device_count", 2);
        try (OtherContext onOne = new OtherContext(1)) {
            Options torn = options.with(CufileOptions.CONTEXT, onOne.address()).with(CufileOptions.DEVICE, 0);
            assertThatThrownBy(() -> Backends.open("cufile", torn))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("is on GPU 1")
                    .hasMessageContaining("penstock.cufile.device is 0");
        }
    }
}
