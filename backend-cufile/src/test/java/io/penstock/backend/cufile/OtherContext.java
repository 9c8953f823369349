// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.ffi.Cuda;
import java.util.Map;
import java.util.function.Supplier;

/** A context of the application's, as a program that links with CUDA would make it. */
final class OtherContext implements AutoCloseable {

    private final NativeLibrary library =
            NativeLibrary.getInstance(Fakes.libcuda().toString(), Map.of());
    private final long handle;

    OtherContext(int ordinal) {
        assertThat(Cuda.load(Fakes.libcuda().toString())).isEmpty();
        assertThat(Cuda.DRIVER.init(0)).isZero();
        int[] device = new int[1];
        assertThat(Cuda.DRIVER.deviceGet(device, ordinal)).isZero();
        long[] made = new long[1];
        assertThat(library.getFunction("cuCtxCreate_v2").invokeInt(new Object[] {made, 0, device[0]}))
                .isZero();
        handle = made[0];
        assertThat(Cuda.DRIVER.ctxPopCurrent(new long[1])).isZero();
    }

    long handle() {
        return handle;
    }

    String address() {
        return "0x" + Long.toHexString(handle);
    }

    /** Runs something with it current on this thread. */
    <T> T current(Supplier<T> calls) {
        assertThat(Cuda.DRIVER.ctxPushCurrent(handle)).isZero();
        try {
            return calls.get();
        } finally {
            assertThat(Cuda.DRIVER.ctxPopCurrent(new long[1])).isZero();
        }
    }

    long allocate(long bytes) {
        return current(() -> {
            long[] pointer = new long[1];
            assertThat(Cuda.DRIVER.memAlloc(pointer, bytes)).isZero();
            return pointer[0];
        });
    }

    void free(long pointer) {
        current(() -> Cuda.DRIVER.memFree(pointer));
    }

    static long currentHere() {
        long[] handle = new long[1];
        assertThat(Cuda.DRIVER.ctxGetCurrent(handle)).isZero();
        return handle[0];
    }

    @Override
    public void close() {
        assertThat(library.getFunction("cuCtxDestroy_v2").invokeInt(new Object[] {handle}))
                .isZero();
    }
}
