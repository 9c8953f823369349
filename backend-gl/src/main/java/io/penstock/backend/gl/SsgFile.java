// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.WrappedFile;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgFiles;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file as one route of the extension's takes it: a GL file, and a descriptor for what that has no words for. */
final class SsgFile extends WrappedFile<HostFile> {

    private final SsgSession session;
    private final boolean writes;
    private SsgObject object; // the context's thread; replaced where the driver does not see the file grow

    private SsgFile(SsgSession session, HostFile host, boolean writes, SsgObject object, Limits limits) {
        super(host, limits);
        this.session = session;
        this.writes = writes;
        this.object = object;
        session.join();
    }

    /**
     * Opens a file, which is there.
     *
     * @param straight whether buffers are reached without the ring, and so by whole blocks only
     * @throws SsgRefusal where the driver does not want it
     */
    static SsgFile open(SsgSession session, Path path, boolean writes, boolean straight) throws IOException {
        HostFile host = SsgFiles.host(path, writes);
        SsgObject object;
        try {
            object = session.context().call("opening of " + path, () -> unchecked(session, host, writes));
        } catch (UncheckedIOException e) {
            host.close();
            throw e.getCause();
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
        long block = object.blockBytes();
        long piece = session.sizes().pieceBytes() & -block;
        if (piece == 0) {
            session.context().post(object::release);
            host.close();
            throw new SsgRefusal("blocks of " + block + " bytes are larger than " + GlOptions.SSG_PIECE_BYTES);
        }
        return new SsgFile(session, host, writes, object, new Limits(block, straight ? block : 1, piece, piece, false));
    }

    private static SsgObject unchecked(SsgSession session, HostFile host, boolean writes) {
        try {
            return object(session, host, writes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SsgObject object(SsgSession session, HostFile host, boolean writes) throws IOException {
        SsgFileObject.Opener driver = (path, write) -> SsgObject.open(session.tokens(), path, write);
        return (SsgObject) driver.open(host, writes);
    }

    /**
     * Returns the GL file for a transfer up to {@code end}, with one more user, whom the caller ends; on the thread of the
     * context. A GL file that knows of fewer bytes than that, or of more than the file has, is replaced: a driver that
     * keeps to the length at opening would not find the end where it is.
     *
     * @param size the length of the file
     * @return null where the driver does not know of so many bytes: the file is shorter now
     * @throws IOException with the native answer
     */
    @Nullable
    SsgObject take(long end, long size) throws IOException {
        if (!object.reaches(end) || object.bytes() > size) {
            SsgObject fresh = object(session, host(), writes);
            object.release(); // transfers that use it still count
            object = fresh;
            if (!fresh.reaches(end)) {
                return null;
            }
        }
        object.retain();
        return object;
    }

    long blockBytes() {
        return limits().fileAlignment();
    }

    /** {@inheritDoc} The vendor wants the end of a file read as a whole block. */
    @Override
    public boolean readsIntoSlack() {
        return true;
    }

    @Override
    public void close() {
        session.context().post(() -> object.release());
        super.close();
        session.leave();
    }
}
