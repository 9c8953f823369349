// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.ErrorCodes;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * NVIDIA's libcufile ({@code libcufile.so.0}), as a table: an entry is a function's name without {@code cuFile}.
 *
 * <p>A function missing from an older library returns {@link #PLATFORM_NOT_SUPPORTED}. None may be called before {@link #LIBRARY} is loaded.
 */
@SuppressWarnings("MissingOverride") // its native methods are the table's entries
public final class CuFile extends FileApi {

    /** {@code CUfileDrvProps_t}. */
    public static final int DRV_PROPS_BYTES = 56;

    /** The statistics structures by level, and the structure of one GPU within the third. */
    public static final int STATS_L1_BYTES = 512;

    public static final int STATS_L2_BYTES = 1024;
    public static final int STATS_L3_BYTES = 5000;
    public static final int PER_GPU_STATS_BYTES = 248;

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
                    PLATFORM_NOT_SUPPORTED)
            .symbols(CuFile::symbolOf);

    // cufile.h recommends to retry some later; a full batch and an exhausted BAR are of the same kind. Batches alone
    // refuse unlinked files (libcufile 1.15.1 on an H200).
    private static final ErrorCodes CODES = new ErrorCodes("CU_FILE_", """
            0=SUCCESS 5001=DRIVER_NOT_INITIALIZED 5002=DRIVER_INVALID_PROPS 5003=DRIVER_UNSUPPORTED_LIMIT
            5004=DRIVER_VERSION_MISMATCH 5005=DRIVER_VERSION_READ_ERROR 5006=DRIVER_CLOSING!
            5007=PLATFORM_NOT_SUPPORTED> 5008=IO_NOT_SUPPORTED> 5009=DEVICE_NOT_SUPPORTED>
            5010=NVFS_DRIVER_ERROR> 5011=CUDA_DRIVER_ERROR 5012=CUDA_POINTER_INVALID
            5013=CUDA_MEMORY_TYPE_INVALID 5014=CUDA_POINTER_RANGE_ERROR 5015=CUDA_CONTEXT_MISMATCH
            5016=INVALID_MAPPING_SIZE 5017=INVALID_MAPPING_RANGE 5018=INVALID_FILE_TYPE>
            5019=INVALID_FILE_OPEN_FLAG> 5020=DIO_NOT_SET> 5022=INVALID_VALUE 5023=MEMORY_ALREADY_REGISTERED
            5024=MEMORY_NOT_REGISTERED 5025=PERMISSION_DENIED 5026=DRIVER_ALREADY_OPEN
            5027=HANDLE_NOT_REGISTERED> 5028=HANDLE_ALREADY_REGISTERED 5029=DEVICE_NOT_FOUND
            5030=INTERNAL_ERROR> 5031=GETNEWFD_FAILED 5033=NVFS_SETUP_ERROR> 5034=IO_DISABLED>
            5035=BATCH_SUBMIT_FAILED* 5036=GPU_MEMORY_PINNING_FAILED~ 5037=BATCH_FULL~
            5038=ASYNC_NOT_SUPPORTED> 5039=INTERNAL_BATCH_SETUP_ERROR~ 5040=INTERNAL_BATCH_SUBMIT_ERROR~*
            5041=INTERNAL_BATCH_GETSTATUS_ERROR~ 5042=INTERNAL_BATCH_CANCEL_ERROR~ 5043=NOMEM_ERROR~
            5044=IO_ERROR 5045=INTERNAL_BUF_REGISTER_ERROR 5046=HASH_OPR_ERROR 5047=INVALID_CONTEXT_ERROR
            5048=NVFS_INTERNAL_DRIVER_ERROR> 5049=BATCH_NOCOMPAT_ERROR>* 5050=IO_MAX_ERROR
            """);

    /** The one file API of a process. */
    public static final CuFile API = new CuFile();

    private CuFile() {
        super(
                Cuda.DRIVER,
                CODES,
                new Words(
                        "cuFile",
                        "nvidia-fs is not loaded",
                        "load the nvidia-fs module (nvidia-gds)",
                        "nvidia-fs is not loaded, and cuFile's driver has no peer-to-peer DMA to NVMe",
                        "CUFILE_TIMEOUT"));
    }

    private static String symbolOf(String entry) {
        return entry.equals("driverCloseBefore17") ? "cuFileDriverClose" : API.call(entry);
    }

    @Override
    public DriverProperties properties() throws FileRefusal {
        byte[] properties = new byte[DRV_PROPS_BYTES];
        check("query of cuFile's driver", "driverGetProperties", driverGetProperties(properties));
        return properties(properties);
    }

    /** Parses a {@code CUfileDrvProps_t}. */
    static DriverProperties properties(byte[] properties) {
        if (properties.length != DRV_PROPS_BYTES) {
            throw new IllegalArgumentException(
                    "properties must have " + DRV_PROPS_BYTES + " bytes, had " + properties.length);
        }
        ByteBuffer fields = ByteBuffer.wrap(properties).order(ByteOrder.nativeOrder());
        return new DriverProperties(
                "nvidia-fs",
                fields.getInt(0),
                fields.getInt(4),
                fields.getLong(8),
                fields.getLong(16),
                fields.getInt(24),
                fields.getInt(28),
                fields.getInt(32),
                Integer.toUnsignedLong(fields.getInt(36)),
                Integer.toUnsignedLong(fields.getInt(40)),
                Integer.toUnsignedLong(fields.getInt(44)),
                fields.getInt(48),
                fields.getInt(52));
    }

    @Override
    public long barBytes(int ordinal) {
        long[] kilobytes = new long[1];
        return error(getBARSizeInKB(ordinal, kilobytes)) == SUCCESS ? kilobytes[0] << 10 : Long.MAX_VALUE;
    }

    /** {@inheritDoc} {@code cufile.h} maps it to its second version, which libraries before 1.7 do not export. */
    @Override
    public long driverClose() {
        return LIBRARY.absent().contains("cuFileDriverClose_v2") ? driverCloseBefore17() : driverClose_v2();
    }

    // Driver.

    public native long driverOpen();

    public native long driverCloseBefore17();

    public native long driverClose_v2();

    public native long useCount();

    public native long getVersion(int[] version);

    /** Fills {@link #DRV_PROPS_BYTES} bytes. */
    public native long driverGetProperties(byte[] properties);

    public native long driverSetPollMode(int poll, long thresholdKilobytes);

    public native long driverSetMaxDirectIOSize(long kilobytes);

    public native long driverSetMaxCacheSize(long kilobytes);

    public native long driverSetMaxPinnedMemSize(long kilobytes);

    public native long getBARSizeInKB(int gpu, long[] kilobytes);

    // Files and buffers.

    public native long handleRegister(long[] handle, byte[] descr);

    public native void handleDeregister(long handle);

    public native long bufRegister(long base, long bytes, int flags);

    public native long bufDeregister(long base);

    public native long read(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    public native long write(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    public native long batchIOSetUp(long[] batch, int most);

    public native long batchIOSubmit(long batch, int count, long params, int flags);

    public native long batchIOGetStatus(long batch, int least, long count, long events, long timespec);

    public native void batchIODestroy(long batch);

    public native long readAsync(
            long handle, long base, long bytes, long fileOffset, long bufferOffset, long bytesRead, long stream);

    public native long writeAsync(
            long handle, long base, long bytes, long fileOffset, long bufferOffset, long bytesWritten, long stream);

    public native long streamRegister(long stream, int flags);

    public native long streamDeregister(long stream);

    // Parameters; must be set before the driver is opened.

    public native long getParameterSizeT(int parameter, long[] value);

    public native long getParameterBool(int parameter, byte[] value);

    public native long setParameterSizeT(int parameter, long value);

    public native long setParameterBool(int parameter, int value);

    public native long getParameterMinMaxValue(int parameter, long[] least, long[] most);

    public native long getParameterPosixPoolSlabArray(long[] kilobytes, long[] counts, int length);

    // Statistics.

    public native long setStatsLevel(int level);

    public native long getStatsLevel(int[] level);

    public native long statsStart();

    public native long getStatsL1(byte[] statistics);

    public native long getStatsL2(byte[] statistics);

    public native long getStatsL3(byte[] statistics);
}
