// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.HostFile;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path through slots: files of the host's, one lane, and a {@link StagingDevice} that copies between slots and its memory.
 * A backend says which device that is, and refuses targets that are not the device's.
 */
public abstract class StagingRoute implements Route {

    private final SlotSizes sizes;
    private final long pieceBytes;
    private final String reason;

    /**
     * Makes a route; no native call.
     *
     * @param options those of {@link StagingOptions}, resolved
     * @param reason why the path is not more direct
     */
    protected StagingRoute(Options options, String reason) {
        this.sizes = SlotSizes.of(options);
        this.pieceBytes = options.get(CommonOptions.PIECE_BYTES);
        this.reason = reason;
    }

    /** Returns in a few words how files that bypass the page cache are read into slots, for {@code probe}. */
    public static String fact() {
        return BlockingBytes.INSTANCE.slotFact();
    }

    /** Returns the device that the queue of one lane copies with; called once per queue. */
    protected abstract StagingDevice device();

    /**
     * Returns the executor that makes all calls of the device, if the backend runs one; it is closed by the backend, after
     * the queue. Null, the default, lets the queue start a thread for a device of {@link ThreadRule#ONE}.
     */
    protected @Nullable ExecutorPump executor() {
        return null;
    }

    /** Returns the number and sizes of slots. */
    protected final SlotSizes sizes() {
        return sizes;
    }

    @Override
    public final TransferPath path() {
        return TransferPath.STAGED;
    }

    @Override
    public final Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public final String reason() {
        return reason;
    }

    @Override
    public final NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile host = HostFile.open(path, options, pieceBytes);
        try {
            return new StagedFile(host, BlockingBytes.INSTANCE, sizes, options.contains(FileOption.WRITE));
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
    }

    /** {@inheritDoc} With no other route, unless overridden. */
    @Override
    public Object sharing() {
        return this;
    }

    @Override
    public final int lanes() {
        return 1;
    }

    @Override
    public final NativeQueue openQueue() {
        return StagedQueue.open(device(), BlockingBytes.INSTANCE, sizes, executor());
    }

    /** {@inheritDoc} Plain host memory, unless overridden: for devices whose copies take any. */
    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
