// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.BufferRegion;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A buffer as a file to read from: the source of a copy from buffer to buffer. It pins the buffer from its creation
 * until it is closed, with the buffer, and no transfer uses it.
 */
public final class BufferFile extends EngineFile {

    /** The bytes of a segment; of one that the I/O queue copies itself, so that other transfers do not wait long. */
    private static final long SEGMENT_BYTES = 64 << 20;

    private static final long HOST_SEGMENT_BYTES = 1 << 20;

    private final EngineBuffer buffer;
    private final boolean pins;

    /**
     * Creates a file.
     *
     * @param pins whether it has a pin of the buffer; false if the buffer is closed
     */
    BufferFile(EngineBuffer buffer, boolean pins) {
        super(
                buffer.owner(),
                Path.of(buffer.toString()),
                Set.of(FileOption.READ),
                List.of(new OpenedFile(new Source(buffer), "")));
        this.buffer = buffer;
        this.pins = pins;
    }

    /** Returns the path of a transfer that {@code ioPath} takes: the path of its copies, if it is from a buffer. */
    public static TransferPath pathOf(Transfer transfer, IoPath ioPath) {
        StorageFile file = transfer.fileRegion(0).file();
        if (!(file instanceof BufferFile from)) {
            return file instanceof RemoteFile ? TransferPath.REMOTE : ioPath.path();
        }
        Target target = transfer.target();
        TransferPath copies = target instanceof BufferRegion to
                ? ioPath.copies(from.buffer.memory(), ((EngineBuffer) to.buffer()).memory())
                : null;
        return copies != null ? copies : TransferPath.STAGED;
    }

    @Override
    public NativeFile nativeFile(int ioPath) {
        return nativeFile();
    }

    /** {@inheritDoc} Not called for the last path, which copies from every buffer. */
    @Override
    public String refusal(int ioPath) {
        return "the last path copies from buffers";
    }

    /** {@inheritDoc} The last use of a closed buffer's file: releases the buffer. */
    @Override
    public void free() {
        locks().close();
        if (pins) {
            buffer.pins().unpin();
        }
    }

    @Override
    public Mono<Void> sync() {
        return Mono.empty();
    }

    /** {@inheritDoc} Does nothing: it is closed with the buffer. */
    @Override
    public void close() {}

    /** The memory of a buffer where requests of a file path have a native file. */
    public static final class Source implements AsyncFile {

        private final EngineBuffer buffer;

        private Source(EngineBuffer buffer) {
            this.buffer = buffer;
        }

        /** Returns the memory. */
        public DeviceMemory memory() {
            return buffer.memory();
        }

        /**
         * {@inheritDoc} Copies the bytes by the backend of the buffer; for a transfer, which has pinned both. The copy
         * is not ended early.
         */
        @Override
        public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
            buffer.owner().downloadPinned(buffer, offset, to).subscribe(bytes -> {}, ended, () -> ended.accept(null));
            return () -> {};
        }

        @Override
        public Limits limits() {
            return Limits.none(memory().hostAddress() != 0 ? HOST_SEGMENT_BYTES : SEGMENT_BYTES);
        }

        @Override
        public Object identity() {
            return Identity.OF.of(buffer);
        }

        @Override
        public long size() {
            return buffer.length();
        }

        @Override
        public void close() {}

        @Override
        public String toString() {
            return buffer.toString();
        }
    }
}
