// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.kernel;

/**
 * The system calls that a ring makes; a simulated kernel implements them over the same memory.
 *
 * <p><b>Result:</b> the return value of the call, or {@code -errno}; no method throws or allocates.
 *
 * <p><b>Threading:</b> thread-safe, as system calls are. One rule of the kernel: operations belong to the thread that
 * submitted them, and are cancelled when that thread ends.
 */
public interface Kernel {

    /** Returns whether these calls are available on this platform; called once, before any other method. */
    RingAvailability platform();

    /** Creates a ring from the {@code struct io_uring_params} at {@code params}; returns its descriptor. */
    int ioUringSetup(int entries, long params);

    /** Submits and waits; returns the number of submissions consumed. */
    int ioUringEnter(int fd, int submit, int minComplete, int flags, long argument, long argumentBytes);

    /** Registers files or buffers with the ring, or queries its features. */
    int ioUringRegister(int fd, int opcode, long argument, int count);

    /** Returns the value of {@code kernel.io_uring_disabled}: 0, 1, 2, or -1 if there is no such setting. */
    int ioUringDisabled();

    /** Maps a part of the ring, shared with the kernel; returns its address. */
    long map(int fd, long length, long offset);

    int unmap(long address, long length);

    /** Waits for the {@code struct pollfd} at {@code pollfd}; returns 1, or 0 after a timeout. */
    int poll(long pollfd, int timeoutMillis);

    /** Creates a counter that a ring can read and any thread can write; it never blocks its writers. */
    int eventfd();

    /** Adds 1 to the counter, which completes a pending read of it. */
    int eventfdSignal(int eventfd);

    int close(int fd);

    /** Returns the calls on files: the system's, unless the files are simulated too. */
    default FileCalls files() {
        return FileCalls.LINUX;
    }
}
