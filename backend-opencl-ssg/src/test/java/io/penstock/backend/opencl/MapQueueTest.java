// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.mapped.MapPath;
import io.penstock.backend.opencl.memory.ClBuffers;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.FakeControl;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mapped buffers of a device with memory of its own: what the host sees and the device gets, and what fails. */
@ExtendWith(FreshSsg.class)
class MapQueueTest {

    private static final Options MAP = OpenClFixture.options(OpenClPath.MAP);
    private static final int BYTES = 8192;
    private static final int FILE_BYTES = 5000;
    private static final String MAP_BUFFER = "clEnqueueMapBuffer";
    private static final String UNMAP = "clEnqueueUnmapMemObject";

    private final FakeControl control = SsgFake.control();
    private SsgFixture device;

    @BeforeEach
    void open() {
        device = SsgFixture.open(MAP);
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void required_206_aFileThatEndsEarlyLeavesWhatIsBehindIt() throws IOException {
        byte[] content = BackendFixture.random(FILE_BYTES, 1);
        byte[] before = BackendFixture.random(BYTES, 2);
        StorageFile file = device.file("short", content);
        try (DeviceBuffer buffer = device.filled(before)) {
            assertThat(device.run(Transfer.read(file.region(0, BYTES), buffer.all()))
                            .bytes())
                    .isEqualTo(FILE_BYTES);
            byte[] expected = before.clone();
            System.arraycopy(content, 0, expected, 0, FILE_BYTES);
            assertThat(BackendFixture.content(buffer)).isEqualTo(expected);
        }
        file.close();
    }

    @Test
    void aFailedUnmapFailsTheTransfer() throws IOException {
        StorageFile file = device.file("data", BackendFixture.random(BYTES, 1));
        try (DeviceBuffer buffer = device.buffer(BYTES)) {
            control.fail("late:" + UNMAP, 1, -5);
            assertThatThrownBy(() -> device.read(file, buffer))
                    .isInstanceOf(PenstockException.class)
                    .hasMessageContaining(UNMAP);
            assertThat(device.read(file, buffer).bytes()).isEqualTo(BYTES);
            assertThat(BackendFixture.content(buffer)).isEqualTo(BackendFixture.random(BYTES, 1));
        }
        file.close();
    }

    @Test
    void aFailedMapFailsTheTransferBeforeTheHostTouchesAnything() throws IOException {
        byte[] content = BackendFixture.random(BYTES, 3);
        StorageFile file = device.file(SsgFixture.write("kept", content), FileOption.READ, FileOption.WRITE);
        try (DeviceBuffer buffer = device.filled(new byte[BYTES])) {
            control.fail("late:" + MAP_BUFFER, 1, -5);
            assertThatThrownBy(() -> device.run(Transfer.write(buffer.all(), file.all())))
                    .isInstanceOf(PenstockException.class)
                    .hasMessageContaining(MAP_BUFFER);
            assertThat(Files.readAllBytes(SsgFixture.folder().resolve("kept"))).isEqualTo(content);
        }
        file.close();
    }

    @Test
    void aTransferDoesNotEndBeforeItsUnmap() throws IOException {
        StorageFile file = device.file("data", BackendFixture.random(BYTES, 1));
        try (DeviceBuffer buffer = device.buffer(BYTES)) {
            control.hold(UNMAP);
            var read = device.backend()
                    .submit(Transfer.read(file.all(), buffer.all()))
                    .cache();
            var ended = read.toFuture();
            assertThat(control.awaitHeld(UNMAP, 1)).isEqualTo(1);
            assertThat(ended).isNotDone();
            control.release(UNMAP);
            assertThat(read.block(SsgFixture.LONG)).isNotNull();
            assertThat(BackendFixture.content(buffer)).isEqualTo(BackendFixture.random(BYTES, 1));
        }
        file.close();
    }

    /** With one I/O queue: once the third's range is mapped, the second's turn to map its own has come, and gone by. */
    @Test
    void overlappingRangesAreMappedOneAfterAnother() throws IOException {
        device.close();
        device = SsgFixture.open(MAP.with(HostOptions.QUEUES, 1));
        StorageFile file = device.file("data", BackendFixture.random(BYTES, 1));
        try (DeviceBuffer buffer = device.buffer(BYTES)) {
            long before = control.calls(MAP_BUFFER);
            control.hold(UNMAP);
            var first = device.backend()
                    .submit(Transfer.read(file.region(0, 4096), buffer.region(0, 4096)))
                    .toFuture();
            assertThat(control.awaitHeld(UNMAP, 1)).isEqualTo(1);
            var second = device.backend()
                    .submit(Transfer.read(file.region(4000, 1000), buffer.region(4000, 1000)))
                    .toFuture();
            var third = device.backend()
                    .submit(Transfer.read(file.region(6000, 1000), buffer.region(6000, 1000)))
                    .toFuture();
            long held = control.awaitHeld(UNMAP, 2);
            long mapped = control.calls(MAP_BUFFER) - before;
            control.release(UNMAP);
            assertThat(List.of(first, second, third))
                    .allSatisfy(read -> assertThat(read).succeedsWithin(SsgFixture.LONG));
            assertThat(held).as("the third waits for nobody").isEqualTo(2);
            assertThat(mapped).as("the second waits for the first").isEqualTo(2);
            assertThat(Arrays.copyOf(BackendFixture.content(buffer), 5000))
                    .isEqualTo(Arrays.copyOf(BackendFixture.random(BYTES, 1), 5000));
            assertThat(SsgFake.refusals()).isEmpty();
        }
        file.close();
    }

    /** A driver need not start what is not flushed: looks as often as this one allows must bring the end. */
    @Test
    void mapAndUnmapAreFlushed() throws Exception {
        Options options = MAP.resolve(Backends.options());
        MapPath ioPath = new MapPath(device.context, options, MapPath.Takes.ALL);
        NativeFile file =
                ioPath.open(SsgFixture.write("flushed", BackendFixture.random(BYTES, 4)), EnumSet.of(FileOption.READ));
        NativeQueue queue = ioPath.openQueue();
        Requests requests = new Requests();
        ClMemory memory = ClBuffers.of(device.context).allocate(BYTES);

        queue.enqueue(requests.next(0).file(Request.Kind.READ, file, 0, BYTES).memory(memory, 0));
        long start = System.nanoTime();
        while (requests.ended() == 0 && System.nanoTime() - start < SsgFixture.LONG.toNanos()) {
            queue.turn(1_000_000);
        }

        assertThat(requests.result(0)).isEqualTo(BYTES);
        memory.free();
        queue.close();
        file.close();
    }

    /** The map's flush is the first, the unmap's the second. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aFlushThatFailsHangsNoTransfer(int flush) throws IOException {
        StorageFile file = device.file("data", BackendFixture.random(BYTES, 1));
        try (DeviceBuffer buffer = device.buffer(BYTES)) {
            control.fail("clFlush", flush, -5);
            assertThat(device.read(file, buffer).bytes()).isEqualTo(BYTES);
            assertThat(BackendFixture.content(buffer)).isEqualTo(BackendFixture.random(BYTES, 1));
        }
        file.close();
    }

    @Test
    void aQueryThatFailsDoesNotEndTheTransferBeforeItsUnmap() throws IOException {
        StorageFile file = device.file("data", BackendFixture.random(BYTES, 1));
        try (DeviceBuffer buffer = device.buffer(BYTES)) {
            control.hold(UNMAP);
            var read = device.backend()
                    .submit(Transfer.read(file.all(), buffer.all()))
                    .toFuture();
            assertThat(control.awaitHeld(UNMAP, 1)).isEqualTo(1);
            long waits = control.calls("clWaitForEvents");
            control.fail("clGetEventInfo", 1, -6);
            long waited = control.awaitCalls("clWaitForEvents", waits + 1);
            boolean early = read.isDone();
            control.release(UNMAP);
            assertThat(waited).as("nobody waits for the unmap").isGreaterThan(waits);
            assertThat(early).as("it has ended before its unmap").isFalse();
            assertThat(read).failsWithin(SsgFixture.LONG).withThrowableThat().withMessageContaining("clGetEventInfo");
        }
        file.close();
    }
}
