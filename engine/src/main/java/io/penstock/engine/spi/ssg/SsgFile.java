// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.WrappedFile;

/** A file as one route of the extension takes it: in whole blocks. */
public final class SsgFile extends WrappedFile<HostFile> {

    private final SsgFiles files;
    private final SsgHandle handle;

    /** Takes over one opening of {@code handle}. */
    SsgFile(SsgFiles files, SsgHandle handle, Limits limits) {
        super(handle.host(), limits);
        this.files = files;
        this.handle = handle;
    }

    SsgHandle handle() {
        return handle;
    }

    /** Returns what the driver's offsets and lengths are multiples of. */
    public long blockBytes() {
        return limits().fileAlignment();
    }

    /** {@inheritDoc} The vendor wants the end of a file read as a whole block. */
    @Override
    public boolean readsIntoSlack() {
        return true;
    }

    @Override
    public void close() {
        files.close(handle);
    }
}
