// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.WrappedFile;

/** A file as one route of the extension's takes it: in whole blocks. */
public final class SsgFile extends WrappedFile<HostFile> {

    private final SsgFiles files;
    private final SsgHandle handle;
    private final boolean readsIntoSlack;

    /**
     * Takes over one opening of {@code handle}.
     *
     * @param readsIntoSlack whether the vendor wants the end of a file read as a whole block
     */
    public SsgFile(SsgFiles files, SsgHandle handle, Limits limits, boolean readsIntoSlack) {
        super(handle.host(), limits);
        this.files = files;
        this.handle = handle;
        this.readsIntoSlack = readsIntoSlack;
    }

    /** Returns the objects of the driver's. */
    public SsgHandle handle() {
        return handle;
    }

    /** Returns what the driver's offsets and lengths are multiples of. */
    public long blockBytes() {
        return limits().fileAlignment();
    }

    @Override
    public boolean readsIntoSlack() {
        return readsIntoSlack;
    }

    @Override
    public void close() {
        files.close(handle);
    }
}
