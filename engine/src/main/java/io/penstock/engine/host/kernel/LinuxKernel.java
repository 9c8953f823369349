// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.kernel;

import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** The kernel that this process runs on. */
public final class LinuxKernel implements Kernel {
    public static final LinuxKernel INSTANCE = new LinuxKernel();

    private static final Path IO_URING_DISABLED = Path.of("/proc/sys/kernel/io_uring_disabled");

    private LinuxKernel() {}

    @Override
    public RingAvailability platform() {
        return Platform.AVAILABILITY;
    }

    @Override
    public int ioUringSetup(int entries, long params) {
        return (int) LibC.orErrno(LibC.syscall(LibC.SYS_IO_URING_SETUP, entries, params, 0, 0, 0, 0));
    }

    @Override
    public int ioUringEnter(int fd, int submit, int minComplete, int flags, long argument, long argumentBytes) {
        return (int) LibC.orErrno(
                LibC.syscall(LibC.SYS_IO_URING_ENTER, fd, submit, minComplete, flags, argument, argumentBytes));
    }

    @Override
    public int ioUringRegister(int fd, int opcode, long argument, int count) {
        return (int) LibC.orErrno(LibC.syscall(LibC.SYS_IO_URING_REGISTER, fd, opcode, argument, count, 0, 0));
    }

    @Override
    public int ioUringDisabled() {
        try {
            return Integer.parseInt(Files.readString(IO_URING_DISABLED).trim());
        } catch (IOException | NumberFormatException absent) {
            return -1;
        }
    }

    @Override
    public long map(int fd, long length, long offset) {
        int flags = LibC.MAP_SHARED | LibC.MAP_POPULATE;
        return LibC.orErrno(LibC.mmap(0, length, LibC.PROT_READ_WRITE, flags, fd, offset));
    }

    @Override
    public int unmap(long address, long length) {
        return LibC.orErrno(LibC.munmap(address, length));
    }

    @Override
    public int poll(long pollfd, int timeoutMillis) {
        return LibC.orErrno(LibC.poll(pollfd, 1, timeoutMillis));
    }

    @Override
    public int eventfd() {
        // Not EFD_NONBLOCK: io_uring would complete a pending read with EAGAIN instead of waiting for the signal.
        return LibC.orErrno(LibC.eventfd(0, LibC.EFD_CLOEXEC));
    }

    @Override
    public int eventfdSignal(int eventfd) {
        return (int) LibC.orErrno(LibC.write(eventfd, Signal.ADDRESS, Long.BYTES));
    }

    @Override
    public int close(int fd) {
        return LibC.orErrno(LibC.close(fd));
    }

    /** Loads JNA and the C library once, and only on supported platforms. */
    private static final class Platform {
        static final RingAvailability AVAILABILITY = find();

        private static RingAvailability find() {
            if (!Machine.IS_LINUX) {
                return new RingAvailability(RingAvailability.Reason.NOT_LINUX, Machine.operatingSystem());
            }
            if (!Machine.isSupported()) {
                return new RingAvailability(RingAvailability.Reason.UNSUPPORTED_ARCHITECTURE, Machine.architecture());
            }
            try {
                LibC.getpid();
                return RingAvailability.AVAILABLE;
            } catch (LinkageError absent) {
                NativeAccess access = NativeAccess.of(absent);
                return new RingAvailability(RingAvailability.Reason.NO_NATIVE_ACCESS, access.cause(), access.remedy());
            }
        }
    }

    /** The number 1 in native memory, which the kernel reads. */
    private static final class Signal {
        // Keeps the memory alive: the address below is valid as long as this field is set.
        private static final ByteBuffer ONE = ByteBuffer.allocateDirect(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(0, 1);
        static final long ADDRESS = NativeMemory.address(ONE);
    }
}
