// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.NativeError;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A GL file of AMD's extension.
 *
 * <p><b>Threading:</b> the thread of the context.
 *
 * <p><b>Ownership:</b> whoever opens it is its first user, each transfer another; the last to leave releases it. What a
 * release does to transfers that run the manual does not say.
 */
final class SsgObject implements SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(SsgObject.class);

    static final AtomicLong LIVE = new AtomicLong();

    private final SsgTokens tokens;
    private final long handle;
    private final long blockBytes;
    private long bytes;
    private int users = 1;

    private SsgObject(SsgTokens tokens, long handle, long blockBytes, long bytes) {
        this.tokens = tokens;
        this.handle = handle;
        this.blockBytes = blockBytes;
        this.bytes = bytes;
    }

    /**
     * Opens a file, which is there.
     *
     * @throws SsgRefusal with the driver's answer
     */
    static SsgObject open(SsgTokens tokens, Path path, boolean writes) throws SsgRefusal {
        String request = "a GL file for " + (writes ? "reading and writing " : "reading ") + path;
        byte[] name = path.toAbsolutePath().toString().getBytes(StandardCharsets.UTF_8);
        GlFailure.takeError(); // what others have left is not the driver's answer to this
        long handle = tokens.handle(Ssg.glCreateFileAMD(
                Arrays.copyOf(name, name.length + 1), writes ? Ssg.GL_READ_WRITE : Ssg.GL_READ_ONLY));
        if (handle == 0) {
            int code = GlFailure.takeError();
            throw new SsgRefusal(request + " refused: " + GlCall.CREATE_FILE.vendorName() + " -> NULL"
                    + (code == GlError.NO_ERROR ? "" : ", " + GlError.symbol(code)));
        }
        LIVE.incrementAndGet();
        try {
            long block = SsgFileObject.checkedBlock(request, ask(request, handle, tokens.blockSize()));
            return new SsgObject(tokens, handle, block, ask(request, handle, tokens.fileSize()));
        } catch (SsgRefusal e) {
            release(handle);
            throw e;
        }
    }

    /** Goes on if GL has no error to tell. */
    private static void check(String request, GlCall call) throws SsgRefusal {
        int code = GlFailure.takeError();
        if (code != GlError.NO_ERROR) {
            throw new SsgRefusal(request, new NativeError(call.vendorName(), code, GlError.symbol(code)));
        }
    }

    private static long ask(String request, long handle, int name) throws SsgRefusal {
        long[] value = new long[1];
        Ssg.glGetFileParameteri64vAMD(handle, name, value);
        check(request, GlCall.FILE_PARAMETER);
        return value[0];
    }

    long handle() {
        return handle;
    }

    @Override
    public long blockBytes() {
        return blockBytes;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /** {@inheritDoc} It is asked again if it did not. */
    @Override
    public boolean reaches(long end) throws SsgRefusal {
        if (end > bytes) {
            GlFailure.takeError();
            bytes = ask("the length of a GL file", handle, tokens.fileSize());
        }
        return end <= bytes;
    }

    @Override
    public void retain() {
        users++;
    }

    @Override
    public void release() {
        if (--users == 0) {
            release(handle);
        }
    }

    private static void release(long handle) {
        GlFailure.takeError();
        Ssg.glReleaseFileAMD(handle);
        LIVE.decrementAndGet();
        int code = GlFailure.takeError();
        if (code != GlError.NO_ERROR && GlFailure.cause(code).isEmpty()) {
            LOG.warn(
                    "a GL file is not released: {}",
                    new NativeError(GlCall.RELEASE_FILE.vendorName(), code, GlError.symbol(code)));
        }
    }
}
