// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A device as reported by its driver.
 *
 * @param index its number among all devices of all platforms, from 0
 * @param handle the cl_device_id
 * @param platform its platform
 * @param name the vendor's model name
 * @param version of OpenCL, such as 300 for 3.0
 * @param type bits, as the vendor's CL_DEVICE_TYPE
 * @param bytes the size of its memory
 * @param mostBytes the largest buffer
 * @param sharesHostMemory true if the processor's memory is also the device's
 * @param queues the abilities of its command queues, bits as the vendor's CL_QUEUE_...
 * @param available true if it can be used now
 * @param extensions the extensions it claims
 */
public record OpenClDevice(
        int index,
        long handle,
        OpenClPlatform platform,
        String name,
        int version,
        long type,
        long bytes,
        long mostBytes,
        boolean sharesHostMemory,
        long queues,
        boolean available,
        Set<String> extensions) {

    /** The oldest version that this backend supports: 1.2. */
    static final int OLDEST = 120;

    /**
     * Queries the driver; needs no context.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public static OpenClDevice of(int index, long handle, OpenClPlatform platform) {
        Info info = Info.device(handle);
        long type = info.word(OpenCl.CL_DEVICE_TYPE);
        boolean shares =
                (type & OpenCl.CL_DEVICE_TYPE_CPU) != 0 || info.number(OpenCl.CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
        return new OpenClDevice(
                index,
                handle,
                platform,
                info.text(OpenCl.CL_DEVICE_NAME),
                OpenClPlatform.version(info.text(OpenCl.CL_DEVICE_VERSION)),
                type,
                info.word(OpenCl.CL_DEVICE_GLOBAL_MEM_SIZE),
                info.word(OpenCl.CL_DEVICE_MAX_MEM_ALLOC_SIZE),
                shares,
                info.word(OpenCl.CL_DEVICE_QUEUE_PROPERTIES),
                info.number(OpenCl.CL_DEVICE_AVAILABLE) != 0,
                Set.copyOf(List.of(info.text(OpenCl.CL_DEVICE_EXTENSIONS).split("\\s+"))));
    }

    /** Returns why the device cannot be used, or an empty string. */
    public String whyNot() {
        if (!available) {
            return this + " is not available now";
        }
        return version < OLDEST ? this + " is too old: OpenCL 1.2 is needed" : "";
    }

    /** Returns true if it is more than a program on the host's processor. */
    public boolean isHardware() {
        return (type & OpenCl.CL_DEVICE_TYPE_CPU) == 0;
    }

    /** Returns true if it claims AMD's SSG extension; some drivers claim it in error. */
    public boolean claimsSsg() {
        return claims(Ssg.EXTENSION);
    }

    /** Returns true if it claims an extension. */
    public boolean claims(String extension) {
        return extensions.contains(extension) || platform.extensions().contains(extension);
    }

    /** Returns the properties for creating an out-of-order queue; 0 if the device has none. */
    public long orderlessQueues() {
        return queues & OpenCl.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    }

    /** Returns its type as text. */
    public String kind() {
        if ((type & OpenCl.CL_DEVICE_TYPE_GPU) != 0) {
            return "gpu";
        }
        if ((type & OpenCl.CL_DEVICE_TYPE_ACCELERATOR) != 0) {
            return "accelerator";
        }
        return (type & OpenCl.CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "custom";
    }

    /** Returns its abilities as text. */
    public List<String> abilities() {
        List<String> abilities = new ArrayList<>();
        if (!claimsSsg()) {
            abilities.add("no " + Ssg.EXTENSION);
        }
        if (sharesHostMemory) {
            abilities.add("map");
        }
        abilities.add("staged");
        abilities.add("buffers of up to " + (mostBytes >> 20) + " MiB");
        return abilities;
    }

    @Override
    public String toString() {
        return "device " + index + ": " + name + ", " + kind() + ", OpenCL " + version / 100 + "." + version / 10 % 10
                + ", " + (bytes >> 20) + " MiB" + (sharesHostMemory ? " shared with the host" : "") + ", "
                + platform.name();
    }
}
