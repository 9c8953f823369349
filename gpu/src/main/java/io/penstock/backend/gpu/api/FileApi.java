// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.api;

import io.penstock.NativeError;
import io.penstock.backend.gpu.api.ErrorCodes.Meaning;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import java.util.Locale;

/**
 * A vendor's file API as a table: cuFile, or hipFile, which copies its calls and structures. Entries have the vendor's
 * names without prefix.
 *
 * <p>A function that returns a status returns a structure of eight bytes in one register, so that it is a {@code long}
 * here: {@link #error} and {@link #driverError} split it.
 */
public abstract class FileApi {

    /** Both work in 4 KiB blocks: data at unaligned offsets goes through a bounce buffer, registered or not. */
    public static final long BLOCK_BYTES = 4096;

    /** The description of a file. */
    public static final int DESCR_BYTES = 24;

    public static final int DESCR_TYPE_OFFSET = 0;
    public static final int DESCR_FD_OFFSET = 8;
    public static final int HANDLE_TYPE_OPAQUE_FD = 1;

    /** An entry of a batch. */
    public static final int IO_PARAMS_BYTES = 64;

    public static final int IO_PARAMS_MODE_OFFSET = 0;
    public static final int IO_PARAMS_BASE_OFFSET = 8;
    public static final int IO_PARAMS_FILE_OFFSET_OFFSET = 16;
    public static final int IO_PARAMS_BUFFER_OFFSET_OFFSET = 24;
    public static final int IO_PARAMS_SIZE_OFFSET = 32;
    public static final int IO_PARAMS_HANDLE_OFFSET = 40;
    public static final int IO_PARAMS_OPCODE_OFFSET = 48;
    public static final int IO_PARAMS_COOKIE_OFFSET = 56;
    public static final int IO_BATCH = 1;
    public static final int IO_READ = 0;
    public static final int IO_WRITE = 1;

    /** An event of a batch. */
    public static final int IO_EVENTS_BYTES = 24;

    public static final int IO_EVENTS_COOKIE_OFFSET = 0;
    public static final int IO_EVENTS_STATUS_OFFSET = 8;
    public static final int IO_EVENTS_RET_OFFSET = 16;
    public static final int IO_INVALID = 4;
    public static final int IO_CANCELED = 8;
    public static final int IO_COMPLETE = 0x10;
    public static final int IO_TIMEOUT = 0x20;
    public static final int IO_FAILED = 0x40;

    public static final int STREAM_FIXED_BUF_OFFSET = 1;
    public static final int STREAM_FIXED_FILE_OFFSET = 2;
    public static final int STREAM_FIXED_FILE_SIZE = 4;
    /** All parameters are known at submission, and are multiples of 4096. */
    public static final int STREAM_FIXED_AND_ALIGNED = 15;

    public static final int SUCCESS = 0;
    public static final int DRIVER_NOT_INITIALIZED = 5001;
    public static final int PLATFORM_NOT_SUPPORTED = 5007;
    public static final int GPU_DRIVER_ERROR = 5011;
    public static final int INVALID_VALUE = 5022;
    public static final int DRIVER_ALREADY_OPEN = 5026;
    public static final int INTERNAL_ERROR = 5030;
    public static final int BATCH_FULL = 5037;
    public static final int IO_ERROR = 5044;

