// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.backend.opencl.ffi.WideName;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.ssg.SsgFileObject;
import io.penstock.engine.kit.ssg.SsgRefusal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@code cl_file_amd}: a file as the driver found it when it was opened, for reading or for writing.
 *
 * <p><b>Ownership:</b> the driver counts its users, the first of which is its creator. Each command is a user until its
 * event is terminal, since a driver command retains its buffer, but not its file.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class ClSsgFile extends SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(ClSsgFile.class);

    /**
     * Whether the driver takes names in UTF-8, as its manual says of Linux (3.1), rather than as wide characters, which
     * its parameter is declared with and AMD's public runtime takes. A process has one such driver.
     */
    private static volatile boolean utf8;

    private final long bytes;

    private ClSsgFile(long handle, long blockBytes, long bytes) {
        super(handle, blockBytes);
        this.bytes = bytes;
    }

    /**
     * Opens a file; blocks.
     *
     * @throws SsgRefusal with the driver's answer
     */
    static ClSsgFile open(long context, Path path, boolean write) throws SsgRefusal {
        String request = "a file object for " + (write ? "writing " : "reading ") + path;
        int flags = write ? Ssg.CL_FILE_WRITE_ONLY_AMD : Ssg.CL_FILE_READ_ONLY_AMD;
        long handle = create(request, context, flags, path);
        if (handle == 0) {
            throw new SsgRefusal(request + " refused: clCreateSsgFileObjectAMD -> NULL, without an error");
        }
        LiveObjects.add(ClSsgFile.class);
        try {
            long reported = query(request, handle, Ssg.CL_FILE_BLOCK_SIZE_AMD, Integer.BYTES);
            long block = checkedBlock(request, reported);
            return new ClSsgFile(handle, block, query(request, handle, Ssg.CL_FILE_SIZE_AMD, Long.BYTES));
        } catch (SsgRefusal | RuntimeException e) {
            drop(handle);
            throw e;
        }
    }

    /** Creates the object; by a name in the other encoding where the driver does not find an existing file. */
    private static long create(String request, long context, int flags, Path path) throws SsgRefusal {
        boolean known = utf8;
        int[] error = new int[1];
        long handle = Ssg.clCreateSsgFileObjectAMD(context, flags, name(path, known), error);
        boolean notFound = error[0] == OpenClError.INVALID_VALUE || error[0] == OpenClError.INVALID_FILE_OBJECT_AMD;
        if (notFound && !WideName.IS_WINDOWS && Files.exists(path)) {
            int[] again = new int[1];
            long other = Ssg.clCreateSsgFileObjectAMD(context, flags, name(path, !known), again);
            if (again[0] == OpenClError.SUCCESS) {
                utf8 = !known;
                LOG.info(
                        "the driver takes names of files in {}",
                        known ? "wide characters" : "UTF-8, as its manual says");
                return other;
            }
        }
        check(request, "clCreateSsgFileObjectAMD", error[0]);
        return handle;
    }

    /** Throws {@link SsgRefusal} unless a result is a success; one of the errors is positive. */
    private static void check(String request, String call, int code) throws SsgRefusal {
        if (code != OpenClError.SUCCESS) {
            throw new SsgRefusal(request, OpenClFailure.error(call, code));
        }
    }

    private static byte[] name(Path path, boolean utf8) throws SsgRefusal {
        String name = path.toAbsolutePath().toString();
        try {
            return utf8 ? WideName.utf8(name) : WideName.of(name);
        } catch (IllegalArgumentException e) {
            throw new SsgRefusal("no file object for " + path + ": " + e.getMessage());
        }
    }

    private static long query(String request, long handle, int name, int size) throws SsgRefusal {
        byte[] value = new byte[Long.BYTES];
        long[] length = new long[1];
        int answer = Ssg.clGetSsgFileObjectInfoAMD(handle, name, size, value, length);
        check(request, "clGetSsgFileObjectInfoAMD", answer);
        if (length[0] != size) {
            throw new SsgRefusal(
                    request + " refused: clGetSsgFileObjectInfoAMD returned " + length[0] + " bytes, expected " + size);
        }
        ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.nativeOrder());
        return size == Integer.BYTES ? Integer.toUnsignedLong(bytes.getInt(0)) : bytes.getLong(0);
    }

    /**
     * {@inheritDoc} The driver does not notice that it grows: later data in the last block of its recorded length may
     * read as anything, and writes to it may be lost.
     */
    @Override
    protected boolean covers(long end, long size) {
        return end <= bytes;
    }

    @Override
    public void retain() throws SsgRefusal {
        check("a file object", "clRetainSsgFileObjectAMD", Ssg.clRetainSsgFileObjectAMD(handle()));
        LiveObjects.add(ClSsgFile.class);
        super.retain();
    }

    @Override
    public void release() {
        drop(handle());
        super.release();
    }

    @Override
    protected void free() {} // the driver counts, too

    private static void drop(long handle) {
        int released = Ssg.clReleaseSsgFileObjectAMD(handle);
        LiveObjects.remove(ClSsgFile.class);
        if (released != OpenClError.SUCCESS) {
            LOG.warn(
                    "a file object could not be released: {}",
                    OpenClFailure.error("clReleaseSsgFileObjectAMD", released));
        }
    }
}
