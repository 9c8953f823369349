// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A ring's table of files and its table of buffers, which save the kernel a look-up and a page walk per operation.
 *
 * <p><b>Result:</b> 0, or {@code -errno}: a table is an optimization, and a caller that is refused continues without
 * it.
 *
 * <p><b>Threading:</b> any thread; the kernel orders updates with submissions, and after the ring has been closed they
 * return EBADF. An index may be changed while operations on its old content are in flight: these operations keep it.
 *
 * <p><b>Ownership:</b> a file in the table stays open, and a buffer locked in memory, until the index is cleared or the
 * ring is closed, even if the descriptor is closed or the mapping unmapped meanwhile.
 */
public final class RingRegistration {
    /** The kernel's size limit of one buffer. */
    public static final long MAX_BUFFER_BYTES = 1L << 30;

    private static final int UPDATE_BYTES = 32;

    private final Kernel kernel;
    private final int fd;
    private boolean closed; // guarded by this

    public RingRegistration(Kernel kernel, int fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    /** Creates a table of {@code entries} files, all empty; limited by {@code ulimit -n}. */
    public int makeFileTable(int entries) {
        // An array of -1 is an empty table on every kernel since 5.5; the flag for it was added in 5.19.
        ByteBuffer empty = allocate(entries * Integer.BYTES);
        for (int i = 0; i < entries; i++) {
            empty.putInt(i * Integer.BYTES, -1);
        }
        return register(IoUring.IORING_REGISTER_FILES, empty, entries);
    }

    /** Registers {@code file} at {@code index}; -1 clears it. */
    public int updateFile(int index, int file) {
        ByteBuffer update = allocate(UPDATE_BYTES);
        update.putInt(16, file);
        update.putInt(0, index).putLong(8, NativeMemory.address(update) + 16);
        int answer = register(IoUring.IORING_REGISTER_FILES_UPDATE, update, 1);
        return Math.min(answer, 0); // the number of updated indexes
    }

    /** Creates a table of {@code entries} buffers, all empty; kernels before 5.19 refuse. */
    public int makeBufferTable(int entries) {
        ByteBuffer table = allocate(UPDATE_BYTES);
        table.putInt(0, entries).putInt(4, IoUring.IORING_RSRC_REGISTER_SPARSE);
        return register(IoUring.IORING_REGISTER_BUFFERS2, table, UPDATE_BYTES);
    }

    /** Registers memory of at most {@link #MAX_BUFFER_BYTES} at {@code index}; address and length 0 clear it. */
    public int updateBuffer(int index, long address, long length) {
        ByteBuffer update = allocate(UPDATE_BYTES + 16);
        update.putLong(UPDATE_BYTES, address).putLong(UPDATE_BYTES + 8, length); // struct iovec
        update.putInt(0, index).putLong(8, NativeMemory.address(update) + UPDATE_BYTES);
        update.putInt(24, 1);
        return Math.min(register(IoUring.IORING_REGISTER_BUFFERS_UPDATE, update, UPDATE_BYTES), 0);
    }

    /** Limits how many kernel workers the thread that submits to the ring has, for files and for all else. */
    public void limitWorkers(int most) {
        ByteBuffer counts = allocate(2 * Integer.BYTES).putInt(0, most).putInt(Integer.BYTES, most);
        register(IoUring.IORING_REGISTER_IOWQ_MAX_WORKERS, counts, 2);
    }

    /**
     * Returns true if the kernel supports all of {@code opcodes}.
     *
     * @throws ErrnoException if it cannot be queried
     */
    boolean supports(byte... opcodes) throws ErrnoException {
        int count = 256;
        ByteBuffer probe = allocate(16 + 8 * count);
        int answer = register(IoUring.IORING_REGISTER_PROBE, probe, count);
        if (answer < 0) {
            throw new ErrnoException("io_uring_register", -answer);
        }
        for (byte opcode : opcodes) {
            if ((probe.getShort(16 + 8 * opcode + 2) & IoUring.IO_URING_OP_SUPPORTED) == 0) {
                return false;
            }
        }
        return true;
    }

    /** Refuses all later calls: the ring's descriptor may then be reused. */
    synchronized void close() {
        closed = true;
    }

    private synchronized int register(int opcode, ByteBuffer argument, int count) {
        if (closed) {
            return -Errno.EBADF;
        }
        try {
            return kernel.ioUringRegister(fd, opcode, NativeMemory.address(argument), count);
        } finally {
            Reference.reachabilityFence(argument);
        }
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }
}
