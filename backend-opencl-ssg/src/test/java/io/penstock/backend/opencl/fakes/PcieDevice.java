// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A device on the PCIe bus beside the GPU, played by a thread of the layer: it knows nothing but bus addresses, and
 * executes its orders one after another. Its operations are called {@code device} where {@link SsgFake#control}
 * delays or holds them; {@code live("device_operations")} is what it has not done yet.
 */
public final class PcieDevice {

    private PcieDevice() {}

    /** Returns the bus address of so many bytes of the device's own, which others may write to until the next reset. */
    public static long memory(long bytes) {
        return (Long) function("fake_device_memory").invoke(Long.class, new Object[] {bytes});
    }

    /** Tells the device to write these bytes to an address on the bus. */
    public static void write(long address, byte[] bytes) {
        function("fake_device_write").invokeVoid(new Object[] {address, bytes, (long) bytes.length});
    }

    /** Tells the device to write a marker. */
    public static void signal(long address, int value) {
        function("fake_device_signal").invokeVoid(new Object[] {address, value});
    }

    /**
     * Waits until the device has executed all orders, at most 10 s, and returns the orders that it has not executed.
     */
    public static long await() {
        return SsgFake.control().awaitLive("device_operations", 0);
    }

    /** Returns what lies at an address on the bus. */
    public static byte[] read(long address, int bytes) {
        Memory to = new Memory(bytes);
        if (function("fake_device_look").invokeInt(new Object[] {address, to, (long) bytes}) != 0) {
            throw new IllegalArgumentException("nothing at bus address 0x" + Long.toHexString(address));
        }
        return to.getByteArray(0, bytes);
    }

    /** Returns the marker at an address on the bus. */
    public static int marker(long address) {
        return ByteBuffer.wrap(read(address, Integer.BYTES))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getInt();
    }

    private static Function function(String name) {
        return SsgFake.library().getFunction(name);
    }
}
