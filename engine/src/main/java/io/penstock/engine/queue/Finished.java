// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.Evidence;
import io.penstock.FailedCompletion;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.plan.Reach;
import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.IoPath;
import org.jspecify.annotations.Nullable;

/**
 * A completion as a value, copied from the open transfer. It retains neither the open transfer nor a pin. It retains
 * what the API exposes: the {@link Transfer}, and through it the files and buffers, closed or not, and their backend;
 * and the path, which belongs to the backend.
 */
public class Finished implements Completion {

    private final Transfer transfer;
    private final long bytes;
    private final @Nullable Reach reach; // null if nothing fell short
    private final IoPath ioPath;
    private final int pathIndex;
    private final long subscribedNanos;
    private final long startedNanos;
    private final long endedNanos;

    Finished(OpenTransfer open) {
        this.transfer = open.transfer();
        this.bytes = open.bytes();
        this.reach = open.reach();
        this.ioPath = open.ioPath();
        this.pathIndex = open.pathIndex;
        this.subscribedNanos = open.subscribedNanos;
        this.startedNanos = open.startedNanos;
        this.endedNanos = open.endedNanos;
    }

    @Override
    public Transfer transfer() {
        return transfer;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long bytes(int pair) {
        if (reach != null) {
            return reach.bytes(pair);
        }
        // 0: it was never started; a single pair may have been given another size by the device
        return bytes == 0 || transfer.pairs() == 1 ? bytes : transfer.pairLength(pair);
    }

    @Override
    public TransferPath path() {
        return BufferFile.pathOf(transfer, ioPath);
    }

    @Override
    public Evidence evidence() {
        return ioPath.evidence();
    }

    @Override
    public String reason() {
        String ofPath = ioPath.reason();
        if (!(transfer.fileRegion(0).file() instanceof EngineFile file)) {
            return ofPath;
        }
        return file.isAsync()
                ? ""
                : ofPath.isEmpty() ? file.nativeFile(pathIndex).reason() : ofPath;
    }

    @Override
    public long subscribedNanos() {
        return subscribedNanos;
    }

    @Override
    public long startedNanos() {
        return startedNanos;
    }

    @Override
    public long endedNanos() {
        return endedNanos;
    }

    @Override
    public String toString() {
        return transfer + ": " + bytes + " bytes, " + path();
    }

    /** A failed transfer as a value. */
    static final class Failed extends Finished implements FailedCompletion {

        private final Throwable error;

        Failed(OpenTransfer open) {
            super(open);
            Throwable cause = open.error();
            if (cause == null) {
                throw new IllegalStateException(open.transfer() + " did not fail");
            }
            this.error = cause;
        }

        @Override
        public Throwable error() {
            return error;
        }

        @Override
        public String toString() {
            return transfer() + ": " + error;
        }
    }
}
