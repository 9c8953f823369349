// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A ring's table of files and its table of buffers, which spare the kernel a look-up and a page walk per operation.
 *
 * <p><b>Result:</b> 0, or {@code -errno}: a table is an optimization, and whoever is refused goes on without.
 *
 * <p><b>Threading:</b> any thread; the kernel orders updates with submissions, and after the ring has been closed they
 * answer EBADF. A slot may be changed while operations on its old content are in flight: those keep it.
 *
 * <p><b>Ownership:</b> a file in the table stays open, and a buffer locked in memory, until the slot is cleared or
 * the ring is closed, whatever becomes of the descriptor or the mapping meanwhile.
 */
public final class RingRegistration {
    /** The kernel's limit to one buffer. */
    public static final long MAX_BUFFER_BYTES = 1L << 30;

    private static final int UPDATE_BYTES = 32;

    private final Kernel kernel;
    private final int fd;
    private boolean closed; // guarded by this

    RingRegistration(Kernel kernel, int fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    /** Makes a table of {@code slots} files, all empty; limited by {@code ulimit -n}. */
    public int makeFileTable(int slots) {
        // An array of -1 is an empty table to every kernel since 5.5; the flag for it came with 5.19.
        ByteBuffer empty = allocate(slots * Integer.BYTES);
        for (int i = 0; i < slots; i++) {
            empty.putInt(i * Integer.BYTES, -1);
        }
        return register(IoUring.IORING_REGISTER_FILES, empty, slots);
    }

    /** Puts {@code file} into {@code slot}; -1 clears it. */
    public int updateFile(int slot, int file) {
        ByteBuffer update = allocate(UPDATE_BYTES);
        update.putInt(16, file);
        update.putInt(0, slot).putLong(8, NativeMemory.address(update) + 16);
        int answer = register(IoUring.IORING_REGISTER_FILES_UPDATE, update, 1);
        return Math.min(answer, 0); // how many slots were updated
    }

    /** Makes a table of {@code slots} buffers, all empty; kernels before 5.19 refuse. */
    public int makeBufferTable(int slots) {
        ByteBuffer table = allocate(UPDATE_BYTES);
        table.putInt(0, slots).putInt(4, IoUring.IORING_RSRC_REGISTER_SPARSE);
        return register(IoUring.IORING_REGISTER_BUFFERS2, table, UPDATE_BYTES);
    }

    /** Puts memory of at most {@link #MAX_BUFFER_BYTES} into {@code slot}; address and length 0 clear it. */
    public int updateBuffer(int slot, long address, long length) {
        ByteBuffer update = allocate(UPDATE_BYTES + 16);
        update.putLong(UPDATE_BYTES, address).putLong(UPDATE_BYTES + 8, length); // struct iovec
        update.putInt(0, slot).putLong(8, NativeMemory.address(update) + UPDATE_BYTES);
        update.putInt(24, 1);
        return Math.min(register(IoUring.IORING_REGISTER_BUFFERS_UPDATE, update, UPDATE_BYTES), 0);
    }

    /** Returns whether the kernel knows all of {@code opcodes}; false too where it cannot be asked. */
    boolean supports(byte... opcodes) {
        int count = 256;
        ByteBuffer probe = allocate(16 + 8 * count);
        if (register(IoUring.IORING_REGISTER_PROBE, probe, count) < 0) {
            return false;
        }
        for (byte opcode : opcodes) {
            if ((probe.getShort(16 + 8 * opcode + 2) & IoUring.IO_URING_OP_SUPPORTED) == 0) {
                return false;
            }
        }
        return true;
    }

    /** Refuses all that comes later: the ring's descriptor may then be anybody's. */
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
