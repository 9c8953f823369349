// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.order.Pins;
import io.penstock.engine.spi.DeviceMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "a file that is mapped cannot be deleted there")
class MemoryViewTest {

    private static final long EDGE = 1L << 30; // of the windows
    private static final long LENGTH = EDGE + 10;

    @TempDir
    private Path folder;

    private boolean dead;

    /** Memory of more than one window; a file with a hole, so that it costs none. */
    private MemoryView large() throws IOException {
        Path file = folder.resolve("memory");
        try (FileChannel channel =
                FileChannel.open(Files.createFile(file), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[1]), LENGTH - 1);
        }
        return new MemoryView(new Mapped(file), LENGTH, this::check, new Pins(() -> {}));
    }

    private void check() {
        if (dead) {
            throw new IllegalStateException("closed");
        }
    }

    @Test
    void bytesOnBothSidesOfTheEdgeOfAWindowAreOthers() throws IOException {
        MemoryView view = large();
        assertThat(view.length()).isEqualTo(LENGTH);
        view.put(EDGE - 1, (byte) 1);
        view.put(EDGE, (byte) 2);
        view.put(LENGTH - 1, (byte) 3);
        assertThat(view.get(EDGE - 1)).isEqualTo((byte) 1);
        assertThat(view.get(EDGE)).isEqualTo((byte) 2);
        assertThat(view.get(LENGTH - 1)).isEqualTo((byte) 3);
        assertThat(view.get(0)).isZero();
        ByteBuffer across = ByteBuffer.allocate(3);
        view.read(EDGE - 2, across);
        assertThat(across.array()).containsExactly(0, 1, 2);
        view.write(EDGE - 1, ByteBuffer.wrap(new byte[] {7, 8}));
        assertThat(view.get(EDGE - 1)).isEqualTo((byte) 7);
        assertThat(view.get(EDGE)).isEqualTo((byte) 8);
    }

    @Test
    void regionsOutsideAreRefused() throws IOException {
        MemoryView view = large();
        for (long index : new long[] {-1, LENGTH}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> view.get(index));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> view.put(index, (byte) 1));
        }
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> view.buffer(LENGTH - 2, 3));
        assertThat(view.buffer(LENGTH - 2, 2).remaining()).isEqualTo(2);
    }

    @Test
    void memoryThatMayBeAnothersIsNotTouched() throws IOException {
        MemoryView view = large();
        view.put(5, (byte) 1);
        dead = true;
        assertThatIllegalStateException().isThrownBy(() -> view.get(5));
        assertThatIllegalStateException().isThrownBy(() -> view.put(5, (byte) 2));
        assertThatIllegalStateException().isThrownBy(() -> view.buffer(5, 1));
        dead = false;
        assertThat(view.get(5)).isEqualTo((byte) 1);
    }

    /** Another thread closes the buffer between the check and the copy. */
    @Test
    void memoryIsFreedAfterACopyThatIsUnderWay() {
        List<String> calls = new ArrayList<>();
        ByteBuffer bytes = ByteBuffer.allocateDirect(4);
        Pins pins = new Pins(() -> calls.add("free, holds " + bytes.get(0)));
        HostMemory memory = new ClosedWhenUsed(HostMemory.wrap(bytes), pins);
        MemoryView view = new MemoryView(memory, 4, () -> {}, pins);
        assertThat(calls).isEmpty();
        view.write(0, ByteBuffer.wrap(new byte[] {7, 7}));
        assertThat(calls).containsExactly("free, holds 7");
    }

    @Test
    void memoryOfAnAddressAloneIsSeenFromThereOn() {
        ByteBuffer owner = ByteBuffer.allocateDirect(16).put(5, (byte) 9);
        ByteBuffer window = MemoryView.window(new Addressed(NativeMemory.address(owner)), 4, 3);
        assertThat(window.remaining()).isEqualTo(3);
        assertThat(window.get(1)).isEqualTo((byte) 9);
        window.put(2, (byte) 6);
        assertThat(owner.get(6)).isEqualTo((byte) 6);
    }

    /** Memory that is closed when two bytes of it are about to be used. */
    private record ClosedWhenUsed(HostMemory memory, Pins pins) implements HostMemory {

        @Override
        public ByteBuffer buffer(long offset, int length) {
            if (length == 2) {
                pins.close();
            }
            return memory.buffer(offset, length);
        }

        @Override
        public long bytes() {
            return memory.bytes();
        }

        @Override
        public long hostAddress() {
            return memory.hostAddress();
        }

        @Override
        public void free() {}
    }

    /** Maps any range. */
    private record Mapped(Path file) implements HostMemory {

        @Override
        public ByteBuffer buffer(long offset, int length) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(MapMode.READ_WRITE, offset, length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public long bytes() {
            return LENGTH;
        }

        @Override
        public long hostAddress() {
            return 1;
        }

        @Override
        public void free() {}
    }

    /** Memory that is an address and no more. */
    private record Addressed(long hostAddress) implements DeviceMemory {

        @Override
        public long nativeHandle() {
            return hostAddress;
        }

        @Override
        public long bytes() {
            return 16;
        }

        @Override
        public void free() {}
    }
}
