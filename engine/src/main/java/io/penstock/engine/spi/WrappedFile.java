// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.io.IOException;

/**
 * A file of the host's that requests of a route's own read and write: identity, length, space and name are the host's,
 * the limits are the route's.
 *
 * <p>Thread-safe.
 *
 * <p><b>Ownership:</b> {@link #close} closes the host's file, unless a subclass shares it and closes its share instead.
 *
 * @param <F> what the route knows of the host's file
 */
public abstract class WrappedFile<F extends NativeFile> implements NativeFile {

    private final F host;
    private final Limits limits;

    /** Takes over a file. */
    protected WrappedFile(F host, Limits limits) {
        this.host = host;
        this.limits = limits;
    }

    /** Returns the file as the host has it. */
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
    public final long size() throws IOException {
        return host.size();
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

    /** Returns the host's name for it, which messages quote. */
    @Override
    public final String toString() {
        return host.toString();
    }
}