    /** The failure of a request that was cancelled before the file API had it. */
    public static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("cancel", Errno.ECANCELED, "ECANCELED"), Kind.CANCELLED);

    private static final int FIRST_OF_FILES = 5001;

    /**
     * What a vendor calls things.
     *
     * @param product {@code cuFile}, the prefix of its functions
     * @param notLoaded that what a direct path needs is missing
     * @param remedy how to add it
     * @param neverDirect why nothing goes directly then
     * @param timedOut the status of an entry of a batch that was abandoned
     */
    public record Words(String product, String notLoaded, String remedy, String neverDirect, String timedOut) {}

    private final DriverApi driver;
    private final ErrorCodes codes;
    private final Words words;

    protected FileApi(DriverApi driver, ErrorCodes codes, Words words) {
        this.driver = driver;
        this.codes = codes;
        this.words = words;
    }

    public final DriverApi driver() {
        return driver;
    }

    public final Words words() {
        return words;
    }

    /** Returns the vendor's name of it all: {@code cuFile}. */
    public final String product() {
        return words.product;
    }

    /** Returns the vendor's word for names of threads. */
    public final String prefix() {
        return words.product.toLowerCase(Locale.ROOT);
    }

    /** Returns the vendor's name of an entry. */
    public final String call(String entry) {
        return words.product + Character.toUpperCase(entry.charAt(0)) + entry.substring(1);
    }

    // Errors.

    /** Returns the error code of a status; 0 is success. */
    public static int error(long status) {
        return (int) status;
    }

    /** Returns the driver API's result in a status, for {@link #GPU_DRIVER_ERROR}. */
    public static int driverError(long status) {
        return (int) (status >> 32);
    }

    /** Returns the name of a code, {@code CU_FILE_IO_NOT_SUPPORTED} for 5008; an empty string if it is unknown. */
    public final String symbol(int error) {
        return codes.symbol(error);
    }

    /** Returns how to handle a code; PERMANENT if it is unknown. */
    public final Meaning meaning(int error) {
        return codes.meaning(error);
    }

    /** Returns true if a code means that batches refuse an entry which blocking calls may accept. */
    public final boolean isOfBatchAlone(int error) {
        return codes.isOfBatchAlone(error);
    }

    /** Returns the name and the code; only the code if it is unknown. */
    public final String describe(int error) {
        String symbol = symbol(error);
        return symbol.isEmpty() ? Integer.toString(error) : symbol + " (" + error + ")";
    }

    /** Returns the failure for an error code. */
    public final NativeFailure failure(String entry, int error) {
        NativeError facts = new NativeError(call(entry), error, symbol(error));
        return new NativeFailure(
                facts,
                switch (meaning(error)) {
                    case TRANSIENT -> error == BATCH_FULL ? Kind.RETRY : Kind.TRANSIENT;
                    case LOST -> Kind.LOST;
                    case PERMANENT, FALL_OVER -> Kind.PERMANENT;
                });
    }

    /** Returns the failure for a status that is not a success; the driver API's where the status passes one on. */
    public final NativeFailure failureOfStatus(String entry, long status) {
        if (error(status) != GPU_DRIVER_ERROR || driverError(status) == 0) {
            return failure(entry, error(status));
        }
        return driver.failureOf(call(entry), driverError(status));
    }

    /** Returns bytes, or a negative number for {@link #failureOfCount}, of what a blocking call has just returned. */
    public long answer(long returned) {
        return LibC.orErrno(returned);
    }

    /** Returns the failure for a negative {@link #answer}: {@code -errno} or {@code -error}. */
    public NativeFailure failureOfCount(String entry, long count) {
        return count <= -FIRST_OF_FILES ? failure(entry, (int) -count) : HostFailure.of(call(entry), count);
    }

    /**
     * Returns the failure for the negative count of a stream or batch operation: as {@link #failureOfCount}, except
     * that -1 is a failed system call on a thread of the library, whose errno cannot be read.
     */
    public final NativeFailure failureOfLateCount(String entry, long count) {
        return count == -1
                ? new NativeFailure(
                        new NativeError(call(entry), -1, "errno is lib" + prefix() + "'s own"), Kind.PERMANENT)
                : failureOfCount(entry, count);
    }

    /** Throws unless a status is a success. */
    public final void check(String request, String entry, long status) throws FileRefusal {
        if (error(status) != SUCCESS) {
            NativeError error = failureOfStatus(entry, status).error();
            throw new FileRefusal(request + " refused: " + error, error);
        }
    }

    // What vendors do differently.

    /** Returns the properties of the open driver. */
    public abstract DriverProperties properties() throws FileRefusal;

    /**
     * Returns the size of the BAR through which peers access a GPU's memory; {@code Long.MAX_VALUE} if it is unknown.
     */
    public abstract long barBytes(int ordinal);

    /** Returns true if reads of whole blocks may cross the end of a file that ends within a block. */
    public boolean readsAcrossTheEnd() {
        return true;
    }

    /** Reads the host memory pools of batches; the length must match exactly, and no call returns it. */
    public abstract long getParameterPosixPoolSlabArray(long[] kilobytes, long[] counts, int length);

    // Driver, files and buffers.

    public abstract long driverOpen();

    public abstract long driverClose();

    /** Registers what the {@link #DESCR_BYTES} bytes of {@code descr} describe. */
    public abstract long handleRegister(long[] handle, byte[] descr);

    public abstract void handleDeregister(long handle);

    public abstract long bufRegister(long base, long bytes, int flags);

    public abstract long bufDeregister(long base);

    // Blocking calls; return bytes, or a negative number, for answer.

    public abstract long read(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    public abstract long write(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    // Batches; the addresses are of arrays of IO_PARAMS_BYTES and IO_EVENTS_BYTES each, and of an unsigned int.

    public abstract long batchIOSetUp(long[] batch, int most);

    public abstract long batchIOSubmit(long batch, int count, long params, int flags);

    public abstract long batchIOGetStatus(long batch, int least, long count, long events, long timespec);

    public abstract void batchIODestroy(long batch);

    // Stream calls; the addresses are of cells of eight bytes, read or written when the stream reaches the operation.

    public abstract long readAsync(
            long handle, long base, long bytes, long fileOffset, long bufferOffset, long bytesRead, long stream);

    public abstract long writeAsync(
            long handle, long base, long bytes, long fileOffset, long bufferOffset, long bytesWritten, long stream);

    public abstract long streamRegister(long stream, int flags);

    public abstract long streamDeregister(long stream);
}
