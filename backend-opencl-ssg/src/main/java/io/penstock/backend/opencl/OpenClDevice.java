// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A device as its driver describes it.
 *
 * @param index its number among all devices of all platforms, from 0
 * @param handle the cl_device_id
 * @param platform whose it is
 * @param name the vendor's name of the model
 * @param version of OpenCL, such as 300 for 3.0
 * @param type bits, as the vendor's CL_DEVICE_TYPE
 * @param bytes its memory
 * @param mostBytes the largest buffer
 * @param sharesHostMemory whether the processor's memory is the device's own
 * @param queues what its command queues can do, bits as the vendor's CL_QUEUE_...
 * @param available whether it can be used now
 * @param extensions that it says it has
 */
record OpenClDevice(
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

    /** The oldest version that this backend takes: 1.2. */
    static final int OLDEST = 120;

    /**
     * Asks the driver, which needs no context for this.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    static OpenClDevice of(int index, long handle, OpenClPlatform platform) {
        Info info = new Info(
                "OpenCL device " + index,
                "clGetDeviceInfo",
                (name, bytes, value, length) -> OpenCl.clGetDeviceInfo(handle, name, bytes, value, length));
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

    /** Returns why it cannot be used, or an empty string. */
    String whyNot() {
        if (!available) {
            return this + " is not available now";
        }
        return version < OLDEST ? this + " is too old: OpenCL 1.2 is needed" : "";
    }

    /** Returns whether it is more than a program on the host's processor. */
    boolean isHardware() {
        return (type & OpenCl.CL_DEVICE_TYPE_CPU) == 0;
    }

    /** Returns whether it says that it has AMD's SSG extension; drivers are known to say so in error. */
    boolean claimsSsg() {
        return claims(Ssg.EXTENSION);
    }

    /** Returns whether it says that it has an extension. */
    boolean claims(String extension) {
        return extensions.contains(extension) || platform.extensions().contains(extension);
    }

    /** Returns what a queue is to be made with that runs what is ready, in whatever order; 0 where there are none. */
    long orderlessQueues() {
        return queues & OpenCl.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    }

    /** Returns its type in words. */
    String kind() {
        if ((type & OpenCl.CL_DEVICE_TYPE_GPU) != 0) {
            return "gpu";
        }
        if ((type & OpenCl.CL_DEVICE_TYPE_ACCELERATOR) != 0) {
            return "accelerator";
        }
        return (type & OpenCl.CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "custom";
    }

    /** Returns what it can do, in words. */
    List<String> abilities() {
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
