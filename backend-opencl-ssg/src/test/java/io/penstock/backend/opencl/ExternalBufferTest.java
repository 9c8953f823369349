// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.PcieDevice;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.gma.DirectGma;
import io.penstock.backend.opencl.gma.ExternalBuffer;
import io.penstock.backend.opencl.gma.PeerCopies;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.test.StepVerifier;

/** What this device writes to another on the bus, and the copies between two of a kind. */
@ExtendWith(FreshSsg.class)
class ExternalBufferTest {

    private static final int PAGE = 4096;
    private static final String WRITE = "clEnqueueWriteSignalAMD";

    private SsgFixture ssg;
    private DirectGma bus;
    private long device;
    private long marker;
    private ExternalBuffer out;

    @BeforeEach
    void open() {
        ssg = SsgFixture.open(SsgFixture.OPTIONS);
        bus = DirectGma.open(SsgFixture.OPTIONS);
        device = PcieDevice.memory(3 * PAGE);
        marker = device + 2 * PAGE;
        out = bus.external(device, marker, 2 * PAGE);
    }

    @AfterEach
    void close() {
        out.close();
        bus.close();
        ssg.close();
    }

    private static void await(DeviceFence fence) {
        fence.outcome().then().block(SsgFixture.LONG);
        fence.close();
    }

    @Test
    void theBytesCopiedBeforeASignalAreVisibleAfterIt() {
        byte[] bytes = BackendFixture.random(2 * PAGE, 1);
        DeviceBuffer source = ssg.filled(bytes);
        try (DeviceFence copied = out.copy(source.nativeHandle(), 0, 0, 2 * PAGE)) {
            await(out.signal(1));
            assertThat(copied.isSignalled()).isTrue();
        }
        assertThat(PcieDevice.marker(marker)).isEqualTo(1);
        assertThat(PcieDevice.read(device, 2 * PAGE)).isEqualTo(bytes);
    }

    @Test
    void aFileReachesAnotherDeviceThroughABufferOfThisOne() throws IOException {
        byte[] bytes = BackendFixture.random(PAGE, 2);
        DeviceBuffer staging = ssg.buffer(PAGE);
        Transfer read = Transfer.read(ssg.file("outwards", bytes).all(), staging.all());
        try (DeviceFence arrived =
                Objects.requireNonNull(ssg.backend().enqueue(read).block(SsgFixture.LONG))) {
            await(arrived);
            await(out.copy(staging.nativeHandle(), 0, PAGE, PAGE));
        }
        assertThat(PcieDevice.read(device + PAGE, PAGE)).isEqualTo(bytes);
    }

    @Test
    void aSignalWaitsOnTheDeviceForItsFences() {
        long event = ssg.userEvent();
        try (DeviceFence before = ssg.backend().fence(event);
                DeviceFence given = out.signal(1, before)) {
            assertThat(given.isSignalled()).isFalse();
            assertThat(PcieDevice.marker(marker)).isZero();
            OpenCl.clSetUserEventStatus(event, 0);
            given.outcome().then().block(SsgFixture.LONG);
            assertThat(PcieDevice.marker(marker)).isEqualTo(1);
        } finally {
            OpenCl.clReleaseEvent(event);
        }
    }

    @Test
    void valuesRisePerMarkerWhicheverBufferWritesThem() {
        await(out.signal(5));
        try (ExternalBuffer second = bus.external(device, marker, PAGE)) {
            assertThatThrownBy(() -> second.signal(5))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("must increase, was 5 after 5");
            await(second.signal(6));
        }
        assertThatThrownBy(() -> out.signal(6)).isInstanceOf(IllegalArgumentException.class);
        try (ExternalBuffer later = bus.external(device + PAGE, marker, PAGE)) {
            assertThatThrownBy(() -> later.signal(1)).isInstanceOf(IllegalArgumentException.class);
            await(later.signal(7));
        }
        assertThat(PcieDevice.marker(marker)).isEqualTo(7);
    }

    @Test
    void aMarkerInsideTheMemoryIsRefusedSinceASignalWouldOverwriteData() {
        for (long inside : new long[] {device, device + PAGE}) {
            assertThatThrownBy(() -> bus.external(device, inside, PAGE + 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("which a signal would overwrite");
        }
        bus.external(device + PAGE, device, PAGE).close();
    }

    @Test
    void valuesRiseAndDoNotBeginAgain() {
        out.writeSignal(5).block(SsgFixture.LONG);
        long asked = ssg.control.calls(WRITE);
        for (long value : new long[] {5, 4, 1}) {
            assertThatThrownBy(() -> out.signal(value))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("values must increase");
            StepVerifier.create(out.writeSignal(value))
                    .expectError(IllegalArgumentException.class)
                    .verify(SsgFixture.LONG);
        }
        assertThat(ssg.control.calls(WRITE)).as("before the driver sees them").isEqualTo(asked);
        await(out.signal(0xFFFF_FFFFL));
        assertThat(PcieDevice.marker(marker)).isEqualTo(-1);
        assertThatThrownBy(() -> out.signal(1L << 32))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be from 1 to");
        assertThatThrownBy(() -> out.signal(1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aSignalIsGivenWhenItIsSubscribedTo() {
        var signal = out.writeSignal(1);
        assertThat(ssg.control.calls(WRITE)).isZero();
        signal.block(SsgFixture.LONG);
        assertThat(PcieDevice.marker(marker)).isEqualTo(1);
    }

    @Test
    void aSignalThatTheDriverRefusesMayBeGivenAgain() {
        ssg.control.fail(WRITE, 1, OpenClError.INVALID_OPERATION);
        assertThatThrownBy(() -> out.signal(1))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining(WRITE + " -> CL_INVALID_OPERATION (-59)");
        await(out.signal(1));
        assertThat(PcieDevice.marker(marker)).isEqualTo(1);
    }

    @Test
    void itIsAWriteTargetOnly() {
        assertThatThrownBy(() -> ssg.backend().wrap(out.nativeHandle(), out.bytes()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("only written to");
    }

    @Test
    void aCopyStaysInside() {
        DeviceBuffer source = ssg.buffer(2 * PAGE);
        assertThatThrownBy(() -> out.copy(source.nativeHandle(), 0, PAGE, PAGE + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aClosedResourceRefuses() {
        out.close();
        out.close();
        assertThatThrownBy(() -> out.signal(1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> out.copy(1, 0, 0, 1)).isInstanceOf(ClosedException.class);
    }

    @Test
    void copiesBetweenDevicesNeedTheDriversFunction() {
        assertThatThrownBy(() -> bus.peerCopies())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("clEnqueueCopyBufferP2PAMD");
        SsgFake.set("p2p", 1);
        byte[] bytes = BackendFixture.random(PAGE, 3);
        DeviceBuffer from = ssg.filled(bytes);
        DeviceBuffer to = ssg.buffer(2 * PAGE);
        try (PeerCopies copies = bus.peerCopies()) {
            await(copies.copy(from.nativeHandle(), 0, to.nativeHandle(), PAGE, PAGE));
            ssg.control.fail("clEnqueueCopyBufferP2PAMD", 1, OpenClError.INVALID_VALUE);
            assertThatThrownBy(() -> copies.copy(from.nativeHandle(), 0, to.nativeHandle(), 0, 1))
                    .isInstanceOf(PermanentStorageException.class);
        }
        byte[] arrived = BackendFixture.content(to);
        assertThat(Arrays.copyOfRange(arrived, PAGE, 2 * PAGE)).isEqualTo(bytes);
    }
}
