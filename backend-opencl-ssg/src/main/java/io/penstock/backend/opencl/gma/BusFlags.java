// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Checks flags, addresses and sizes for DirectGMA before the driver is called, which reports all errors by the same
 * code.
 */
final class BusFlags {

    static final long PAGE_BYTES = 4096;

    /**
     * Flags for host memory and other memory kinds, which the driver refuses, and for a copy of host memory, of which
     * there is none.
     */
    private static final Map<String, Long> CONFLICTS = conflicts();

    private BusFlags() {}

    private static Map<String, Long> conflicts() {
        Map<String, Long> conflicts = new LinkedHashMap<>();
        conflicts.put("CL_MEM_USE_HOST_PTR", OpenCl.CL_MEM_USE_HOST_PTR);
        conflicts.put("CL_MEM_ALLOC_HOST_PTR", OpenCl.CL_MEM_ALLOC_HOST_PTR);
        conflicts.put("CL_MEM_COPY_HOST_PTR", OpenCl.CL_MEM_COPY_HOST_PTR);
        conflicts.put("CL_MEM_USE_PERSISTENT_MEM_AMD", Ssg.CL_MEM_USE_PERSISTENT_MEM_AMD);
        conflicts.put("CL_MEM_EXTERNAL_PHYSICAL_AMD", BusMemory.CL_MEM_EXTERNAL_PHYSICAL_AMD);
        return conflicts;
    }

    /** Throws unless memory with these flags may be bus-addressable. */
    static void checkAddressable(long flags) {
        StringJoiner names = new StringJoiner(" and ");
        CONFLICTS.forEach((name, flag) -> {
            if ((flags & flag) != 0) {
                names.add(name);
            }
        });
        if (names.length() > 0) {
            throw new IllegalArgumentException("bus-addressable memory must not have " + names);
        }
    }

    /** Throws unless a bus address is at a page's start. */
    static void checkAddress(String what, long address) {
        if (address == 0 || address % PAGE_BYTES != 0) {
            throw new IllegalArgumentException("the " + what + " bus address 0x" + Long.toHexString(address)
                    + " is not the start of a page of " + PAGE_BYTES + " bytes");
        }
    }

    /** Throws if the marker lies in the memory: a signal would overwrite the data there. */
    static void checkApart(long surface, long bytes, long marker) {
        if (Long.compareUnsigned(marker - surface, bytes) < 0) {
            throw new IllegalArgumentException("the marker at bus address 0x" + Long.toHexString(marker)
                    + " lies in the " + bytes + " bytes at 0x" + Long.toHexString(surface)
                    + ", which a signal would overwrite: pass the bus address of the other device's marker");
        }
    }

    /** Returns a size rounded up to whole pages, as the driver rounds it, so that the full size is reported. */
    static long wholePages(long bytes) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - PAGE_BYTES) {
            throw new IllegalArgumentException("size of bus-addressable memory must be at least 1 byte, was " + bytes);
        }
        return (bytes + PAGE_BYTES - 1) & -PAGE_BYTES;
    }
}
