// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

/**
 * AMD's {@code cl_amd_bus_addressable_memory} (DirectGMA): buffers that other devices on the bus write to, and other
 * devices' memory as buffers to write to, with signals in both directions.
 *
 * <p>None may be called before {@link #load} has succeeded for a platform.
 */
public final class BusMemory {

    public static final String EXTENSION = "cl_amd_bus_addressable_memory";

    /** Of clCreateBuffer: other devices may write to the buffer, once it is resident. */
    public static final long CL_MEM_BUS_ADDRESSABLE_AMD = 1L << 30;

    /** Of clCreateBuffer, whose host pointer is then a cl_bus_address_amd: the buffer is another device's memory. */
    public static final long CL_MEM_EXTERNAL_PHYSICAL_AMD = 1L << 31;

    /** cl_bus_address_amd: two cl_ulong. */
    public static final int BUS_ADDRESS_BYTES = 16;

    public static final int SURFACE_BUS_ADDRESS_OFFSET = 0;
    public static final int MARKER_BUS_ADDRESS_OFFSET = 8;

    private static final ExtensionFunctions FUNCTIONS = ExtensionFunctions.named(
            BusMemory.class, "clEnqueueWaitSignalAMD", "clEnqueueWriteSignalAMD", "clEnqueueMakeBuffersResidentAMD");

    private BusMemory() {}

    /**
     * Loads the functions.
     *
     * @return why a platform does not have them, or an empty string
     */
    public static String load(long platform) {
        return FUNCTIONS.load(platform);
    }

    /** Waits on the device until the marker of a bus-addressable buffer reaches a value. */
    public static native int clEnqueueWaitSignalAMD(
            long queue, long memory, int value, int waits, long waitList, long event);

    /** Writes a value to the marker of an external buffer, or {@code offset} bytes after it. */
    public static native int clEnqueueWriteSignalAMD(
            long queue, long memory, int value, long offset, int waits, long waitList, long event);

    /** Makes buffers resident, and writes their bus addresses, {@link #BUS_ADDRESS_BYTES} each. */
    public static native int clEnqueueMakeBuffersResidentAMD(
            long queue, int count, long[] memory, int blocking, long addresses, int waits, long waitList, long event);
}
