// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * OpenCL's error codes, and their names. A result is an error if it is not {@link #SUCCESS}: some extensions' codes are
 * positive.
 */
public final class OpenClError {
    public static final int SUCCESS = 0;
    public static final int DEVICE_NOT_FOUND = -1;
    public static final int DEVICE_NOT_AVAILABLE = -2;
    public static final int MEM_OBJECT_ALLOCATION_FAILURE = -4;
    public static final int OUT_OF_RESOURCES = -5;
    public static final int OUT_OF_HOST_MEMORY = -6;
    public static final int EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14;
    public static final int INVALID_VALUE = -30;
    public static final int INVALID_DEVICE = -33;
    public static final int INVALID_CONTEXT = -34;
    public static final int INVALID_COMMAND_QUEUE = -36;
    public static final int INVALID_MEM_OBJECT = -38;
    public static final int INVALID_EVENT_WAIT_LIST = -57;
    public static final int INVALID_EVENT = -58;
    public static final int INVALID_OPERATION = -59;
    public static final int INVALID_BUFFER_SIZE = -61;
    public static final int PLATFORM_NOT_FOUND_KHR = -1001;
    public static final int CONTEXT_TERMINATED_KHR = -1121;
    /** Of {@code cl_amd_liquid_flash}; positive. */
    public static final int INVALID_FILE_OBJECT_AMD = 0x4084;

    /** Names without their common prefix; a local table, since no OpenCL function returns them. */
    private static final Map<Integer, String> SYMBOLS = Arrays.stream(
                    """
            0=SUCCESS -1=DEVICE_NOT_FOUND -2=DEVICE_NOT_AVAILABLE -3=COMPILER_NOT_AVAILABLE
            -4=MEM_OBJECT_ALLOCATION_FAILURE -5=OUT_OF_RESOURCES -6=OUT_OF_HOST_MEMORY
            -7=PROFILING_INFO_NOT_AVAILABLE -8=MEM_COPY_OVERLAP -9=IMAGE_FORMAT_MISMATCH
            -10=IMAGE_FORMAT_NOT_SUPPORTED -11=BUILD_PROGRAM_FAILURE -12=MAP_FAILURE
            -13=MISALIGNED_SUB_BUFFER_OFFSET -14=EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
            -15=COMPILE_PROGRAM_FAILURE -16=LINKER_NOT_AVAILABLE -17=LINK_PROGRAM_FAILURE
            -18=DEVICE_PARTITION_FAILED -19=KERNEL_ARG_INFO_NOT_AVAILABLE -30=INVALID_VALUE
            -31=INVALID_DEVICE_TYPE -32=INVALID_PLATFORM -33=INVALID_DEVICE -34=INVALID_CONTEXT
            -35=INVALID_QUEUE_PROPERTIES -36=INVALID_COMMAND_QUEUE -37=INVALID_HOST_PTR -38=INVALID_MEM_OBJECT
            -39=INVALID_IMAGE_FORMAT_DESCRIPTOR -40=INVALID_IMAGE_SIZE -41=INVALID_SAMPLER -42=INVALID_BINARY
            -43=INVALID_BUILD_OPTIONS -44=INVALID_PROGRAM -45=INVALID_PROGRAM_EXECUTABLE
            -46=INVALID_KERNEL_NAME -47=INVALID_KERNEL_DEFINITION -48=INVALID_KERNEL -49=INVALID_ARG_INDEX
            -50=INVALID_ARG_VALUE -51=INVALID_ARG_SIZE -52=INVALID_KERNEL_ARGS -53=INVALID_WORK_DIMENSION
            -54=INVALID_WORK_GROUP_SIZE -55=INVALID_WORK_ITEM_SIZE -56=INVALID_GLOBAL_OFFSET
            -57=INVALID_EVENT_WAIT_LIST -58=INVALID_EVENT -59=INVALID_OPERATION -60=INVALID_GL_OBJECT
            -61=INVALID_BUFFER_SIZE -62=INVALID_MIP_LEVEL -63=INVALID_GLOBAL_WORK_SIZE -64=INVALID_PROPERTY
            -65=INVALID_IMAGE_DESCRIPTOR -66=INVALID_COMPILER_OPTIONS -67=INVALID_LINKER_OPTIONS
            -68=INVALID_DEVICE_PARTITION_COUNT -69=INVALID_PIPE_SIZE -70=INVALID_DEVICE_QUEUE
            -71=INVALID_SPEC_ID -72=MAX_SIZE_RESTRICTION_EXCEEDED -1000=INVALID_GL_SHAREGROUP_REFERENCE_KHR
            -1001=PLATFORM_NOT_FOUND_KHR -1057=DEVICE_PARTITION_FAILED_EXT -1058=INVALID_PARTITION_COUNT_EXT
            -1059=INVALID_PARTITION_NAME_EXT -1121=CONTEXT_TERMINATED_KHR 16516=INVALID_FILE_OBJECT_AMD
            """.strip().split("\\s+"))
            .map(entry -> entry.split("="))
            .collect(Collectors.toUnmodifiableMap(entry -> Integer.valueOf(entry[0]), entry -> "CL_" + entry[1]));

    private OpenClError() {}

    /** Returns the name of a code, {@code CL_INVALID_VALUE} for -30; an empty string if it is unknown. */
    public static String symbol(int code) {
        return SYMBOLS.getOrDefault(code, "");
    }
}
