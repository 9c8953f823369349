// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import io.penstock.backend.gpu.api.ErrorCodes;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.VendorLibrary;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * AMD's libhipfile ({@code libhipfile.so}) as a table: an entry is a function's name without {@code hipFile}.
 *
 * <p>A function missing from a library returns {@link #PLATFORM_NOT_SUPPORTED}. None may be called before {@link #load}.
 * hipFile reads its environment once, at its first use, so that {@link #load} sets it before.
 */
@SuppressWarnings("MissingOverride") // its native methods are the table's entries
public final class HipFile extends FileApi {

    /** The variable by which hipFile is told whether it may fall back to POSIX calls by itself. */
    public static final String ALLOW_COMPAT_MODE = "HIPFILE_ALLOW_COMPAT_MODE";

    /** {@code hipFileDriverProps_t}. */
    static final int DRIVER_PROPS_BYTES = 72;

    /** The first version whose batches report completions, and whose stream calls do not fall back: 0.5. */
    private static final int BATCHES_AND_STREAMS = 500;

    private static final int DRIVER_RESULTS_FROM = 10_000;
    private static final int FIRST_ERROR = 5001;
    private static final int LAST_ERRNO = 133; // EHWPOISON
    private static final List<String> FILES = List.of("libhipfile.so.0", "libhipfile.so");

    private static final VendorLibrary LIBRARY = new VendorLibrary(
                    HipFile.class, "libhipfile.so", List.of("/opt/rocm/lib", "/opt/rocm/lib64"), PLATFORM_NOT_SUPPORTED)
            .symbols(entry -> "hipFile" + Character.toUpperCase(entry.charAt(0)) + entry.substring(1));

    /** Sorted by remedy: AMD promises neither cuFile's numbers nor the same ones between versions. */
    private static final ErrorCodes CODES = new ErrorCodes("hipFile", """
            0=Success 5001=DriverNotInitialized 5002=DriverInvalidProps 5003=DriverUnsupportedLimit
            5004=DriverVersionMismatch 5005=DriverVersionReadError 5006=DriverClosing! 5007=PlatformNotSupported>
            5008=IONotSupported> 5009=DeviceNotSupported> 5010=DriverError> 5011=HipDriverError
            5012=HipPointerInvalid 5013=HipMemoryTypeInvalid 5014=HipPointerRangeError 5015=HipContextMismatch
            5016=InvalidMappingSize 5017=InvalidMappingRange 5018=InvalidFileType> 5019=InvalidFileOpenFlag>
            5020=DIONotSet> 5022=InvalidValue 5023=MemoryAlreadyRegistered 5024=MemoryNotRegistered
            5025=PermissionDenied 5026=DriverAlreadyOpen 5027=HandleNotRegistered> 5028=HandleAlreadyRegistered
            5029=DeviceNotFound 5030=InternalError> 5031=GetNewFDFailed 5033=DriverSetupError> 5034=IODisabled>
            5035=BatchSubmitFailed* 5036=GPUMemoryPinningFailed~ 5037=BatchFull~ 5038=AsyncNotSupported>
            """);

    private static final Set<String> CORE = Set.of(
            "hipFileDriverOpen",
            "hipFileDriverClose",
            "hipFileHandleRegister",
            "hipFileHandleDeregister",
            "hipFileBufRegister",
            "hipFileBufDeregister",
            "hipFileRead",
            "hipFileWrite");

    /** hipFile over AMD's HIP, and over the CUDA driver: by the driver of each. */
    private static final Map<Hip, HipFile> ALL =
            Map.of(Hip.DRIVER, new HipFile(Hip.DRIVER), HipOverCuda.CUDA, new HipFile(HipOverCuda.CUDA));

    private static volatile boolean allowsCompat; // what was in the environment when it was loaded

    private final Hip hip;

    private HipFile(Hip hip) {
        super(
                hip,
                CODES,
                new Words(
                        "hipFile",
                        "the HIP runtime has no hipAmdFileRead",
                        "install a ROCm with hipFile's fast path (7.2 or newer) and the amdgpu driver of it",
                        "hipFile has no fast path here: the HIP runtime has no hipAmdFileRead",
                        "hipFileTimeout"));
        this.hip = hip;
    }

    /** Returns hipFile over a runtime. */
    public static HipFile over(Hip hip) {
        return Objects.requireNonNull(ALL.get(hip));
    }

    /** Returns the runtime that it stands on. */
    public Hip hip() {
        return hip;
    }

    /**
     * Loads the library, once for the process.
     *
     * @param file its file, or an empty string for the usual places
     * @param allowCompat whether it may fall back to POSIX calls by itself, unless the environment decides
     * @return why it cannot be loaded, or an empty string
     */
    public static synchronized String load(String file, boolean allowCompat) {
        if (file().isEmpty()) {
            String given = System.getenv(ALLOW_COMPAT_MODE);
            // As AMD's code reads it: what is neither true nor false counts as not set, and then it is allowed.
            allowsCompat = given == null ? allowCompat : !given.equalsIgnoreCase("false");
            if (given == null && !ProcessEnvironment.set(ALLOW_COMPAT_MODE, Boolean.toString(allowCompat))) {
                allowsCompat = true;
            }
        }
        if (!file.isEmpty() || !file().isEmpty()) {
            return LIBRARY.load(file);
        }
        String why = "";
        for (String usual : FILES) {
            String missing = LIBRARY.load(usual.equals("libhipfile.so") ? "" : usual);
            if (missing.isEmpty()) {
                return "";
            }
            why = why.isEmpty() ? missing : why;
        }
        return why;
    }

    /** Sets what its environment said when it was loaded; for tests, whose double can be told otherwise. */
    static void allowsCompat(boolean allowed) {
        allowsCompat = allowed;
    }

    /** Returns the file that it was loaded from; empty if it was not loaded. */
    public static String file() {
        return LIBRARY.file();
    }

    /** Returns the functions that the library does not have. */
    public static Set<String> absent() {
        return LIBRARY.absent();
    }

    /** Returns the functions without which nothing goes. */
    public static Set<String> core() {
        return CORE;
    }

    /** Returns the version, 1000 * major + 100 * minor + patch; -1 if the library does not report one. */
    public int version() {
        int[] major = new int[1];
        int[] minor = new int[1];
        int[] patch = new int[1];
        boolean told = error(getVersion(major, minor, patch)) == SUCCESS;
        return told ? major[0] * 1000 + minor[0] * 100 + patch[0] : -1;
    }

    /**
     * Returns whether batches report their completions, and stream calls do not fall back: before 0.5 a batch can be
     * submitted and its status never be asked, which hangs; AMD documents hangs of the GPU's scheduler (MES) and resets
     * after fall-backs. A library without a version is built over cuFile.
     */
    public boolean hasBatchesAndStreams() {
        int version = version();
        return version < 0 || version >= BATCHES_AND_STREAMS;
    }

    /** {@inheritDoc} AMD's own library does not implement the call: then they follow from the runtime. */
    @Override
    public DriverProperties properties() throws FileRefusal {
        byte[] properties = new byte[DRIVER_PROPS_BYTES];
        long status = driverGetProperties(properties);
        if (error(status) == SUCCESS) {
            return properties(properties);
        }
        if (error(status) != INTERNAL_ERROR && error(status) != PLATFORM_NOT_SUPPORTED) {
            check("query of hipFile's driver", "driverGetProperties", status);
        }
        int reached = hip.hasFileCalls() ? 1 << Storage.NVME.bit | 1 << Storage.NVME_P2P.bit : 0;
        int features = hasBatchesAndStreams() ? 0b110 : 0;
        return new DriverProperties(
                "kernel module of its own",
                0,
                0,
                0,
                0x7ffff000 >> 10,
                reached,
                allowsCompat ? 2 : 0,
                features,
                1 << 20,
                1024,
                0,
                128,
                0);
    }

    /** Parses a {@code hipFileDriverProps_t}. */
    static DriverProperties properties(byte[] properties) {
        ByteBuffer fields = ByteBuffer.wrap(properties).order(ByteOrder.nativeOrder());
        return new DriverProperties(
                "kernel module of its own",
                fields.getInt(0),
                fields.getInt(4),
                fields.getLong(8),
                fields.getLong(16),
                fields.getInt(24),
                fields.getInt(28),
                fields.getInt(32),
                fields.getLong(40),
                fields.getLong(48),
                fields.getLong(56),
                fields.getInt(64),
                fields.getInt(68));
    }

    /** {@inheritDoc} The fast path moves whole blocks: the rest of one is for the fall-back, if it is allowed. */
    @Override
    public boolean readsAcrossTheEnd() {
        return allowsCompat;
    }

    @Override
    public long barBytes(int ordinal) {
        return Long.MAX_VALUE;
    }

    @Override
    public long getParameterPosixPoolSlabArray(long[] kilobytes, long[] counts, int length) {
        return PLATFORM_NOT_SUPPORTED;
    }

    /** {@inheritDoc} A negative number that is neither -1 nor an error of hipFile's is a {@code hipError_t}. */
    @Override
    public long answer(long returned) {
        long answer = LibC.orErrno(returned);
        // -1 without an errno is hipErrorInvalidValue, not a count of 0.
        boolean ofRuntime = returned == -1 ? answer == 0 : returned < 0 && returned > -FIRST_ERROR;
        return ofRuntime ? returned - DRIVER_RESULTS_FROM : answer;
    }

    /**
     * {@inheritDoc} A late count does not come from {@link #answer}: AMD's batches report {@code -errno}, and a number
     * that no error of Linux has is a {@code hipError_t}.
     */
    @Override
    public NativeFailure failureOfCount(String entry, long count) {
        boolean isLate = count < -LAST_ERRNO && count > -FIRST_ERROR;
        return isLate || count < -DRIVER_RESULTS_FROM
                ? hip.failureOf(call(entry), (int) -(isLate ? count : count + DRIVER_RESULTS_FROM))
                : super.failureOfCount(entry, count);
    }

    // Driver.

    public native long driverOpen();

    public native long driverClose();

    native long getVersion(int[] major, int[] minor, int[] patch);

    native long driverGetProperties(byte[] properties);

    // Files and buffers.

    public native long handleRegister(long[] handle, byte[] descr);

    public native void handleDeregister(long handle);

    public native long bufRegister(long base, long bytes, int flags);

    public native long bufDeregister(long base);

    public native long read(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    public native long write(long handle, long base, long bytes, long fileOffset, long bufferOffset);

    // Batches and stream calls.

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

    /** The variables of this process, for libraries that are loaded later. */
    private static final class ProcessEnvironment {

        private static final VendorLibrary LIBC =
                new VendorLibrary(ProcessEnvironment.class, "libc.so.6", List.of(), -1);

        private ProcessEnvironment() {}

        /**
         * Sets a variable that was not set when the JVM started, perhaps again: an earlier load may have found no
         * library. Returns false if that failed.
         */
        static boolean set(String name, String value) {
            return LIBC.load("").isEmpty() && setenv(text(name), text(value), 1) == 0;
        }

        private static byte[] text(String text) {
            return (text + '\0').getBytes(StandardCharsets.US_ASCII);
        }

        private static native int setenv(byte[] name, byte[] value, int overwrite);
    }
}
