// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The allocations of one composition on a device, freed together. */
final class DeviceMemory implements AutoCloseable {

    private final Kernels kernels;
    private final List<Long> allocated = new ArrayList<>();

    DeviceMemory(Kernels kernels) {
        this.kernels = kernels;
    }

    Kernels kernels() {
        return kernels;
    }

    long allocate(long bytes) {
        long address = kernels.allocate(bytes);
        allocated.add(address);
        return address;
    }

    /** Returns the address of a copy of these bytes. */
    long put(ByteBuffer content) {
        long address = allocate(content.remaining());
        kernels.put(content, address);
        return address;
    }

    /** Returns the address of as many bytes, which {@code content} writes into a buffer first. */
    long filled(long bytes, Consumer<ByteBuffer> content) {
        ByteBuffer buffer = buffer(bytes);
        content.accept(buffer);
        return put(buffer.clear());
    }

    /** Returns the bytes at an address, once the device has completed all earlier work. */
    ByteBuffer get(long address, long bytes) {
        ByteBuffer buffer = buffer(bytes);
        kernels.get(address, buffer);
        return buffer.rewind();
    }

    private static ByteBuffer buffer(long bytes) {
        return ByteBuffer.allocateDirect(Math.toIntExact(bytes)).order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        allocated.forEach(kernels::free);
        allocated.clear();
    }
}
