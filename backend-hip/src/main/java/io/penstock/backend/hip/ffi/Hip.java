// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.ErrorCodes;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The HIP runtime ({@code libamdhip64.so}) as a table. HIP has no contexts, but a current device for each thread: the
 * handle of a context is the ordinal of its device.
 *
 * <p>Every function returns a {@code hipError_t}; a function missing from an older runtime returns {@link #NOT_FOUND}.
 * None may be called before {@link #load} has succeeded.
 */
@SuppressWarnings("MissingOverride") // its native methods are the table's entries
public class Hip extends DriverApi {

    /** From HIP 6 on, types of memory have the numbers of CUDA's runtime. */
    private static final int HIP_6 = 60_000_000;

    private static final int MEMORY_TYPE_DEVICE = 2;
    private static final int MEMORY_TYPE_DEVICE_BEFORE_6 = 1;
    private static final int POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
    private static final int POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
    private static final int MEMCPY_DEFAULT = 4;

    /** The sonames of the versions that are known, the newest first. */
    private static final List<String> FILES =
            List.of("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so");

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(Hip.class, "libamdhip64.so", List.of("/opt/rocm/lib", "/opt/rocm/lib64"), NOT_FOUND);

    private static final ErrorCodes CODES = new ErrorCodes("hipError", """
            0=^hipSuccess 1=InvalidValue 2=OutOfMemory 3=NotInitialized 4=Deinitialized 9=InvalidConfiguration
            13=InvalidSymbol 17=InvalidDevicePointer 21=InvalidMemcpyDirection 35=InsufficientDriver
            98=InvalidDeviceFunction 100=NoDevice 101=InvalidDevice 200=InvalidImage 201=InvalidContext
            202=ContextAlreadyCurrent 205=MapFailed 206=UnmapFailed 207=ArrayIsMapped 208=AlreadyMapped
            209=NoBinaryForGpu 210=AlreadyAcquired 211=NotMapped 214=ECCNotCorrectable 215=UnsupportedLimit
            216=ContextAlreadyInUse 217=PeerAccessUnsupported 300=InvalidSource 301=FileNotFound
            302=SharedObjectSymbolNotFound 303=SharedObjectInitFailed 304=OperatingSystem 400=InvalidHandle
            401=IllegalState 500=NotFound 600=NotReady 700=IllegalAddress 701=LaunchOutOfResources 702=LaunchTimeOut
            704=PeerAccessAlreadyEnabled 705=PeerAccessNotEnabled 708=SetOnActiveProcess 709=ContextIsDestroyed
            710=Assert 712=HostMemoryAlreadyRegistered 713=HostMemoryNotRegistered 719=LaunchFailure
            720=CooperativeLaunchTooLarge 801=NotSupported 900=StreamCaptureUnsupported 999=Unknown
            1052=RuntimeMemory 1053=RuntimeOther
            """);

    /** Functions whose name is not {@code hip} and the entry's. */
    private static final Map<String, String> NAMES = Arrays.stream("""
            deviceGetCount=hipGetDeviceCount ctxSetCurrent=hipSetDevice current=hipGetDevice
            ctxPushCurrent=hipSetDevice ctxEnablePeerAccess=hipDeviceEnablePeerAccess
            devicePrimaryCtxRetain=hipSetDevice memAlloc=hipMalloc memFree=hipFree memFreeHost=hipHostFree
            memHostAlloc=hipHostMalloc memHostGetDevicePointer=hipHostGetDevicePointer
            memHostRegister=hipHostRegister memHostUnregister=hipHostUnregister memcpyKindAsync=hipMemcpyAsync
            streamCreate=hipStreamCreateWithFlags eventCreate=hipEventCreateWithFlags version=hipRuntimeGetVersion
            fileRead=hipAmdFileRead
            """.strip().split("\\s+"))
            .map(name -> name.split("="))
            .collect(Collectors.toUnmodifiableMap(name -> name[0], name -> name[1]));

    /** Functions that newer runtimes have, and nothing here needs. */
    private static final Set<String> OPTIONAL =
            Set.of("hipMemGetHandleForAddressRange", "hipStreamGetDevice", "hipAmdFileRead", "hipGetProcAddress");

    /** The HIP runtime of a process. */
    public static final Hip DRIVER = new Hip();

    private final ThreadLocal<ArrayDeque<Integer>> pushed = ThreadLocal.withInitial(ArrayDeque::new);

    Hip() {
        super(CODES, new Words("HIP", "device pointer", "hipStream_t", "hipEvent_t"));
    }

    /**
     * Loads the runtime, once for the process.
     *
     * @param file its file, or an empty string for the usual places
     * @return why it cannot be loaded, or an empty string
     */
    public String load(String file) {
        if (!file.isEmpty() || !file().isEmpty()) {
            return load(file, this::call);
        }
        String why = "";
        for (String usual : FILES) {
            String missing = load(usual.equals("libamdhip64.so") ? "" : usual, this::call);
            if (missing.isEmpty()) {
                return "";
            }
            why = why.isEmpty() ? missing : why;
        }
        return why;
    }

    static String load(String file, UnaryOperator<String> symbols) {
        return LIBRARY.symbols(symbols).load(file);
    }

    /** Returns the functions that this runtime does not have, though they are needed. */
    public Set<String> absent() {
        Set<String> absent = new TreeSet<>(LIBRARY.absent());
        absent.removeAll(OPTIONAL);
        return absent;
    }

    /** Returns the file that the runtime was loaded from; empty if it was not loaded. */
    public static String file() {
        return LIBRARY.file();
    }

    /** Returns whether the runtime has the calls by which hipFile's fast path moves bytes. */
    public boolean hasFileCalls() {
        if (!LIBRARY.absent().contains("hipAmdFileRead")) {
            return true;
        }
        long[] function = new long[1];
        byte[] name = "hipAmdFileRead\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        return getProcAddress(name, function, runtimeVersion(), 0, new int[1]) == SUCCESS && function[0] != 0;
    }

    /** Returns the runtime's version, 10,000,000 times the major one; 0 if it does not report it. */
    public int runtimeVersion() {
        int[] version = new int[1];
        return version(version) == SUCCESS ? version[0] : 0;
    }

    /** Returns a version as text. */
    public String describe(int version) {
        return "HIP " + version / 10_000_000 + "." + version / 100_000 % 100 + "." + version % 100_000;
    }

    /** Returns the oldest version that is supported. */
    public int oldest() {
        return 50_200_000;
    }

    @Override
    public String call(String entry) {
        String name = NAMES.get(entry);
        return name != null ? name : "hip" + Character.toUpperCase(entry.charAt(0)) + entry.substring(1);
    }

    @Override
    public String whyNotMapped(int device) {
        return "HIP cannot register memory that is mapped read-only";
    }

    @Override
    public String whyNoDmaBuf(int device) {
        return LIBRARY.absent().contains(call("memGetHandleForAddressRange"))
                ? "this runtime has no hipMemGetHandleForAddressRange, which ROCm 7 brings"
                : "";
    }

    @Override
    public long peerGranularity(int device) {
        return LibC.pageSize();
    }

    @Override
    public int describe(long pointer, long[] found) {
        long[] value = new long[1];
        int result = pointerGetAttribute(value, POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
        if (result != SUCCESS) {
            return result;
        }
        found[0] = (int) value[0] == memoryTypeOfDevice() ? 1 : 0;
        value[0] = 0;
        result = pointerGetAttribute(value, POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
        found[1] = (int) value[0];
        found[2] = 0; // memory belongs to a device
        return result;
    }

    int memoryTypeOfDevice() {
        return runtimeVersion() < HIP_6 ? MEMORY_TYPE_DEVICE_BEFORE_6 : MEMORY_TYPE_DEVICE;
    }

    @Override
    public int ipcOpenMemHandle(long[] pointer, byte[] handle) {
        return HipIpc.open(file(), call("ipcOpenMemHandle"), pointer, handle);
    }

    /** {@inheritDoc} HIP's own stack of contexts does not restore the device, and is deprecated. */
    @Override
    public int ctxPushCurrent(long context) {
        int[] before = new int[1];
        int result = current(before);
        if (result == SUCCESS) {
            result = ctxSetCurrent(context);
        }
        if (result == SUCCESS) {
            pushed.get().push(before[0]);
        }
        return result;
    }

    @Override
    public int ctxPopCurrent(long[] context) {
        return ctxSetCurrent(pushed.get().pop());
    }

    @Override
    public int devicePrimaryCtxRetain(long[] context, int device) {
        context[0] = device;
        int result = ctxPushCurrent(device); // starts the device
        return result == SUCCESS ? ctxPopCurrent(context) : result;
    }

    @Override
    public int devicePrimaryCtxRelease(int device) {
        return SUCCESS;
    }

    /** Returns the device of a stream in {@code context}, if the runtime reports it. */
    public int contextOfStream(long stream, long[] context) {
        int[] device = new int[1];
        int result = streamGetDevice(stream, device);
        context[0] = device[0];
        return result;
    }

    @Override
    public int memcpyAsync(long to, long from, long bytes, long stream) {
        return memcpyKindAsync(to, from, bytes, MEMCPY_DEFAULT, stream);
    }

    // Devices.

    public native int init(int flags);

    public native int version(int[] version);

    public native int deviceCanAccessPeer(int[] can, int device, int peer);

    public native int deviceGet(int[] device, int ordinal);

    public native int deviceGetCount(int[] count);

    public native int deviceGetName(byte[] name, int bytes, int device);

    public native int deviceGetPCIBusId(byte[] id, int bytes, int device);

    public native int deviceGetUuid(byte[] uuid, int device);

    public native int deviceTotalMem(long[] bytes, int device);

    public native int ctxEnablePeerAccess(long peer, int flags);

    public native int ctxSetCurrent(long context);

    native int current(int[] device);

    native int getProcAddress(byte[] name, long[] function, int version, long flags, int[] status);

    native int fileRead(long a, long b, long c, long d);

    // Memory.

    public native int memAlloc(long[] pointer, long bytes);

    public native int memFree(long pointer);

    public native int memFreeHost(long address);

    public native int memGetAddressRange(long[] base, long[] bytes, long pointer);

    public native int memGetHandleForAddressRange(int[] handle, long pointer, long bytes, int type, long flags);

    public native int memHostAlloc(long[] address, long bytes, int flags);

    public native int memHostGetDevicePointer(long[] device, long address, int flags);

    public native int memHostRegister(long address, long bytes, int flags);

    public native int memHostUnregister(long address);

    native int memcpyKindAsync(long to, long from, long bytes, int kind, long stream);

    public native int memcpyDtoHAsync(long target, long source, long bytes, long stream);

    public native int memcpyHtoDAsync(long target, long source, long bytes, long stream);

    public native int memcpyPeerAsync(
            long target, long targetContext, long source, long sourceContext, long bytes, long stream);

    public native int memsetD8Async(long address, byte value, long bytes, long stream);

    native int pointerGetAttribute(long[] value, int attribute, long pointer);

    public native int ipcCloseMemHandle(long pointer);

    public native int ipcGetMemHandle(byte[] handle, long pointer);

    // Streams and events.

    public native int streamCreate(long[] stream, int flags);

    public native int streamDestroy(long stream);

    native int streamGetDevice(long stream, int[] device);

    public native int streamQuery(long stream);

    public native int streamSynchronize(long stream);

    public native int streamWaitEvent(long stream, long event, int flags);

    public native int streamWriteValue32(long stream, long address, int value, int flags);

    public native int eventCreate(long[] event, int flags);

    public native int eventDestroy(long event);

    public native int eventQuery(long event);

    public native int eventRecord(long event, long stream);

    public native int eventSynchronize(long event);
}
