// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.ErrnoException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The descriptors by which a device is opened.
 *
 * <p><b>Ownership:</b> owns them; {@link #close} closes each once, the last opened first.
 *
 * <p><b>Errors:</b> {@link ErrnoException} with the call, and the device or the file.
 */
final class Descriptors {

    private final Kernel kernel;
    private final String device;
    private final Deque<Integer> open = new ArrayDeque<>();

    /**
     * Creates it, with no descriptor.
     *
     * @param device the device's name, for messages
     */
    Descriptors(Kernel kernel, String device) {
        this.kernel = kernel;
        this.device = device;
    }

    /** Opens a file for reading and writing, and returns its descriptor. */
    int open(String path) throws ErrnoException {
        return keep(checked(kernel.open(path), "opening of " + path, "open"));
    }

    /** Takes over a descriptor, and returns it. */
    int keep(int descriptor) {
        open.push(descriptor);
        return descriptor;
    }

    int ioctl(int fd, int request, long number, String name) throws ErrnoException {
        return checked(kernel.ioctl(fd, request, number), "opening of " + device, name);
    }

    int ioctl(int fd, int request, ByteBuffer structure, String name) throws ErrnoException {
        return checked(kernel.ioctl(fd, request, structure), "opening of " + device, name);
    }

    /** As {@link #ioctl}, of a device that is open: its caller names what failed. */
    void change(int fd, int request, ByteBuffer structure, String name) throws ErrnoException {
        checked(kernel.ioctl(fd, request, structure), "", name);
    }

    private static int checked(int result, String what, String call) throws ErrnoException {
        if (result < 0) {
            throw new ErrnoException(what, call, -result);
        }
        return result;
    }

    void close() {
        while (!open.isEmpty()) {
            kernel.close(open.pop());
        }
    }
}
