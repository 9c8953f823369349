// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import java.nio.file.Path;

/** Descriptors as the application opens them, and their handles. */
final class OpenFiles {

    static final int READ = 0;
    static final int WRITE = 1;
    static final int READ_WRITE = 2;
    static final int APPEND = 02000;
    static final int DIRECT = 040000;

    static {
        Native.register(OpenFiles.class, "c");
    }

    private OpenFiles() {}

    static native int open(String path, int flags, int mode);

    static native int close(int fd);

    static native int setenv(String name, String value, int overwrite);

    static native int unsetenv(String name);

    static native long read(int fd, byte[] bytes, long count);

    static int open(Path path, int flags) {
        int fd = open(path.toString(), flags, 0);
        assertThat(fd).as("descriptor of %s", path).isNotNegative();
        return fd;
    }

    /** Registers a descriptor, and returns the error. */
    static int register(int fd, long[] handle) {
        try (Memory descriptor = new Memory(24)) {
            descriptor.clear();
            descriptor.setInt(0, 1);
            descriptor.setInt(8, fd);
            return (int) CufileAbi.cuFileHandleRegister(handle, descriptor);
        }
    }

    static long register(int fd) {
        long[] handle = new long[1];
        ok(register(fd, handle));
        return handle[0];
    }
}
