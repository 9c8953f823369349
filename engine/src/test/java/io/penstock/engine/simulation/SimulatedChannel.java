// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.simulation.Operation.Descriptor;
import io.penstock.engine.simulation.Operation.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/** A file channel on a simulated file: calls take their time, and answer as the JDK's calls may. */
final class SimulatedChannel extends FileChannel {

    private static final long END = -1; // of the file, which a read of 0 bytes says

    private final SimulatedKernel kernel;
    private final World world;
    private final int fd;
    private final Descriptor descriptor;
    private final SimulatedFile file;
    private int running; // calls

    SimulatedChannel(SimulatedKernel kernel, int fd) {
        this.kernel = kernel;
        this.world = kernel.world;
        this.fd = fd;
        Descriptor open = kernel.files.descriptor(fd);
        if (open == null) {
            throw new IllegalArgumentException(fd + " is not open");
        }
        descriptor = open;
        file = open.file;
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        long count = call(IoUring.IORING_OP_READ, target, position);
        if (count == END) {
            return -1;
        }
        target.position(target.position() + (int) count);
        return (int) count;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        enter();
        if (!world.isOnFiber()) { // not a queue's: of the engine's own memory
            byte[] bytes = new byte[source.remaining()];
            source.get(bytes);
            return file.write(position, bytes, source, bytes.length);
        }
        int count = (int) call(IoUring.IORING_OP_WRITE, source, position);
        source.position(source.position() + count);
        return count;
    }

    @Override
    public void force(boolean metadata) throws IOException {
        call(IoUring.IORING_OP_FSYNC, null, 0);
    }

    private long call(byte opcode, @Nullable ByteBuffer buffer, long position) throws IOException {
        enter();
        int bytes = buffer == null ? 0 : buffer.remaining();
        long address = buffer == null ? 0 : NativeMemory.address(buffer) + buffer.position();
        long result;
        running++;
        do {
            result = kernel.call(opcode, descriptor, new Extent(position, bytes), address, this::errorNoted);
        } while (result == -Errno.EINTR); // as the JDK does
        running--;
        if (result == 0 && bytes > 0) {
            return END;
        }
        return result == -Errno.EAGAIN ? 0 : orThrow(result); // as the JDK does, too
    }

    private void errorNoted(SimulatedFile of, int errno) {
        kernel.errorNoted(of, errno == Errno.ECANCELED ? 0 : errno);
    }

    private static long orThrow(long result) throws IOException {
        if (result >= 0) {
            return result;
        }
        throw switch ((int) -result) {
            case Errno.ENOSPC -> new IOException("No space left on device");
            case Errno.EINVAL -> new IOException("Invalid argument");
            case Errno.EIO -> new IOException("Input/output error");
            default -> new IOException("Operation aborted"); // an unknown message
        };
    }

    /** What every call does first: a thread that is interrupted closes the channel. */
    private void enter() throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            close();
            throw new ClosedByInterruptException();
        }
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    protected void implCloseChannel() throws IOException {
        if (running > 0) {
            throw new Violation("201: a file is closed while " + running + " calls use it");
        }
        orThrow(kernel.files.close(fd));
    }

    @Override
    public long size() throws IOException {
        enter();
        if (kernel.files.refused(file) == 0) {
            return file.length;
        }
        file.keepsPadding = true; // perhaps: who cuts a file asks for its length first
        return orThrow(-Errno.EIO);
    }

    @Override
    public FileChannel truncate(long bytes) throws IOException {
        enter();
        if (bytes < file.length) {
            orThrow(kernel.files.truncate(fd, bytes));
        }
        return this;
    }

    @Override
    public int read(ByteBuffer target) {
        throw new Violation("read was not simulated");
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
        throw new Violation("read was not simulated");
    }

    @Override
    public int write(ByteBuffer source) {
        throw new Violation("write was not simulated");
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        throw new Violation("write was not simulated");
    }

    @Override
    public long position() {
        throw new Violation("position was not simulated");
    }

    @Override
    public FileChannel position(long position) {
        throw new Violation("position was not simulated");
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
        throw new Violation("transferTo was not simulated");
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new Violation("transferFrom was not simulated");
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new Violation("map was not simulated");
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw new Violation("lock was not simulated");
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
        throw new Violation("tryLock was not simulated");
    }
}
