// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.Limits;

/** A file as one path of the extension accesses it: in whole blocks. */
public final class SsgFile extends WrappedFile<HostFile> {

    private final SsgFiles files;
    private final SsgHandle handle;

    /** Takes ownership of one use of {@code handle}. */
    SsgFile(SsgFiles files, SsgHandle handle, Limits limits) {
        super(handle.host(), limits);
        this.files = files;
        this.handle = handle;
    }

    SsgHandle handle() {
        return handle;
    }

    /** Returns the alignment of the driver's offsets and lengths. */
    public long blockBytes() {
        return limits().fileAlignment();
    }

    /** {@inheritDoc} The vendor requires that the end of a file is read as a whole block. */
    @Override
    public boolean readsIntoSlack() {
        return true;
    }

    @Override
    public void close() {
        files.close(handle);
    }
}
