// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.AmdSsg;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An {@code AmdDxSsgFileHandle}: a file as the driver saw it when it was opened, for reading or for writing.
 *
 * <p><b>Ownership:</b> whoever opens it is its first user; each transfer is one until it has ended, since the manual wants
 * no file released while a transfer is under way. The last user releases it.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class SsgObject implements SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(SsgObject.class);

    /** Handles that this process holds. */
    static final AtomicLong LIVE = new AtomicLong();

    private final SsgInterface ssg;
    private final long handle;
    private final long bytes;
    private final long blockBytes;
    private int users = 1; // guarded by this

    private SsgObject(SsgInterface ssg, long handle, long bytes, long blockBytes) {
        this.ssg = ssg;
        this.handle = handle;
        this.bytes = bytes;
        this.blockBytes = blockBytes;
    }

    /**
     * Opens a file, which is there; blocks.
     *
     * @throws SsgRefusal with the driver's answer, or if it could not tell how long the file is
     */
    static SsgObject open(SsgInterface ssg, Path path, boolean write) throws IOException {
        String request = "a file handle for " + (write ? "writing " : "reading ") + path;
        SsgLayout layout = ssg.layout();
        String tooLong = layout.sizeRefusal(Files.size(path));
        if (!tooLong.isEmpty()) {
            throw new SsgRefusal(request + " refused: " + tooLong);
        }
        byte[] cell = new byte[Long.BYTES];
        int access = write ? ssg.terms().writeAccess() : ssg.terms().readAccess();
        int opened = AmdSsg.CreateFile(ssg.handle(), name(path), access, cell);
        SsgInterface.check(request, "IAmdDxExtSSG::CreateFile", opened);
        ByteBuffer value = ByteBuffer.wrap(cell).order(ByteOrder.nativeOrder());
        long handle = layout.handleBytes() == Long.BYTES ? value.getLong(0) : Integer.toUnsignedLong(value.getInt(0));
        ssg.join();
        LIVE.incrementAndGet();
        try {
            byte[] info = new byte[layout.info().bytes()];
            int told = AmdSsg.GetFileInfo(ssg.handle(), handle, info);
            SsgInterface.check(request, "IAmdDxExtSSG::GetFileInfo", told);
            long block = SsgFileObject.checkedBlock(request, layout.info().get(info, "block"));
            return new SsgObject(ssg, handle, layout.info().get(info, "file"), block);
        } catch (SsgRefusal | RuntimeException e) {
            release(ssg, handle);
            throw e;
        }
    }

    private static byte[] name(Path path) {
        return (path.toAbsolutePath() + "\0").getBytes(StandardCharsets.UTF_16LE);
    }

    long handle() {
        return handle;
    }

    @Override
    public long blockBytes() {
        return blockBytes;
    }

    /** {@inheritDoc} The manual says of no growth. */
    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public synchronized void retain() {
        users++;
    }

    @Override
    public void release() {
        synchronized (this) {
            if (--users > 0) {
                return;
            }
        }
        release(ssg, handle);
    }

    private static void release(SsgInterface ssg, long handle) {
        int released = AmdSsg.ReleaseFile(ssg.handle(), handle);
        LIVE.decrementAndGet();
        ssg.leave();
        if (Hresult.failed(released)) {
            LOG.warn("a file handle is not released: {}", SsgInterface.error("ReleaseFile", released));
        }
    }
}
