// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** The codes of {@code CUfileOpError}, their names, and how to handle them. */
public final class CuFileError {

    /** Whether a request may succeed if it is repeated or takes another path. */
    public enum Meaning {
        /** Success. */
        SUCCESS,
        /** The vendor recommends to retry later. */
        TRANSIENT,
        /** The request cannot work. */
        PERMANENT,
        /** cuFile does not support this for the file, file system or machine; another path may. */
        FALL_OVER,
        /** The driver is shutting down. */
        LOST
    }

    public static final int SUCCESS = 0;
    public static final int DRIVER_NOT_INITIALIZED = 5001;
    public static final int DRIVER_CLOSING = 5006;
    public static final int PLATFORM_NOT_SUPPORTED = 5007;
    public static final int IO_NOT_SUPPORTED = 5008;
    public static final int DEVICE_NOT_SUPPORTED = 5009;
    public static final int NVFS_DRIVER_ERROR = 5010;
    public static final int CUDA_DRIVER_ERROR = 5011;
    public static final int INVALID_MAPPING_SIZE = 5016;
    public static final int INVALID_FILE_TYPE = 5018;
    public static final int INVALID_FILE_OPEN_FLAG = 5019;
    public static final int DIO_NOT_SET = 5020;
    public static final int INVALID_VALUE = 5022;
    public static final int MEMORY_ALREADY_REGISTERED = 5023;
    public static final int MEMORY_NOT_REGISTERED = 5024;
    public static final int DRIVER_ALREADY_OPEN = 5026;
    public static final int HANDLE_NOT_REGISTERED = 5027;
    public static final int INTERNAL_ERROR = 5030;
    public static final int NVFS_SETUP_ERROR = 5033;
    public static final int IO_DISABLED = 5034;
    public static final int BATCH_SUBMIT_FAILED = 5035;
    public static final int GPU_MEMORY_PINNING_FAILED = 5036;
    public static final int BATCH_FULL = 5037;
    public static final int ASYNC_NOT_SUPPORTED = 5038;
    public static final int INTERNAL_BATCH_SETUP_ERROR = 5039;
    public static final int INTERNAL_BATCH_SUBMIT_ERROR = 5040;
    public static final int NOMEM_ERROR = 5043;
    public static final int IO_ERROR = 5044;
    public static final int NVFS_INTERNAL_DRIVER_ERROR = 5048;
    public static final int BATCH_NOCOMPAT_ERROR = 5049;

    /** Names without their common prefix. */
    private static final Map<Integer, String> SYMBOLS = Arrays.stream(
                    """
            0=SUCCESS 5001=DRIVER_NOT_INITIALIZED 5002=DRIVER_INVALID_PROPS 5003=DRIVER_UNSUPPORTED_LIMIT
            5004=DRIVER_VERSION_MISMATCH 5005=DRIVER_VERSION_READ_ERROR 5006=DRIVER_CLOSING
            5007=PLATFORM_NOT_SUPPORTED 5008=IO_NOT_SUPPORTED 5009=DEVICE_NOT_SUPPORTED 5010=NVFS_DRIVER_ERROR
            5011=CUDA_DRIVER_ERROR 5012=CUDA_POINTER_INVALID 5013=CUDA_MEMORY_TYPE_INVALID
            5014=CUDA_POINTER_RANGE_ERROR 5015=CUDA_CONTEXT_MISMATCH 5016=INVALID_MAPPING_SIZE
            5017=INVALID_MAPPING_RANGE 5018=INVALID_FILE_TYPE 5019=INVALID_FILE_OPEN_FLAG 5020=DIO_NOT_SET
            5022=INVALID_VALUE 5023=MEMORY_ALREADY_REGISTERED 5024=MEMORY_NOT_REGISTERED 5025=PERMISSION_DENIED
            5026=DRIVER_ALREADY_OPEN 5027=HANDLE_NOT_REGISTERED 5028=HANDLE_ALREADY_REGISTERED
            5029=DEVICE_NOT_FOUND 5030=INTERNAL_ERROR 5031=GETNEWFD_FAILED 5033=NVFS_SETUP_ERROR
            5034=IO_DISABLED 5035=BATCH_SUBMIT_FAILED 5036=GPU_MEMORY_PINNING_FAILED 5037=BATCH_FULL
            5038=ASYNC_NOT_SUPPORTED 5039=INTERNAL_BATCH_SETUP_ERROR 5040=INTERNAL_BATCH_SUBMIT_ERROR
            5041=INTERNAL_BATCH_GETSTATUS_ERROR 5042=INTERNAL_BATCH_CANCEL_ERROR 5043=NOMEM_ERROR 5044=IO_ERROR
            5045=INTERNAL_BUF_REGISTER_ERROR 5046=HASH_OPR_ERROR 5047=INVALID_CONTEXT_ERROR
            5048=NVFS_INTERNAL_DRIVER_ERROR 5049=BATCH_NOCOMPAT_ERROR 5050=IO_MAX_ERROR
            """.strip().split("\\s+"))
            .map(entry -> entry.split("="))
            .collect(Collectors.toUnmodifiableMap(entry -> Integer.valueOf(entry[0]), entry -> "CU_FILE_" + entry[1]));

    private CuFileError() {}

    /** Returns the name of a code, {@code CU_FILE_IO_NOT_SUPPORTED} for 5008; an empty string if it is unknown. */
    public static String symbol(int error) {
        return SYMBOLS.getOrDefault(error, "");
    }

    /** Returns the name and the code; only the code if it is unknown. */
    public static String describe(int error) {
        String symbol = symbol(error);
        return symbol.isEmpty() ? Integer.toString(error) : symbol + " (" + error + ")";
    }

    /**
     * Returns true if a code means that batches refuse an entry which cuFileRead and cuFileWrite may accept, as for
     * unlinked files (libcufile 1.15.1 on an H200).
     */
    public static boolean isOfBatchAlone(int error) {
        return error == BATCH_SUBMIT_FAILED || error == INTERNAL_BATCH_SUBMIT_ERROR || error == BATCH_NOCOMPAT_ERROR;
    }

    /** Returns how to handle a code; PERMANENT if it is unknown. */
    public static Meaning meaning(int error) {
        return switch (error) {
            case SUCCESS -> Meaning.SUCCESS;
            // cufile.h recommends to retry these later; a full batch and an exhausted BAR are of the same kind.
            case BATCH_FULL,
                    GPU_MEMORY_PINNING_FAILED,
                    INTERNAL_BATCH_SETUP_ERROR,
                    INTERNAL_BATCH_SUBMIT_ERROR,
                    5041,
                    5042,
                    NOMEM_ERROR -> Meaning.TRANSIENT;
            case PLATFORM_NOT_SUPPORTED,
                    IO_NOT_SUPPORTED,
                    DEVICE_NOT_SUPPORTED,
                    NVFS_DRIVER_ERROR,
                    INVALID_FILE_TYPE,
                    INVALID_FILE_OPEN_FLAG,
                    DIO_NOT_SET,
                    HANDLE_NOT_REGISTERED,
                    INTERNAL_ERROR,
                    NVFS_SETUP_ERROR,
                    IO_DISABLED,
                    ASYNC_NOT_SUPPORTED,
                    NVFS_INTERNAL_DRIVER_ERROR,
                    BATCH_NOCOMPAT_ERROR -> Meaning.FALL_OVER;
            case DRIVER_CLOSING -> Meaning.LOST;
            default -> Meaning.PERMANENT;
        };
    }
}
