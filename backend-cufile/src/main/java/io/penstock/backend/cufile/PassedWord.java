// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.ffi.NativeMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A word in pinned memory by which streams say that they have come to a place: looked at without a call, and so without
 * the driver's lock, which those who start copies want.
 *
 * <p><b>Threading:</b> one user at a time; {@link #isWritten} is ordered before what the stream has done until then.
 *
 * <p><b>Ownership:</b> the memory is its owner's.
 */
final class PassedWord {

    static final int BYTES = 4;

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final long device; // the word, as the GPU knows it; 0 where it does not
    private final ByteBuffer view;
    private int turn;

    private PassedWord(long device, ByteBuffer view) {
        this.device = device;
        this.view = view;
    }

    /** Makes one of pinned memory, which has been allocated for the GPU to map; its context is current. */
    static PassedWord at(long address) {
        ByteBuffer view = NativeMemory.view(address, BYTES);
        INTS.setRelease(view, 0, 0);
        long[] device = new long[1];
        boolean mapped = Cuda.cuMemHostGetDevicePointer_v2(device, address, 0) == CudaError.SUCCESS;
        return new PassedWord(mapped ? device[0] : 0, view);
    }

    /** Has the stream write it once it has come here; false if it cannot. */
    boolean follow(long stream) {
        turn++; // what an earlier stream has written, or has still to write, is another
        return device != 0 && Cuda.cuStreamWriteValue32_v2(stream, device, turn, 0) == CudaError.SUCCESS;
    }

    /** Returns whether the stream has come to where {@link #follow} was called last. */
    boolean isWritten() {
        return (int) INTS.getAcquire(view, 0) == turn;
    }
}
