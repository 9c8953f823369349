// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** The codes of {@code CUresult}, and their names. */
public final class CudaError {
    public static final int SUCCESS = 0;
    public static final int INVALID_VALUE = 1;
    public static final int OUT_OF_MEMORY = 2;
    public static final int STUB_LIBRARY = 34;
    public static final int NO_DEVICE = 100;
    public static final int INVALID_DEVICE = 101;
    public static final int INVALID_CONTEXT = 201;
    public static final int INVALID_HANDLE = 400;
    public static final int NOT_FOUND = 500;
    public static final int NOT_READY = 600;
    public static final int NOT_SUPPORTED = 801;
    public static final int SYSTEM_DRIVER_MISMATCH = 803;
    public static final int COMPAT_NOT_SUPPORTED_ON_DEVICE = 804;

    /** Names without their common prefix; a local table, so that names are available without a driver. */
    private static final Map<Integer, String> SYMBOLS = Arrays.stream(
                    """
            1=INVALID_VALUE 2=OUT_OF_MEMORY 3=NOT_INITIALIZED 4=DEINITIALIZED 5=PROFILER_DISABLED
            6=PROFILER_NOT_INITIALIZED 7=PROFILER_ALREADY_STARTED 8=PROFILER_ALREADY_STOPPED 34=STUB_LIBRARY
            36=CALL_REQUIRES_NEWER_DRIVER 46=DEVICE_UNAVAILABLE 100=NO_DEVICE 101=INVALID_DEVICE
            102=DEVICE_NOT_LICENSED 200=INVALID_IMAGE 201=INVALID_CONTEXT 202=CONTEXT_ALREADY_CURRENT
            205=MAP_FAILED 206=UNMAP_FAILED 207=ARRAY_IS_MAPPED 208=ALREADY_MAPPED 209=NO_BINARY_FOR_GPU
            210=ALREADY_ACQUIRED 211=NOT_MAPPED 212=NOT_MAPPED_AS_ARRAY 213=NOT_MAPPED_AS_POINTER
            214=ECC_UNCORRECTABLE 215=UNSUPPORTED_LIMIT 216=CONTEXT_ALREADY_IN_USE 217=PEER_ACCESS_UNSUPPORTED
            218=INVALID_PTX 219=INVALID_GRAPHICS_CONTEXT 220=NVLINK_UNCORRECTABLE 221=JIT_COMPILER_NOT_FOUND
            222=UNSUPPORTED_PTX_VERSION 223=JIT_COMPILATION_DISABLED 224=UNSUPPORTED_EXEC_AFFINITY
            225=UNSUPPORTED_DEVSIDE_SYNC 226=CONTAINED 300=INVALID_SOURCE 301=FILE_NOT_FOUND
            302=SHARED_OBJECT_SYMBOL_NOT_FOUND 303=SHARED_OBJECT_INIT_FAILED 304=OPERATING_SYSTEM
            400=INVALID_HANDLE 401=ILLEGAL_STATE 402=LOSSY_QUERY 500=NOT_FOUND 600=NOT_READY 700=ILLEGAL_ADDRESS
            701=LAUNCH_OUT_OF_RESOURCES 702=LAUNCH_TIMEOUT 703=LAUNCH_INCOMPATIBLE_TEXTURING
            704=PEER_ACCESS_ALREADY_ENABLED 705=PEER_ACCESS_NOT_ENABLED 708=PRIMARY_CONTEXT_ACTIVE
            709=CONTEXT_IS_DESTROYED 710=ASSERT 711=TOO_MANY_PEERS 712=HOST_MEMORY_ALREADY_REGISTERED
            713=HOST_MEMORY_NOT_REGISTERED 714=HARDWARE_STACK_ERROR 715=ILLEGAL_INSTRUCTION
            716=MISALIGNED_ADDRESS 717=INVALID_ADDRESS_SPACE 718=INVALID_PC 719=LAUNCH_FAILED
            720=COOPERATIVE_LAUNCH_TOO_LARGE 721=TENSOR_MEMORY_LEAK 800=NOT_PERMITTED 801=NOT_SUPPORTED
            802=SYSTEM_NOT_READY 803=SYSTEM_DRIVER_MISMATCH 804=COMPAT_NOT_SUPPORTED_ON_DEVICE
            805=MPS_CONNECTION_FAILED 806=MPS_RPC_FAILURE 807=MPS_SERVER_NOT_READY 808=MPS_MAX_CLIENTS_REACHED
            809=MPS_MAX_CONNECTIONS_REACHED 810=MPS_CLIENT_TERMINATED 811=CDP_NOT_SUPPORTED
            812=CDP_VERSION_MISMATCH 900=STREAM_CAPTURE_UNSUPPORTED 901=STREAM_CAPTURE_INVALIDATED
            902=STREAM_CAPTURE_MERGE 903=STREAM_CAPTURE_UNMATCHED 904=STREAM_CAPTURE_UNJOINED
            905=STREAM_CAPTURE_ISOLATION 906=STREAM_CAPTURE_IMPLICIT 907=CAPTURED_EVENT
            908=STREAM_CAPTURE_WRONG_THREAD 909=TIMEOUT 910=GRAPH_EXEC_UPDATE_FAILURE 911=EXTERNAL_DEVICE
            912=INVALID_CLUSTER_SIZE 913=FUNCTION_NOT_LOADED 914=INVALID_RESOURCE_TYPE
            915=INVALID_RESOURCE_CONFIGURATION 916=KEY_ROTATION 999=UNKNOWN
            """.strip().split("\\s+"))
            .map(entry -> entry.split("="))
            .collect(Collectors.toUnmodifiableMap(
                    entry -> Integer.valueOf(entry[0]), entry -> "CUDA_ERROR_" + entry[1]));

    private CudaError() {}

    /** Returns the name of a result, {@code CUDA_ERROR_NO_DEVICE} for 100; an empty string if it is unknown. */
    public static String symbol(int result) {
        return result == SUCCESS ? "CUDA_SUCCESS" : SYMBOLS.getOrDefault(result, "");
    }

    /** Returns the name and the code; only the code if it is unknown. */
    public static String describe(int result) {
        String symbol = symbol(result);
        return symbol.isEmpty() ? Integer.toString(result) : symbol + " (" + result + ")";
    }
}
