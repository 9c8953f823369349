// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.backend.opencl.ffi.WideName;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@code cl_file_amd}: a file as the driver saw it when it was opened, for reading or for writing.
 *
 * <p><b>Ownership:</b> the driver counts its users, whoever makes it is the first. Each command is one until its event is
 * terminal, since a command of the driver's retains its buffer, but not its file.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class SsgObject implements SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(SsgObject.class);

    /** References that this process holds. */
    static final AtomicLong LIVE = new AtomicLong();

    private final long handle;
    private final long blockBytes;
    private final long bytes;

    private SsgObject(long handle, long blockBytes, long bytes) {
        this.handle = handle;
        this.blockBytes = blockBytes;
        this.bytes = bytes;
    }

    /**
     * Opens a file; blocks.
     *
     * @throws SsgRefusal with the driver's answer
     */
    static SsgObject open(long context, Path path, boolean write) throws SsgRefusal {
        String request = "a file object for " + (write ? "writing " : "reading ") + path;
        int flags = write ? Ssg.CL_FILE_WRITE_ONLY_AMD : Ssg.CL_FILE_READ_ONLY_AMD;
        int[] error = new int[1];
        long handle = Ssg.clCreateSsgFileObjectAMD(context, flags, name(path), error);
        check(request, "clCreateSsgFileObjectAMD", error[0]);
        if (handle == 0) {
            throw new SsgRefusal(request + " refused: clCreateSsgFileObjectAMD -> NULL, and no error");
        }
        LIVE.incrementAndGet();
        try {
            long told = ask(request, handle, Ssg.CL_FILE_BLOCK_SIZE_AMD, Integer.BYTES);
            long block = SsgFileObject.checkedBlock(request, told);
            return new SsgObject(handle, block, ask(request, handle, Ssg.CL_FILE_SIZE_AMD, Long.BYTES));
        } catch (SsgRefusal | RuntimeException e) {
            drop(handle);
            throw e;
        }
    }

    /** Goes on if an answer is a success: not if it is not negative, since one of the errors is positive. */
    private static void check(String request, String call, int code) throws SsgRefusal {
        if (code != OpenClError.SUCCESS) {
            throw new SsgRefusal(request, OpenClFailure.error(call, code));
        }
    }

    private static byte[] name(Path path) throws SsgRefusal {
        try {
            return WideName.of(path.toAbsolutePath().toString());
        } catch (IllegalArgumentException e) {
            throw new SsgRefusal("no file object for " + path + ": " + e.getMessage());
        }
    }

    private static long ask(String request, long handle, int name, int size) throws SsgRefusal {
        byte[] value = new byte[Long.BYTES];
        long[] length = new long[1];
        int answer = Ssg.clGetSsgFileObjectInfoAMD(handle, name, size, value, length);
        check(request, "clGetSsgFileObjectInfoAMD", answer);
        if (length[0] != size) {
            throw new SsgRefusal(
                    request + " refused: clGetSsgFileObjectInfoAMD answers " + length[0] + " bytes for " + size);
        }
        ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.nativeOrder());
        return size == Integer.BYTES ? Integer.toUnsignedLong(bytes.getInt(0)) : bytes.getLong(0);
    }

    long handle() {
        return handle;
    }

    @Override
    public long blockBytes() {
        return blockBytes;
    }

    /**
     * {@inheritDoc} The driver does not see it grow: what has come since into the last block that it knows of may read as
     * anything, and be written to nowhere.
     */
    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void retain() throws SsgRefusal {
        check("a file object", "clRetainSsgFileObjectAMD", Ssg.clRetainSsgFileObjectAMD(handle));
        LIVE.incrementAndGet();
    }

    @Override
    public void release() {
        drop(handle);
    }

    private static void drop(long handle) {
        int released = Ssg.clReleaseSsgFileObjectAMD(handle);
        LIVE.decrementAndGet();
        if (released != OpenClError.SUCCESS) {
            LOG.warn("a file object is not released: {}", OpenClFailure.error("clReleaseSsgFileObjectAMD", released));
        }
    }
}
