// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.PathName;
import io.penstock.engine.kit.ssg.SsgFileObject;
import io.penstock.engine.kit.ssg.SsgRefusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A GL file of AMD's extension; it holds a reference to its context. The manual does not define what a release does to
 * transfers in flight, so each transfer holds a reference.
 *
 * <p><b>Threading:</b> opened, queried and released on the context's thread.
 */
public final class GlSsgFile extends SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(GlSsgFile.class);

    private final GlContext context;
    private final SsgTokens tokens;
    private volatile long bytes;

    private GlSsgFile(GlContext context, SsgTokens tokens, long handle, long blockBytes, long bytes) {
        super(handle, blockBytes);
        this.context = context;
        this.tokens = tokens;
        this.bytes = bytes;
        context.join();
    }

    /**
     * Opens an existing file.
     *
     * @throws SsgRefusal with the driver's error
     */
    static GlSsgFile open(GlContext context, SsgTokens tokens, Path path, boolean writes) throws SsgRefusal {
        String request = "a GL file for " + (writes ? "reading and writing " : "reading ") + path;
        GlFailure.takeError(); // clears errors of earlier calls
        long handle = tokens.handle(
                Ssg.glCreateFileAMD(name(path.toAbsolutePath()), writes ? Ssg.GL_READ_WRITE : Ssg.GL_READ_ONLY));
        if (handle == 0) {
            int code = GlFailure.takeError();
            throw new SsgRefusal(request + " refused: " + GlCall.CREATE_FILE.vendorName() + " -> NULL"
                    + (code == GlError.NO_ERROR ? "" : ", " + GlError.symbol(code)));
        }
        LiveObjects.add(GlSsgFile.class);
        try {
            long block = checkedBlock(request, query(request, handle, tokens.blockSize()));
            return new GlSsgFile(context, tokens, handle, block, query(request, handle, tokens.fileSize()));
        } catch (SsgRefusal e) {
            release(handle);
            throw e;
        }
    }

    private static byte[] name(Path path) {
        return Machine.IS_LINUX ? PathName.of(path) : (path + "\0").getBytes(StandardCharsets.UTF_8);
    }

    private static long query(String request, long handle, int name) throws SsgRefusal {
        long[] value = new long[1];
        Ssg.glGetFileParameteri64vAMD(handle, name, value);
        int code = GlFailure.takeError();
        if (code != GlError.NO_ERROR) {
            throw new SsgRefusal(request, GlCall.FILE_PARAMETER.error(code));
        }
        return value[0];
    }

    /** {@inheritDoc} Nor of more: a driver that keeps the length from opening would not find the actual end. */
    @Override
    protected boolean covers(long end, long size) {
        return end <= bytes && bytes <= size;
    }

    @Override
    protected void queryLength() throws SsgRefusal {
        GlFailure.takeError();
        bytes = query("the length of a GL file", handle(), tokens.fileSize());
    }

    @Override
    protected void free() {
        if (!context.postOrRun(() -> release(handle()))) {
            LiveObjects.remove(GlSsgFile.class); // freed with the context
        }
        context.leave();
    }

    private static void release(long handle) {
        GlFailure.takeError();
        Ssg.glReleaseFileAMD(handle);
        LiveObjects.remove(GlSsgFile.class);
        int code = GlFailure.takeError();
        if (code != GlError.NO_ERROR && GlFailure.cause(code).isEmpty()) {
            LOG.warn("a GL file could not be released: {}", GlCall.RELEASE_FILE.error(code));
        }
    }
}
