// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/** Device 0 of the fake with its primary context on this thread: what most tests of the fakes begin with. */
final class Gpu implements AutoCloseable {

    static final int NON_BLOCKING = 1;

    private final long context;

    Gpu() {
        ok(CudaAbi.cuInit(0));
        long[] cell = new long[1];
        ok(CudaAbi.cuDevicePrimaryCtxRetain(cell, 0));
        context = cell[0];
        ok(CudaAbi.cuCtxSetCurrent(context));
    }

    /** Asserts that a call of CUDA or cuFile succeeded. */
    static void ok(long result) {
        assertThat(result).isZero();
    }

    long context() {
        return context;
    }

    long allocate(long bytes) {
        long[] cell = new long[1];
        ok(CudaAbi.cuMemAlloc_v2(cell, bytes));
        return cell[0];
    }

    long stream() {
        long[] cell = new long[1];
        ok(CudaAbi.cuStreamCreate(cell, NON_BLOCKING));
        return cell[0];
    }

    long event() {
        long[] cell = new long[1];
        ok(CudaAbi.cuEventCreate(cell, 2));
        return cell[0];
    }

    Pointer pinned(long bytes) {
        long[] cell = new long[1];
        ok(CudaAbi.cuMemHostAlloc(cell, bytes, 0));
        return new Pointer(cell[0]);
    }

    void write(long pointer, byte[] bytes) {
        try (Memory memory = new Memory(bytes.length)) {
            memory.write(0, bytes, 0, bytes.length);
            ok(CudaAbi.cuMemcpyHtoD_v2(pointer, memory, bytes.length));
        }
    }

    byte[] read(long pointer, int bytes) {
        try (Memory memory = new Memory(bytes)) {
            ok(CudaAbi.cuMemcpyDtoH_v2(memory, pointer, bytes));
            return memory.getByteArray(0, bytes);
        }
    }

    @Override
    public void close() {
        CudaAbi.cuCtxSetCurrent(0);
        ok(CudaAbi.cuDevicePrimaryCtxRelease_v2(0));
    }
}
