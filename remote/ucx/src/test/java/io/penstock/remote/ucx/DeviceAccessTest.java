// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Capabilities;
import io.penstock.DeviceBuffer;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.engine.spi.staging.ThreadRule;
import io.penstock.tck.Require;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * Memory of a device that UCX accesses by its address, as CUDA's; here it is host memory that the backend says it
 * cannot view.
 */
class DeviceAccessTest {

    private static final int BYTES = 3_000_001;

    private final byte[] data = new byte[BYTES];
    private final Device driver = new Device();
    private final Access access = new Access();

    private Backend device;
    private Backend host;
    private UcxListener listener;

    @BeforeAll
    static void needsUcx() {
        Require.backend("ucx", UcxContext.unavailable());
    }

    @BeforeEach
    void open() throws IOException {
        StagingPath path = new StagingPath(Options.none(), "it is a test's") {
            @Override
            protected StagingDevice device() {
                return driver;
            }
        };
        device = Engine.open("hidden", driver, List.of(path), Options.none());
        host = Backends.open("host");
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        listener = UcxListener.open(host, address, Options.none(), access);
        new Random(7).nextBytes(data);
    }

    @AfterEach
    void close() {
        listener.close();
        for (int i = 0; i < 2000 && device.counters().buffers() > 0; i++) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(device.counters().buffers()).isZero();
        host.close();
        device.close();
    }

    /** Copies in calls that end when they return, and counts them. */
    private static final class Device implements DeviceDriver, StagingDevice {

        final AtomicInteger copies = new AtomicInteger();

        @Override
        public Capabilities capabilities() {
            Set<TransferPath> paths = Set.of(TransferPath.STAGED);
            return new Capabilities("hidden", false, paths, FenceSupport.HOST_ONLY, false, false, Set.of());
        }

        @Override
        public DeviceMemory allocate(long bytes) {
            return new Hidden(Slabs.shared().allocate(bytes));
        }

        @Override
        public ThreadRule threads() {
            return ThreadRule.MANY;
        }

        @Override
        public void copy(Request copy) {
            copies.incrementAndGet();
            long memory = copy.memory().nativeHandle() + copy.memoryOffset();
            long staging = copy.staging().hostAddress() + copy.stagingOffset();
            NativeMemory.copy(copy.isInward() ? memory : staging, copy.isInward() ? staging : memory, copy.bytes());
            copy.complete(copy.bytes());
        }

        @Override
        public void close() {
            Slabs.shared().trim();
        }
    }

    private record Hidden(DeviceMemory slab) implements DeviceMemory {

        @Override
        public long bytes() {
            return slab.bytes();
        }

        @Override
        public long nativeHandle() {
            return slab.hostAddress();
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public void free() {
            slab.free();
        }
    }

    private static final class Access implements DeviceAccess {

        final AtomicInteger entered = new AtomicInteger();
        final ThreadLocal<Boolean> isIn = ThreadLocal.withInitial(() -> false);
        volatile boolean fails;

        @Override
        public int device(long address) {
            return 5;
        }

        @Override
        public boolean enter(int device) throws NativeException {
            assertThat(device).isEqualTo(5);
            entered.incrementAndGet();
            if (fails) {
                NativeError error = new NativeError("enter", 201, "CUDA_ERROR_INVALID_CONTEXT");
                throw new NativeException("no context", new NativeFailure(error, NativeFailure.Kind.PERMANENT, ""));
            }
            boolean was = isIn.get();
            isIn.set(true);
            return !was;
        }

