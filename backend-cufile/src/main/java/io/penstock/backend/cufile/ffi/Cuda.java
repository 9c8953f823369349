// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.ErrorCodes;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;

/**
 * The CUDA driver API ({@code libcuda.so.1}), as a table: an entry is a function's name without {@code cu} and without the version that {@code cuda.h} maps it to.
 *
 * <p>Every function returns a {@code CUresult}; a function missing from an older driver
 * returns {@link #NOT_FOUND}. None may be called before {@link #load} has succeeded.
 */
@SuppressWarnings("MissingOverride") // its native methods are the table's entries
public final class Cuda extends DriverApi {

    public static final int STUB_LIBRARY = 34;
    public static final int SYSTEM_DRIVER_MISMATCH = 803;
    public static final int COMPAT_NOT_SUPPORTED_ON_DEVICE = 804;

    public static final int CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113;
    public static final int CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124;

    public static final int CU_POINTER_ATTRIBUTE_CONTEXT = 1;
    public static final int CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
    public static final int CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
    public static final int CU_MEMORYTYPE_DEVICE = 2;

    private static final VendorLibrary LIBRARY = new VendorLibrary(
                    Cuda.class,
                    "libcuda.so.1",
                    List.of(
                            "/usr/lib/x86_64-linux-gnu",
                            "/usr/lib/aarch64-linux-gnu",
                            "/usr/lib64",
                            "/usr/lib64/nvidia",
                            "/usr/local/nvidia/lib64",
                            "/usr/local/cuda/compat",
                            "/usr/lib/wsl/lib"),
                    NOT_FOUND)
            .symbols(Cuda::symbolOf);

    private static final ErrorCodes CODES = new ErrorCodes("CUDA_ERROR_", """
            0=^CUDA_SUCCESS 1=INVALID_VALUE 2=OUT_OF_MEMORY 3=NOT_INITIALIZED 4=DEINITIALIZED
            5=PROFILER_DISABLED 6=PROFILER_NOT_INITIALIZED 7=PROFILER_ALREADY_STARTED
            8=PROFILER_ALREADY_STOPPED 34=STUB_LIBRARY 36=CALL_REQUIRES_NEWER_DRIVER 46=DEVICE_UNAVAILABLE
            100=NO_DEVICE 101=INVALID_DEVICE 102=DEVICE_NOT_LICENSED 200=INVALID_IMAGE 201=INVALID_CONTEXT
            202=CONTEXT_ALREADY_CURRENT 205=MAP_FAILED 206=UNMAP_FAILED 207=ARRAY_IS_MAPPED
            208=ALREADY_MAPPED 209=NO_BINARY_FOR_GPU 210=ALREADY_ACQUIRED 211=NOT_MAPPED
            212=NOT_MAPPED_AS_ARRAY 213=NOT_MAPPED_AS_POINTER 214=ECC_UNCORRECTABLE 215=UNSUPPORTED_LIMIT
            216=CONTEXT_ALREADY_IN_USE 217=PEER_ACCESS_UNSUPPORTED 218=INVALID_PTX
            219=INVALID_GRAPHICS_CONTEXT 220=NVLINK_UNCORRECTABLE 221=JIT_COMPILER_NOT_FOUND
            222=UNSUPPORTED_PTX_VERSION 223=JIT_COMPILATION_DISABLED 224=UNSUPPORTED_EXEC_AFFINITY
            225=UNSUPPORTED_DEVSIDE_SYNC 226=CONTAINED 300=INVALID_SOURCE 301=FILE_NOT_FOUND
            302=SHARED_OBJECT_SYMBOL_NOT_FOUND 303=SHARED_OBJECT_INIT_FAILED 304=OPERATING_SYSTEM
            400=INVALID_HANDLE 401=ILLEGAL_STATE 402=LOSSY_QUERY 500=NOT_FOUND 600=NOT_READY
            700=ILLEGAL_ADDRESS 701=LAUNCH_OUT_OF_RESOURCES 702=LAUNCH_TIMEOUT
            703=LAUNCH_INCOMPATIBLE_TEXTURING 704=PEER_ACCESS_ALREADY_ENABLED 705=PEER_ACCESS_NOT_ENABLED
            708=PRIMARY_CONTEXT_ACTIVE 709=CONTEXT_IS_DESTROYED 710=ASSERT 711=TOO_MANY_PEERS
            712=HOST_MEMORY_ALREADY_REGISTERED 713=HOST_MEMORY_NOT_REGISTERED 714=HARDWARE_STACK_ERROR
            715=ILLEGAL_INSTRUCTION 716=MISALIGNED_ADDRESS 717=INVALID_ADDRESS_SPACE 718=INVALID_PC
            719=LAUNCH_FAILED 720=COOPERATIVE_LAUNCH_TOO_LARGE 721=TENSOR_MEMORY_LEAK 800=NOT_PERMITTED
            801=NOT_SUPPORTED 802=SYSTEM_NOT_READY 803=SYSTEM_DRIVER_MISMATCH
            804=COMPAT_NOT_SUPPORTED_ON_DEVICE 805=MPS_CONNECTION_FAILED 806=MPS_RPC_FAILURE
            807=MPS_SERVER_NOT_READY 808=MPS_MAX_CLIENTS_REACHED 809=MPS_MAX_CONNECTIONS_REACHED
            810=MPS_CLIENT_TERMINATED 811=CDP_NOT_SUPPORTED 812=CDP_VERSION_MISMATCH
            900=STREAM_CAPTURE_UNSUPPORTED 901=STREAM_CAPTURE_INVALIDATED 902=STREAM_CAPTURE_MERGE
            903=STREAM_CAPTURE_UNMATCHED 904=STREAM_CAPTURE_UNJOINED 905=STREAM_CAPTURE_ISOLATION
            906=STREAM_CAPTURE_IMPLICIT 907=CAPTURED_EVENT 908=STREAM_CAPTURE_WRONG_THREAD 909=TIMEOUT
            910=GRAPH_EXEC_UPDATE_FAILURE 911=EXTERNAL_DEVICE 912=INVALID_CLUSTER_SIZE
            913=FUNCTION_NOT_LOADED 914=INVALID_RESOURCE_TYPE 915=INVALID_RESOURCE_CONFIGURATION
            916=KEY_ROTATION 999=UNKNOWN
            """);

