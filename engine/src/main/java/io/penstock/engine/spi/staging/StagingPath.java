// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.staging.StagedFile;
import io.penstock.engine.staging.StagedQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path through staging buffers: host files, one I/O queue, and a {@link StagingDevice} that copies between staging
 * buffers and its memory. A backend provides the device, and refuses targets that do not belong to it.
 */
public abstract class StagingPath implements IoPath {

    private final Options options;
    private final long segmentBytes;
    private final String reason;

    /**
     * Creates a path, without a native call.
     *
     * @param options the options of {@link StagingOptions}, resolved
     * @param reason why the path is not more direct
     * @throws IllegalArgumentException if the size of staging buffers is not a multiple of 4096
     */
    protected StagingPath(Options options, String reason) {
        long bufferBytes = options.get(StagingOptions.BUFFER_BYTES);
        if (bufferBytes % StagingOptions.BLOCK_BYTES != 0) {
            throw new IllegalArgumentException(StagingOptions.BUFFER_BYTES + " must be a multiple of "
                    + StagingOptions.BLOCK_BYTES + ", was " + bufferBytes);
        }
        this.options = options;
        this.segmentBytes = options.get(CommonOptions.SEGMENT_BYTES);
        this.reason = reason;
    }

    /** Returns, for {@code probe}, how files that bypass the page cache are read into staging buffers. */
    public static String fact() {
        return BlockingBytes.INSTANCE.bufferFact();
    }

    /** Returns the device with which the native queue of one I/O queue copies; called once per queue. */
    protected abstract StagingDevice device();

    /**
     * Returns the executor that makes all calls to the device, if the backend runs one; the backend closes it, after
     * the queue. Null, the default, lets the queue start a thread for a device of {@link ThreadRule#ONE}.
     */
    protected @Nullable ExecutorPump executor() {
        return null;
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
    public final NativeFile open(Path path, Set<FileOption> modes) throws IOException {
        NativeFile host = HostFiles.open(path, modes, segmentBytes);
        try {
            return new StagedFile(host, BlockingBytes.INSTANCE, options, modes.contains(FileOption.WRITE));
        } catch (RuntimeException | Error e) {
            host.close();
            throw e;
        }
    }

    /** {@inheritDoc} Not shared with another path, unless overridden. */
    @Override
    public Object sharing() {
        return this;
    }

    @Override
    public final int ioQueues() {
        return 1;
    }

    @Override
    public final NativeQueue openQueue() {
        return StagedQueue.open(device(), BlockingBytes.INSTANCE, options, executor());
    }

    /** {@inheritDoc} Plain host memory, unless overridden: for devices whose copies accept any host memory. */
    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
