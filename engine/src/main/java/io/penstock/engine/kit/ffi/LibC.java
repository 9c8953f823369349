// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;

/**
 * The C library of 64-bit Linux, called directly.
 *
 * <p><b>Errors:</b> every function returns -1 and sets {@code errno}; {@link #orErrno} combines the two into one
 * number. Sizes, offsets and pointers are {@code long}: the class is for 64-bit processes only, see
 * {@link Machine#isSupported}. {@code open}, {@code ioctl} and {@code syscall} are variadic in C; the calling
 * conventions of x86-64, AArch64 and RISC-V pass the integers of a variadic call like the integers of any other call.
 */
public final class LibC {
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0x40;
    public static final int O_EXCL = 0x80;
    public static final int O_TRUNC = 0x200;
    public static final int O_NOCTTY = 0x100;
    public static final int O_NONBLOCK = 0x800;
    public static final int O_CLOEXEC = 0x80000;
    /** Of a folder that names are opened from: it need not be readable. */
    public static final int O_PATH = 0x200000;
    /** AArch64 kept the number of 32-bit ARM. */
    public static final int O_DIRECT = Machine.IS_AARCH64 ? 0x10000 : 0x4000;

    public static final int SEEK_END = 2;

    public static final int PROT_READ = 1;
    public static final int PROT_READ_WRITE = 3;
    public static final int MAP_SHARED = 1;
    public static final int MAP_PRIVATE = 2;
    public static final int MAP_ANONYMOUS = 0x20;
    public static final int MAP_POPULATE = 0x8000;
    public static final int MADV_FREE = 8;
    public static final int MADV_HUGEPAGE = 14;

    public static final int EFD_CLOEXEC = 0x80000;
    public static final short POLLIN = 1;

    /** io_uring came after the system call tables of all architectures had been aligned. */
    public static final long SYS_IO_URING_SETUP = 425;

    public static final long SYS_IO_URING_ENTER = 426;
    public static final long SYS_IO_URING_REGISTER = 427;

    // By number: glibc has gettid only since 2.30, and one missing symbol would fail the whole class.
    private static final long SYS_STATX = Machine.IS_X86_64 ? 332 : 291;
    private static final long SYS_PREADV2 = Machine.IS_X86_64 ? 327 : 286;
    private static final long SYS_GETTID = Machine.IS_X86_64 ? 186 : 178;
    private static final long SYS_PRCTL = Machine.IS_X86_64 ? 157 : 167;
    private static final int PR_SET_TIMERSLACK = 29;
    private static final int PR_GET_TIMERSLACK = 30;
    private static final int SC_PAGESIZE = 30;
    private static final int SC_PHYS_PAGES = 85;

    static {
        // The process' own symbols rather than "libc.so.6": correct for musl too, and never the linker script libc.so.
        Native.register(LibC.class, NativeLibrary.getProcess());
    }

    private LibC() {}

    /** Returns {@code result}, or {@code -errno} if it is -1; to be called before any other native call. */
    public static long orErrno(long result) {
        return result == -1 ? -Native.getLastError() : result;
    }

    /** As {@link #orErrno(long)}, for functions that return an {@code int}. */
    public static int orErrno(int result) {
        return result == -1 ? -Native.getLastError() : result;
    }

    /** Fills the {@code struct statx} at {@code statx}; an empty path and AT_EMPTY_PATH mean {@code fd} itself. */
    public static int statx(int fd, int mask, long emptyPath, long statx) {
        int atEmptyPath = 0x1000;
        return (int) syscall(SYS_STATX, fd, emptyPath, atEmptyPath, mask, statx, 0);
    }

    /** Reads into the {@code struct iovec} at {@code iovec}, and does not wait for a disk. */
    static long readNow(int fd, long iovec, long offset) {
        int nowait = 0x8; // RWF_NOWAIT
        return syscall(SYS_PREADV2, fd, iovec, 1, offset, 0, nowait);
    }

    public static int gettid() {
        return (int) syscall(SYS_GETTID, 0, 0, 0, 0, 0, 0);
    }

    /** Sets the timer slack of the calling thread in nanoseconds, at least 1. */
    static void setTimerSlack(long nanos) {
        syscall(SYS_PRCTL, PR_SET_TIMERSLACK, nanos, 0, 0, 0, 0);
    }

    /** Returns by how much the kernel may prolong sleeps of the calling thread. */
    static long timerSlackNanos() {
        return syscall(SYS_PRCTL, PR_GET_TIMERSLACK, 0, 0, 0, 0, 0);
    }

    public static long pageSize() {
        return sysconf(SC_PAGESIZE);
    }

    /** Returns the physical memory of the machine in bytes. */
    public static long physicalMemoryBytes() {
        return sysconf(SC_PHYS_PAGES) * pageSize();
    }

    public static native long syscall(long number, long a, long b, long c, long d, long e, long f);

    /** Opens {@code path}, which ends with a zero byte. */
    public static native int open(byte[] path, int flags, int mode);

    public static native int close(int fd);

    /** The argument is a number or an address, as the request has it. */
    public static native int ioctl(int fd, long request, long argument);

    public static native long read(int fd, long buffer, long count);

    public static native long write(int fd, long buffer, long count);

    public static native long pread(int fd, long buffer, long count, long offset);

    public static native long pwrite(int fd, long buffer, long count, long offset);

    public static native long lseek(int fd, long offset, int whence);

    /** Fills the {@code struct statfs} at {@code statfs}, of 120 bytes. */
    public static native int fstatfs(int fd, long statfs);

    public static native int ftruncate(int fd, long length);

    public static native int fallocate(int fd, int mode, long offset, long length);

    public static native int fsync(int fd);

    public static native int fdatasync(int fd);

    public static native long mmap(long address, long length, int protection, int flags, int fd, long offset);

    public static native int munmap(long address, long length);

    /** Sets a byte for each page, whose lowest bit says whether it is in memory. */
    public static native int mincore(long address, long length, byte[] pages);

    public static native int madvise(long address, long length, int advice);

    public static native int eventfd(int initial, int flags);

    public static native int poll(long fds, long count, int timeoutMillis);

    public static native int getpid();

    /** The calling thread if {@code thread} is 0; {@code mask} has a bit for each processor. */
    static native int sched_getaffinity(int thread, long maskBytes, byte[] mask);

    static native int sched_setaffinity(int thread, long maskBytes, byte[] mask);

    public static native long sysconf(int name);
}