    /** Functions that are bound by their second version. */
    private static final Set<String> SECOND = Set.of("""
            deviceGetUuid deviceTotalMem ctxPopCurrent ctxPushCurrent devicePrimaryCtxRelease memAlloc memFree
            memGetAddressRange memHostGetDevicePointer memHostRegister memcpyDtoHAsync memcpyHtoDAsync streamDestroy
            streamWriteValue32 eventDestroy
            """.strip().split("\\s+"));

    /** The one driver of a process. */
    public static final Cuda DRIVER = new Cuda();

    private Cuda() {
        super(CODES, new Words("CUDA", "CUdeviceptr", "CUstream", "CUevent"));
    }

    /**
     * Loads the driver, once for the process.
     *
     * @param file the driver file, or an empty string for the usual places
     * @return why it cannot be loaded, or an empty string
     */
    public static String load(String file) {
        return LIBRARY.load(file);
    }

    /** Returns the functions that this driver does not have. */
    public static Set<String> absent() {
        return LIBRARY.absent();
    }

    /** Returns the file that the driver was loaded from; empty if it was not loaded. */
    public static String file() {
        return LIBRARY.file();
    }

    private static String symbolOf(String entry) {
        return DRIVER.call(entry) + (SECOND.contains(entry) ? "_v2" : "");
    }

    @Override
    public String call(String entry) {
        return "cu" + Character.toUpperCase(entry.charAt(0)) + entry.substring(1);
    }

    @Override
    public String whyNotMapped(int device) {
        return isSet(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, device)
                ? ""
                : "this GPU cannot read memory that is mapped read-only (READ_ONLY_HOST_REGISTER_SUPPORTED is 0)";
    }

    @Override
    public String whyNoDmaBuf(int device) {
        return isSet(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, device) ? "" : "DMA_BUF_SUPPORTED is 0";
    }

    private boolean isSet(int attribute, int device) {
        int[] value = new int[1];
        return deviceGetAttribute(value, attribute, device) == SUCCESS && value[0] == 1;
    }

