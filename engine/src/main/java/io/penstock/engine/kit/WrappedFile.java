// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * A host file that a path reads and writes with its own requests: identity, length, space and name come from the host
 * file, the limits from the path.
 *
 * <p>Thread-safe.
 *
 * <p><b>Ownership:</b> {@link #close} closes the host file, unless a subclass shares it and closes its share instead.
 *
 * @param <F> the type of the host file
 */
public abstract class WrappedFile<F extends NativeFile> implements NativeFile {

    private final F host;
    private final Limits limits;

    /** Takes ownership of a file. */
    protected WrappedFile(F host, Limits limits) {
        this.host = host;
        this.limits = limits;
    }

    /** Returns the host file. */
    public final F host() {
        return host;
    }

    @Override
    public final Limits limits() {
        return limits;
    }

    @Override
    public final Object identity() {
        return host.identity();
    }

    @Override
    public final @Nullable Object lane() {
        return host.lane();
    }

    @Override
    public final boolean mayWait() {
        return host.mayWait();
    }

    @Override
    public final long size() throws IOException {
        return host.size();
    }

    @Override
    public final boolean hasItsLength() {
        return host.hasItsLength();
    }

    @Override
    public final BasicFileAttributes attributes() throws IOException {
        return host.attributes();
    }

    @Override
    public final void truncate(long bytes) throws IOException {
        host.truncate(bytes);
    }

    @Override
    public final void preallocate(long bytes) throws IOException {
        host.preallocate(bytes);
    }

    @Override
    public void close() {
        host.close();
    }

    /** Returns the name of the host file, for messages. */
    @Override
    public final String toString() {
        return host.toString();
    }
}
