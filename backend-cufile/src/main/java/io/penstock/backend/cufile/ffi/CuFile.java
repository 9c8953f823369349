// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * NVIDIA's libcufile ({@code libcufile.so.0}), by the names of {@code cufile.h}.
 *
 * <p>A function that returns a {@code CUfileError_t} returns this structure of eight bytes in one register, so that it
 * is a {@code long} here: {@link #error} and {@link #cudaError} split it. A function missing from an older library
 * returns {@link CuFileError#PLATFORM_NOT_SUPPORTED}. None may be called before {@link #LIBRARY} is loaded.
 */
public final class CuFile {

    /** cuFile works in 4 KiB blocks: data at unaligned offsets goes through a bounce buffer, registered or not. */
    public static final long BLOCK_BYTES = 4096;

    /** {@code CUfileDescr_t}. */
    public static final int DESCR_BYTES = 24;

    public static final int DESCR_TYPE_OFFSET = 0;
    public static final int DESCR_FD_OFFSET = 8;
    public static final int CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1;

    /** {@code CUfileIOParams_t}. */
    public static final int IO_PARAMS_BYTES = 64;

    public static final int IO_PARAMS_MODE_OFFSET = 0;
    public static final int IO_PARAMS_BASE_OFFSET = 8;
    public static final int IO_PARAMS_FILE_OFFSET_OFFSET = 16;
    public static final int IO_PARAMS_BUFFER_OFFSET_OFFSET = 24;
    public static final int IO_PARAMS_SIZE_OFFSET = 32;
    public static final int IO_PARAMS_HANDLE_OFFSET = 40;
    public static final int IO_PARAMS_OPCODE_OFFSET = 48;
    public static final int IO_PARAMS_COOKIE_OFFSET = 56;
    public static final int CUFILE_BATCH = 1;
    public static final int CUFILE_READ = 0;
    public static final int CUFILE_WRITE = 1;

    /** {@code CUfileIOEvents_t}. */
    public static final int IO_EVENTS_BYTES = 24;

    public static final int IO_EVENTS_COOKIE_OFFSET = 0;
    public static final int IO_EVENTS_STATUS_OFFSET = 8;
    public static final int IO_EVENTS_RET_OFFSET = 16;
    public static final int CUFILE_INVALID = 4;
    public static final int CUFILE_CANCELED = 8;
    public static final int CUFILE_COMPLETE = 0x10;
    public static final int CUFILE_TIMEOUT = 0x20;
    public static final int CUFILE_FAILED = 0x40;

    /** {@code CUfileDrvProps_t}. */
    public static final int DRV_PROPS_BYTES = 56;

    /** The statistics structures by level, and the structure of one GPU within the third. */
    public static final int STATS_L1_BYTES = 512;

    public static final int STATS_L2_BYTES = 1024;
    public static final int STATS_L3_BYTES = 5000;
    public static final int PER_GPU_STATS_BYTES = 248;

    public static final int CU_FILE_STREAM_FIXED_BUF_OFFSET = 1;
    public static final int CU_FILE_STREAM_FIXED_FILE_OFFSET = 2;
    public static final int CU_FILE_STREAM_FIXED_FILE_SIZE = 4;
    /** All parameters are known at submission, and are multiples of 4096. */
    public static final int CU_FILE_STREAM_FIXED_AND_ALIGNED = 15;

    /** The library that exports them, loaded once per process. */
    public static final VendorLibrary LIBRARY = new VendorLibrary(
            CuFile.class,
            "libcufile.so.0",
            List.of(
                    "/usr/local/cuda/lib64",
                    "/usr/local/cuda/targets/x86_64-linux/lib",
                    "/usr/local/cuda/targets/sbsa-linux/lib",
                    "/usr/lib/x86_64-linux-gnu",
                    "/usr/lib/aarch64-linux-gnu",
                    "/usr/lib64"),
            CuFileError.PLATFORM_NOT_SUPPORTED);

    private CuFile() {}

    /** Returns the {@code CUfileOpError} of a {@code CUfileError_t}; 0 is success. */
    public static int error(long status) {
        return (int) status;
    }

    /**
     * Returns the {@code CUresult} of a {@code CUfileError_t}, for {@link CuFileError#CUDA_DRIVER_ERROR}.
     */
    public static int cudaError(long status) {
        return (int) (status >> 32);
    }

    // Driver.

    public static native long cuFileDriverOpen();

    public static native long cuFileDriverClose();

    public static native long cuFileDriverClose_v2();

    public static native long cuFileUseCount();

    public static native long cuFileGetVersion(int[] version);

    /** Fills {@link #DRV_PROPS_BYTES} bytes. */
    public static native long cuFileDriverGetProperties(byte[] properties);

    public static native long cuFileDriverSetPollMode(int poll, long thresholdKilobytes);

    public static native long cuFileDriverSetMaxDirectIOSize(long kilobytes);

    public static native long cuFileDriverSetMaxCacheSize(long kilobytes);

    public static native long cuFileDriverSetMaxPinnedMemSize(long kilobytes);

    public static native long cuFileGetBARSizeInKB(int gpu, long[] kilobytes);

    // Files and buffers.

    /** Registers what the {@link #DESCR_BYTES} bytes of {@code descr} describe. */
    public static native long cuFileHandleRegister(long[] handle, byte[] descr);

    public static native void cuFileHandleDeregister(long handle);

    public static native long cuFileBufRegister(long base, long bytes, int flags);

    public static native long cuFileBufDeregister(long base);

    // Blocking calls; return bytes, or -1 and errno, or a negative CUfileOpError.

    public static native long cuFileRead(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    public static native long cuFileWrite(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    // Batches; the addresses are of arrays of IO_PARAMS_BYTES and IO_EVENTS_BYTES each, and of an unsigned int.

    public static native long cuFileBatchIOSetUp(long[] batch, int most);

    public static native long cuFileBatchIOSubmit(long batch, int count, long params, int flags);

    public static native long cuFileBatchIOGetStatus(long batch, int least, long count, long events, long timespec);

    public static native void cuFileBatchIODestroy(long batch);

    // Stream calls; the addresses are of cells of eight bytes, read or written when the stream reaches the operation.

    public static native long cuFileReadAsync(
            long handle, long base, long bytes, long fileOffset, long bufferOffset, long bytesRead, long stream);

    public static native long cuFileWriteAsync(
            long handle, long base, long bytes, long fileOffset, long bufferOffset, long bytesWritten, long stream);

    public static native long cuFileStreamRegister(long stream, int flags);

    public static native long cuFileStreamDeregister(long stream);

    // Parameters; must be set before the driver is opened.

    public static native long cuFileGetParameterSizeT(int parameter, long[] value);

    public static native long cuFileGetParameterBool(int parameter, byte[] value);

    public static native long cuFileSetParameterSizeT(int parameter, long value);

    public static native long cuFileSetParameterBool(int parameter, int value);

    public static native long cuFileGetParameterMinMaxValue(int parameter, long[] least, long[] most);

    public static native long cuFileGetParameterPosixPoolSlabArray(long[] kilobytes, long[] counts, int length);

    // Statistics.

    public static native long cuFileSetStatsLevel(int level);

    public static native long cuFileGetStatsLevel(int[] level);

    public static native long cuFileStatsStart();

    public static native long cuFileGetStatsL1(byte[] statistics);

    public static native long cuFileGetStatsL2(byte[] statistics);

    public static native long cuFileGetStatsL3(byte[] statistics);
}
