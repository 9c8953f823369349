// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.simulation.Operation.Descriptor;
import io.penstock.engine.simulation.Operation.Extent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The files of the kernel, by name, and the descriptors that are open. */
final class SimulatedFiles implements FileCalls {
    private static final int STATX_BYTES = 256;

    private final Map<String, SimulatedFile> files = new HashMap<>();
    private final Map<Integer, Descriptor> open = new HashMap<>();
    private static final AtomicInteger INODES =
            new AtomicInteger(); // an I/O queue that broke leaves what it knows of a file

    private int nextFd = 1000;
    private Function<SimulatedFile, Integer> refusal = file -> 0;
    private @Nullable SimulatedKernel kernel;
    private BooleanSupplier closeFails = () -> false;

    @Override
    public long fileSystem(int fd, ByteBuffer statfs) {
        return 0xEF53; // ext4
    }

    SimulatedFile make(String name, int fileAlignment, int memoryAlignment, byte[] content) {
        SimulatedFile file = new SimulatedFile(name, INODES.incrementAndGet(), fileAlignment, memoryAlignment, content);
        files.put(name, file);
        return file;
    }

    /**
     * Sets what answers an errno where a call on a file is to fail, and 0 where not; and what says whether a close
     * answers EIO.
     */
    void refuse(Function<SimulatedFile, Integer> refusal, BooleanSupplier closeFails) {
        this.refusal = refusal;
        this.closeFails = closeFails;
    }

    /** Sets who has calls take their time. */
    void blockingCalls(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    @Nullable
    SimulatedFile named(String name) {
        return files.get(name);
    }

    /** Returns the errno that a call on a file is to fail with now, or 0. */
    int refused(SimulatedFile file) {
        return refusal.apply(file);
    }

    /** Opens a file for a channel. */
    int open(SimulatedFile file, boolean direct) {
        open.put(nextFd, new Descriptor(file, direct));
        return nextFd++;
    }

    @Nullable
    Descriptor descriptor(int fd) {
        return open.get(fd);
    }

    int openCount() {
        return open.size();
    }

    @Override
    public int open(byte[] path, int flags, int mode) {
        SimulatedFile file = files.get(new String(path, 1, path.length - 2, StandardCharsets.UTF_8));
        if (file == null) {
            return -Errno.ENOENT;
        }
        int refused = refusal.apply(file);
        if (refused != 0) {
            return -refused;
        }
        return open(file, (flags & LibC.O_DIRECT) != 0);
    }

    @Override
    public int status(int fd, int mask, long emptyPath, long statx) {
        Descriptor descriptor = open.get(fd);
        if (descriptor == null) {
            return -Errno.EBADF;
        }
        SimulatedFile file = descriptor.file;
        int refused = refusal.apply(file);
        if (refused != 0) {
            return -refused;
        }
        ByteBuffer answer = NativeMemory.view(statx, STATX_BYTES);
        answer.putInt(0, 0x27ff).putShort(0x1c, (short) 0x81a4).putLong(0x20, file.inode);
        answer.putLong(0x28, file.length).putInt(0x88, 1).putInt(0x8c, 1);
        answer.putInt(0x98, file.memoryAlignment).putInt(0x9c, file.fileAlignment);
        return 0;
    }

    @Override
    public long seekEnd(int fd) {
        throw new Violation("a block device was not simulated");
    }

    @Override
    public int truncate(int fd, long bytes) {
        Descriptor descriptor = open.get(fd);
        if (descriptor == null) {
            return -Errno.EBADF;
        }
        int refused = refusal.apply(descriptor.file);
        if (refused != 0) {
            descriptor.file.keepsPadding = true;
            return -refused;
        }
        descriptor.file.truncate(bytes);
        return 0;
    }

    @Override
    public int allocate(int fd, long offset, long bytes) {
        throw new Violation("preallocation was not simulated");
    }

    @Override
    public long read(int fd, long address, long bytes, long offset) {
        return call(IoUring.IORING_OP_READ, fd, new Extent(offset, (int) bytes), address);
    }

    @Override
    public long write(int fd, long address, long bytes, long offset) {
        return call(IoUring.IORING_OP_WRITE, fd, new Extent(offset, (int) bytes), address);
    }

    @Override
    public int syncData(int fd) {
        return (int) call(IoUring.IORING_OP_FSYNC, fd, new Extent(0, 0), 0);
    }

    private long call(byte opcode, int fd, Extent extent, long address) {
        Descriptor descriptor = open.get(fd);
        SimulatedKernel waits = kernel;
        if (descriptor == null || waits == null) {
            throw new Violation("201: a call on a file that is closed");
        }
        return waits.call(opcode, descriptor, extent, address, waits::errorNoted);
    }

    @Override
    public int close(int fd) {
        Descriptor closed = open.remove(fd);
        if (closed == null) {
            throw new Violation(
                    "601: descriptor " + fd + " is closed twice; its number may belong to another file by now");
        }
        return closeFails.getAsBoolean() ? -Errno.EIO : 0; // closed all the same
    }
}
