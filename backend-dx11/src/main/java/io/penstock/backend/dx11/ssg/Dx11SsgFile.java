// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.backend.dx11.device.Dx11Failure;
import io.penstock.backend.dx11.ffi.AmdDx;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.ssg.SsgFileObject;
import io.penstock.engine.kit.ssg.SsgRefusal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An {@code AmdDxSsgFileHandle}, which holds a reference to its interface. Each transfer holds a reference until it has
 * completed, since the manual forbids releasing a file while a transfer is in flight.
 */
public final class Dx11SsgFile extends SsgFileObject {

    private static final Logger LOG = LoggerFactory.getLogger(Dx11SsgFile.class);

    private final SsgInterface ssg;
    private final Runnable released;
    private final long bytes;

    private Dx11SsgFile(SsgInterface ssg, Runnable released, long handle, long bytes, long blockBytes) {
        super(handle, blockBytes);
        this.ssg = ssg;
        this.released = released;
        this.bytes = bytes;
    }

    /**
     * Opens an existing file; blocks.
     *
     * @param released run when it is freed
     * @throws SsgRefusal with the driver's error, or if it cannot return the length of the file
     */
    static Dx11SsgFile open(SsgInterface ssg, Path path, boolean write, Runnable released) throws IOException {
        String request = "a file handle for " + (write ? "writing " : "reading ") + path;
        SsgHeader header = ssg.header();
        String tooLong = header.sizeRefusal(Files.size(path));
        if (!tooLong.isEmpty()) {
            throw new SsgRefusal(request + " refused: " + tooLong);
        }
        byte[] cell = new byte[Long.BYTES];
        byte[] name = (path.toAbsolutePath() + "\0").getBytes(StandardCharsets.UTF_16LE);
        int opened = AmdDx.CreateFile(ssg.handle(), name, header.number(write ? "write" : "read"), cell);
        SsgInterface.check(request, "IAmdDxExtSSG::CreateFile", opened);
        long handle = header.handle().get(cell);
        LiveObjects.add(Dx11SsgFile.class);
        try {
            byte[] info = new byte[header.bytes("info")];
            int result = AmdDx.GetFileInfo(ssg.handle(), handle, info);
            SsgInterface.check(request, "IAmdDxExtSSG::GetFileInfo", result);
            long block = checkedBlock(request, header.field("info", "block").get(info));
            return new Dx11SsgFile(
                    ssg, released, handle, header.field("info", "file").get(info), block);
        } catch (SsgRefusal | RuntimeException e) {
            release(ssg, handle);
            throw e;
        }
    }

    /** {@inheritDoc} The manual does not mention growth. */
    @Override
    protected boolean covers(long end, long size) {
        return end <= bytes;
    }

    @Override
    protected void free() {
        release(ssg, handle());
        released.run();
    }

    private static void release(SsgInterface ssg, long handle) {
        int released = AmdDx.ReleaseFile(ssg.handle(), handle);
        LiveObjects.remove(Dx11SsgFile.class);
        if (Hresult.failed(released)) {
            LOG.warn(
                    "a file handle could not be released: {}",
                    Dx11Failure.error("IAmdDxExtSSG::ReleaseFile", released));
        }
    }
}
