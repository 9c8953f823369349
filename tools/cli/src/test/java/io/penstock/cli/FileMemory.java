// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Capabilities;
import io.penstock.FenceSupport;
import io.penstock.PeerExport;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * A device whose memory the processor does not reach, as a GPU: files in memory, which it exports. They are in the
 * place of dma-bufs, or are wrapped into them by the kernel ({@code /dev/udmabuf}), or are dma-bufs already. Every
 * buffer starts at byte 4096 + 512 of the file, but at the first of a dma-buf.
 */
final class FileMemory implements DeviceDriver, AutoCloseable {

    private static final int OFFSET = 4096 + 512;
    private static final long SYS_MEMFD_CREATE = 319; // of x86-64, the guest's
    private static final int ALLOW_SEALING = 2;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_SHRINK = 2;
    private static final long SYS_FCNTL = 72;
    private static final int UDMABUF_CREATE = 0x4018_7542; // _IOW('u', 0x42, struct udmabuf_create)

    private final int file;
    private final long bytes;
    private final int offset;
    private int exported;

    FileMemory(long bytes) throws ErrnoException {
        this.bytes = bytes;
        this.offset = OFFSET;
        ByteBuffer name = ByteBuffer.allocateDirect(8).put("memory".getBytes(StandardCharsets.US_ASCII));
        try {
            file = (int) checked(
                    "memfd_create",
                    LibC.syscall(SYS_MEMFD_CREATE, NativeMemory.address(name), ALLOW_SEALING, 0, 0, 0, 0));
        } finally {
            Reference.reachabilityFence(name);
        }
        checked("ftruncate", LibC.ftruncate(file, bytes));
        exported = file;
    }

    /** Exports a dma-buf, which it closes. */
    FileMemory(int dmaBuf, long bytes) {
        this.file = dmaBuf;
        this.bytes = bytes;
        this.offset = 0;
        this.exported = dmaBuf;
    }

    private static long checked(String call, long result) throws ErrnoException {
        if (LibC.orErrno(result) < 0) {
            throw new ErrnoException(call, (int) -LibC.orErrno(result));
        }
        return result;
    }

    /** From now on the file is exported as a dma-buf, which the kernel makes. */
    void becomeDmaBuf() throws ErrnoException {
        checked("fcntl", LibC.syscall(SYS_FCNTL, file, F_ADD_SEALS, F_SEAL_SHRINK, 0, 0, 0));
        byte[] path = "/dev/udmabuf\0".getBytes(StandardCharsets.US_ASCII);
        int maker = (int) checked("open", LibC.open(path, LibC.O_RDWR | LibC.O_CLOEXEC, 0));
        ByteBuffer create = ByteBuffer.allocateDirect(24)
                .order(ByteOrder.nativeOrder())
                .putInt(0, file)
                .putLong(16, bytes);
        try {
            exported = (int) checked("UDMABUF_CREATE", LibC.ioctl(maker, UDMABUF_CREATE, NativeMemory.address(create)));
        } finally {
            Reference.reachabilityFence(create);
            LibC.close(maker);
        }
    }

    /** Returns the first bytes of every buffer. */
    ByteBuffer read(int length) throws ErrnoException {
        ByteBuffer found = ByteBuffer.allocateDirect(length);
        checked("pread", LibC.pread(file, NativeMemory.address(found), length, OFFSET));
        return found;
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities("files in memory", false, Set.of(), FenceSupport.HOST_ONLY, false, false, Set.of());
    }

    @Override
    public DeviceMemory allocate(long length) {
        return new Memory(length);
    }

    @Override
    public void close() {
        if (exported != file) {
            LibC.close(exported);
            exported = file;
        }
        LibC.close(file);
    }

    private final class Memory implements DeviceMemory {

        private final long length;

        Memory(long length) {
            this.length = length;
        }

        @Override
        public long bytes() {
            return length;
        }

        @Override
        public long nativeHandle() {
            return 1;
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public PeerExport exportPeer() {
            return new Export(exported, offset, bytes, 4096, 4096, Mono.empty());
        }

        @Override
        public void free() {
            // all are parts of the file
        }
    }

    /** The whole file. */
    private record Export(int descriptor, long offset, long bytes, long pageBytes, long alignment, Mono<Void> released)
            implements PeerExport {

        @Override
        public void close() {
            // the file is closed with the device
        }
    }
}
