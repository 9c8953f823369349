// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

/**
 * AMD's {@code cl_amd_liquid_flash}: files as OpenCL objects, and commands that move their blocks to and from buffers.
 *
 * <p>A result is an error if it is not 0, and not only if it is negative: {@link OpenClError#INVALID_FILE_OBJECT_AMD}
 * is positive. None may be called before {@link #load} has succeeded for a platform.
 */
public final class Ssg {

    /** The name in a device's list of extensions, which some drivers claim in error. */
    public static final String EXTENSION = "cl_amd_liquid_flash";

    public static final int CL_FILE_READ_ONLY_AMD = 1;
    public static final int CL_FILE_WRITE_ONLY_AMD = 1 << 1;

    /** A cl_uint: the alignment of offsets and lengths. */
    public static final int CL_FILE_BLOCK_SIZE_AMD = 0x4085;

    /** A cl_ulong: the length at opening. */
    public static final int CL_FILE_SIZE_AMD = 0x4086;

    /** Of clCreateBuffer: device memory that a disk can reach. Not together with CL_MEM_USE/ALLOC_HOST_PTR. */
    public static final long CL_MEM_USE_PERSISTENT_MEM_AMD = 1 << 6;

    private static final ExtensionFunctions FUNCTIONS = ExtensionFunctions.named(
            Ssg.class,
            "clCreateSsgFileObjectAMD",
            "clGetSsgFileObjectInfoAMD",
            "clRetainSsgFileObjectAMD",
            "clReleaseSsgFileObjectAMD",
            "clEnqueueReadSsgFileAMD",
            "clEnqueueWriteSsgFileAMD");

    private Ssg() {}

    /**
     * Loads the functions.
     *
     * @return why a platform does not have them, or an empty string
     */
    public static String load(long platform) {
        return FUNCTIONS.load(platform);
    }

    /** Opens a file by a {@link WideName}. */
    public static native long clCreateSsgFileObjectAMD(long context, int flags, byte[] name, int[] error);

    public static native int clGetSsgFileObjectInfoAMD(long file, int name, long bytes, byte[] value, long[] length);

    public static native int clRetainSsgFileObjectAMD(long file);

    public static native int clReleaseSsgFileObjectAMD(long file);

    /**
     * Reads blocks of a file into a buffer; waitList is the address of an array of waits events, event the address of a
     * cell. Never blocking: a blocking call returns CL_SUCCESS even after a failure.
     */
    public static native int clEnqueueReadSsgFileAMD(
            long queue,
            long memory,
            int blocking,
            long bufferOffset,
            long bytes,
            long file,
            long fileOffset,
            int waits,
            long waitList,
            long event);

    /** Writes blocks of a buffer to a file; as {@link #clEnqueueReadSsgFileAMD}. */
    public static native int clEnqueueWriteSsgFileAMD(
            long queue,
            long memory,
            int blocking,
            long bufferOffset,
            long bytes,
            long file,
            long fileOffset,
            int waits,
            long waitList,
            long event);
}