    @Override
    public long peerGranularity(int device) {
        // A CUmemAllocationProp: type CU_MEM_ALLOCATION_TYPE_PINNED, at CU_MEM_LOCATION_TYPE_DEVICE, for RDMA.
        ByteBuffer properties = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
        properties.putInt(0, 1).putInt(8, 1).putInt(12, device).put(25, (byte) 1);
        long[] bytes = new long[1];
        int result = memGetAllocationGranularity(bytes, properties.array(), 0 /* the minimum */);
        return result == SUCCESS ? bytes[0] : 0;
    }

    @Override
    public int describe(long pointer, long[] found) {
        int[] attributes = {
            CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_CONTEXT
        };
        long[] value = new long[1];
        for (int i = 0; i < attributes.length; i++) {
            value[0] = 0;
            int result = pointerGetAttribute(value, attributes[i], pointer);
            if (result != SUCCESS) {
                return result;
            }
            found[i] = i == 2 ? value[0] : (int) value[0];
        }
        found[0] = found[0] == CU_MEMORYTYPE_DEVICE ? 1 : 0;
        return SUCCESS;
    }

    @Override
    public int ipcOpenMemHandle(long[] pointer, byte[] handle) {
        return CudaIpc.open(file(), pointer, handle);
    }

    // Driver and devices.

    public native int deviceCanAccessPeer(int[] can, int device, int peer);

    public native int deviceGet(int[] device, int ordinal);

    public native int deviceGetAttribute(int[] value, int attribute, int device);

    public native int deviceGetCount(int[] count);

    public native int deviceGetName(byte[] name, int bytes, int device);

    public native int deviceGetPCIBusId(byte[] id, int bytes, int device);

    public native int deviceGetUuid(byte[] uuid, int device);

    public native int deviceTotalMem(long[] bytes, int device);

    public native int driverGetVersion(int[] version);

    public native int init(int flags);

    // Contexts.

    public native int ctxEnablePeerAccess(long peer, int flags);

    public native int ctxGetCurrent(long[] context);

    public native int ctxGetDevice(int[] device);

    public native int ctxPopCurrent(long[] context);

    public native int ctxPushCurrent(long context);

    public native int ctxSetCurrent(long context);

    public native int devicePrimaryCtxRelease(int device);

    public native int devicePrimaryCtxRetain(long[] context, int device);

    // Memory.

    public native int memAlloc(long[] pointer, long bytes);

    public native int memFree(long pointer);

    public native int memFreeHost(long address);

    public native int memGetAddressRange(long[] base, long[] bytes, long pointer);

    /** Takes a {@code CUmemAllocationProp}, and returns the allocation granularity of that kind of memory. */
    public native int memGetAllocationGranularity(long[] bytes, byte[] properties, int which);

    public native int memGetHandleForAddressRange(int[] handle, long pointer, long bytes, int handleType, long flags);

    public native int memHostAlloc(long[] address, long bytes, int flags);

    public native int memHostGetDevicePointer(long[] device, long address, int flags);

    public native int memHostRegister(long address, long bytes, int flags);

    public native int memHostUnregister(long address);

    public native int memcpyDtoHAsync(long target, long source, long bytes, long stream);

    public native int memcpyAsync(long to, long from, long bytes, long stream);

    public native int memcpyHtoDAsync(long target, long source, long bytes, long stream);

    public native int memcpyPeerAsync(
            long target, long targetContext, long source, long sourceContext, long bytes, long stream);

    public native int memsetD8Async(long address, byte value, long bytes, long stream);

    public native int pointerGetAttribute(long[] value, int attribute, long pointer);

    // Memory of other processes.

    public native int ipcCloseMemHandle(long pointer);

    public native int ipcGetMemHandle(byte[] handle, long pointer);

    // Streams.

    public native int streamCreate(long[] stream, int flags);

    public native int streamDestroy(long stream);

    public native int streamGetCtx(long stream, long[] context);

    public native int streamQuery(long stream);

    public native int streamSynchronize(long stream);

    public native int streamWaitEvent(long stream, long event, int flags);

    public native int streamWriteValue32(long stream, long address, int value, int flags);

    // Events.

    public native int eventCreate(long[] event, int flags);

    public native int eventDestroy(long event);

    public native int eventQuery(long event);

    public native int eventRecord(long event, long stream);

    public native int eventSynchronize(long event);
}