        @Override
        public void exit() {
            isIn.set(false);
        }
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private DeviceBuffer buffer() {
        DeviceBuffer buffer = get(device.allocate(BYTES));
        get(buffer.upload(0, direct(data)));
        driver.copies.set(0);
        return buffer;
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private byte[] read(StorageFile file, long offset, int bytes) {
        byte[] read = new byte[bytes];
        try (DeviceBuffer buffer = get(host.allocate(bytes))) {
            get(host.submit(Transfer.read(file.region(offset, bytes), buffer.all())));
            buffer.hostView().orElseThrow().read(0, ByteBuffer.wrap(read));
        }
        return read;
    }

    private void write(StorageFile file, long offset, byte[] bytes) {
        try (DeviceBuffer buffer = get(host.allocate(bytes.length))) {
            buffer.hostView().orElseThrow().write(0, ByteBuffer.wrap(bytes));
            get(host.submit(Transfer.write(buffer.all(), file.region(offset, bytes.length))));
        }
    }

    private byte[] content(DeviceBuffer buffer) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
        get(buffer.download(0, bytes));
        byte[] array = new byte[BYTES];
        bytes.get(0, array);
        return array;
    }

    @Test
    void itIsReadFromWhereItIs() throws IOException {
        try (DeviceBuffer buffer = buffer();
                UcxExport export = listener.export(buffer);
                StorageFile file = get(host.openFile(export.uri()))) {
            assertThat(export.isStaged()).isFalse();
            assertThat(read(file, 0, BYTES)).isEqualTo(data);
            assertThat(read(file, BYTES - 1, 1)).containsExactly(data[BYTES - 1]);
        }
        assertThat(driver.copies).hasValue(0);
        assertThat(access.entered.get()).isPositive();
    }

    @Test
    void longWritesGoToWhereItIsAndShortOnesThroughStagingMemory() throws IOException {
        byte[] changed = new byte[BYTES];
        new Random(8).nextBytes(changed);
        try (DeviceBuffer buffer = buffer();
                UcxExport export = listener.export(buffer, FileOption.WRITE);
                StorageFile file = get(host.openFile(export.uri(), FileOption.WRITE))) {
            write(file, 0, changed);
            assertThat(driver.copies).as("copies of a long write").hasValue(0);
            write(file, 1000, new byte[] {1, 2, 3});
            assertThat(driver.copies).as("copies of a short write").hasValue(1);
            System.arraycopy(new byte[] {1, 2, 3}, 0, changed, 1000, 3);
            assertThat(content(buffer)).isEqualTo(changed);
        }
    }

    @Test
    void aThreadThatCannotBePreparedRefusesTheRequestAndServesTheNext() throws IOException {
        try (DeviceBuffer buffer = buffer();
                UcxExport export = listener.export(buffer, FileOption.READ, FileOption.WRITE);
                StorageFile file = get(host.openFile(export.uri(), FileOption.READ, FileOption.WRITE))) {
            access.fails = true;
            assertThatThrownBy(() -> read(file, 0, BYTES))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("no context");
            assertThatThrownBy(() -> write(file, 0, data))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("no context");
            access.fails = false;
            assertThat(read(file, 0, BYTES)).isEqualTo(data);
        }
    }

    @Test
    void theThreadThatExportsIsPreparedMeanwhile() throws IOException {
        try (DeviceBuffer buffer = buffer()) {
            UcxExport first = listener.export(buffer);
            assertThat(access.entered).hasValue(1);
            assertThat(access.isIn.get()).isFalse();
            access.isIn.set(true); // by the application
            UcxExport second = listener.export(buffer);
            assertThat(access.isIn.get()).isTrue();
            access.fails = true;
            assertThatThrownBy(() -> listener.export(buffer)).hasMessageContaining("no context");
            first.close();
            second.close();
        }
    }

    @Test
    void memoryThatUcxDoesNotAccessIsStaged() throws IOException {
        try (UcxListener plain = UcxListener.open(
                        host,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        Options.none(),
                        DeviceAccess.NONE);
                DeviceBuffer buffer = buffer();
                UcxExport export = plain.export(buffer);
                StorageFile file = get(host.openFile(export.uri()))) {
            assertThat(export.isStaged()).isTrue();
            assertThat(read(file, 0, BYTES)).isEqualTo(data);
        }
        assertThat(driver.copies.get()).isPositive();
    }
}
