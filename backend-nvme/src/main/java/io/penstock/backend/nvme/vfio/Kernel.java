// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The system calls by which a device is opened and its memory is mapped; each returns a result, or {@code -errno}. */
interface Kernel {

    /** The kernel of this machine. */
    Kernel LINUX = new Kernel() {

        @Override
        public int open(String path) {
            byte[] name = (path + '\0').getBytes(StandardCharsets.US_ASCII);
            return LibC.orErrno(LibC.open(name, LibC.O_RDWR | LibC.O_CLOEXEC, 0));
        }

        @Override
        public int ioctl(int fd, int request, long number) {
            return LibC.orErrno(LibC.ioctl(fd, request, number));
        }

        @Override
        public int ioctl(int fd, int request, ByteBuffer structure) {
            try {
                return ioctl(fd, request, NativeMemory.address(structure));
            } finally {
                Reference.reachabilityFence(structure);
            }
        }

        @Override
        public void close(int fd) {
            LibC.close(fd);
        }
    };

    /** Opens a file for reading and writing. */
    int open(String path);

    int ioctl(int fd, int request, long number);

    int ioctl(int fd, int request, ByteBuffer structure);

    void close(int fd);
}
