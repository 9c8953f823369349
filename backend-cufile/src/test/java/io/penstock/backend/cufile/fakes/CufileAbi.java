// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/**
 * The fake of libcufile as the tests of the fakes call it. A {@code CUfileError_t} comes back in one register: its
 * lower half is the error, its upper half CUDA's.
 */
final class CufileAbi {

    static {
        Native.register(
                CufileAbi.class, NativeLibrary.getInstance(Fakes.libcufile().toString()));
    }

    private CufileAbi() {}

    static native long cuFileDriverOpen();

    static native long cuFileDriverClose_v2();

    static native long cuFileUseCount();

    static native long cuFileDriverGetProperties(Pointer properties);

    static native long cuFileSetParameterSizeT(int parameter, long value);

    static native long cuFileGetParameterSizeT(int parameter, long[] value);

    static native long cuFileHandleRegister(long[] handle, Pointer descriptor);

    static native void cuFileHandleDeregister(long handle);

    static native long cuFileBufRegister(long pointer, long bytes, int flags);

    static native long cuFileBufDeregister(long pointer);

    static native long cuFileRead(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    static native long cuFileWrite(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    static native long cuFileBatchIOSetUp(long[] batch, int capacity);

    static native long cuFileBatchIOSubmit(long batch, int count, Pointer parameters, int flags);

    static native long cuFileBatchIOGetStatus(long batch, int least, int[] count, Pointer events, Pointer timeout);

    static native long cuFileBatchIOCancel(long batch);

    static native void cuFileBatchIODestroy(long batch);

    static native long cuFileStreamRegister(long stream, int flags);

    static native long cuFileStreamDeregister(long stream);

    static native long cuFileReadAsync(
            long handle, long base, Pointer bytes, Pointer fileOffset, Pointer bufferOffset, Pointer done, long stream);

    static native long cuFileSetStatsLevel(int level);

    static native long cuFileStatsStart();

    static native long cuFileGetStatsL3(Pointer stats);
}
