// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A file that reads and writes host memory by its own means, not by requests of a path: an object on another host, or a
 * buffer of another backend. The last path of a backend moves the bytes to and from its device.
 *
 * <p>Thread-safe.
 */
public interface AsyncFile extends NativeFile {

    /**
     * The bytes of one read or write: large enough that the answering time of another host matters little, if many are
     * in flight.
     */
    long RANGE_BYTES = 4 << 20;

    /**
     * Starts a read that fills {@code to}. Does not block.
     *
     * @param offset in the file, with {@code offset + to.remaining() <= size()}
     * @param to direct memory, which is used until {@code ended} is called
     * @param ended called once, on any thread, also before this returns: with null if all bytes have been read, else
     *     with the error; a {@link NativeException} where the failure is to be classified
     * @return requests the end of the read, which then ends soon, by {@code ended}; may be called at any time, on any
     *     thread
     */
    Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended);

    /**
     * Starts a write, as {@link #read}. Does not block. It is durable, and seen by others, after a {@link #sync}, at
     * the latest.
     *
     * @param offset in the file; any
     * @param from direct memory, which is read until {@code ended} is called
     * @param ended as for a read
     * @return as for a read
     */
    default Runnable write(long offset, ByteBuffer from, Consumer<@Nullable Throwable> ended) {
        ended.accept(new IOException(this + " cannot be written"));
        return () -> {};
    }

    /**
     * Starts to make durable what was written; no write is in flight, and no other sync. Does not block.
     *
     * @param ended called once, on any thread, also before this returns: with null if it is durable, else with the
     *     failure; after one that is {@link NativeFailure.Kind#TRANSIENT} this may be called again
     */
    default void sync(Consumer<@Nullable NativeFailure> ended) {
        ended.accept(null);
    }

    /** {@inheritDoc} A transfer is cut into ranges of {@link #RANGE_BYTES}, unless overridden. */
    @Override
    default Limits limits() {
        return Limits.none(RANGE_BYTES);
    }

    /** {@inheritDoc} Constant while the file is only read. */
    @Override
    long size();

    /** {@inheritDoc} Not possible. */
    @Override
    default void truncate(long bytes) throws IOException {
        throw new IOException("the length of " + this + " cannot be changed");
    }

    /** {@inheritDoc} Not possible. */
    @Override
    default void preallocate(long bytes) throws IOException {
        truncate(bytes);
    }
}
