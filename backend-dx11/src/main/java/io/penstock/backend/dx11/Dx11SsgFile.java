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
 * An {@code AmdDxSsgFileHandle}, which keeps its interface. Each transfer is a user until it has ended, since the manual wants
 * no file released while a transfer is under way.
 */
final class Dx11SsgFile extends SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(Dx11SsgFile.class);

    /** Handles that this process holds. */
    static final AtomicLong LIVE = new AtomicLong();

    private final Dx11Ssg ssg;
    private final long bytes;

    private Dx11SsgFile(Dx11Ssg ssg, long handle, long bytes, long blockBytes) {
        super(handle, blockBytes);
        this.ssg = ssg;
        this.bytes = bytes;
    }

    /**
     * Opens a file, which is there; blocks.
     *
     * @throws SsgRefusal with the driver's answer, or if it could not tell how long the file is
     */
    static Dx11SsgFile open(Dx11Ssg ssg, Path path, boolean write) throws IOException {
        String request = "a file handle for " + (write ? "writing " : "reading ") + path;
        SsgLayout layout = ssg.layout();
        String tooLong = layout.sizeRefusal(Files.size(path));
        if (!tooLong.isEmpty()) {
            throw new SsgRefusal(request + " refused: " + tooLong);
        }
        byte[] cell = new byte[Long.BYTES];
        byte[] name = (path.toAbsolutePath() + "\0").getBytes(StandardCharsets.UTF_16LE);
        int opened = AmdSsg.CreateFile(ssg.handle(), name, ssg.access(write), cell);
        Dx11Ssg.check(request, "IAmdDxExtSSG::CreateFile", opened);
        ByteBuffer value = ByteBuffer.wrap(cell).order(ByteOrder.nativeOrder());
        long handle = layout.handleBytes() == Long.BYTES ? value.getLong(0) : Integer.toUnsignedLong(value.getInt(0));
        ssg.join();
        LIVE.incrementAndGet();
        try {
            byte[] info = new byte[layout.info().bytes()];
            int told = AmdSsg.GetFileInfo(ssg.handle(), handle, info);
            Dx11Ssg.check(request, "IAmdDxExtSSG::GetFileInfo", told);
            long block = checkedBlock(request, layout.info().get(info, "block"));
            return new Dx11SsgFile(ssg, handle, layout.info().get(info, "file"), block);
        } catch (SsgRefusal | RuntimeException e) {
            release(ssg, handle);
            throw e;
        }
    }

    /** {@inheritDoc} The manual says nothing of growth. */
    @Override
    protected boolean knows(long end, long size) {
        return end <= bytes;
    }

    @Override
    protected void free() {
        release(ssg, handle());
    }

    private static void release(Dx11Ssg ssg, long handle) {
        int released = AmdSsg.ReleaseFile(ssg.handle(), handle);
        LIVE.decrementAndGet();
        ssg.leave();
        if (Hresult.failed(released)) {
            LOG.warn("a file handle is not released: {}", Dx11Failure.error("IAmdDxExtSSG::ReleaseFile", released));
        }
    }
}
