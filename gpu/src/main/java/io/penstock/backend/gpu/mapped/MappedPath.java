// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.device.GpuPoint;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.staging.StagingOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path on which the GPU reads the page cache directly: no host thread touches the data. For files opened IMMUTABLE
 * (rule 207).
 */
public final class MappedPath implements IoPath {

    /** The least size of a copy, so that the link dominates its cost and not the calls. */
    private static final long SEGMENT_BYTES = 8L << 20;

    /** Which transfers this path takes. */
    public enum Takes {
        /** All possible transfers: a range that is not registered waits until it is. */
        ALL,
        /**
         * Only transfers that benefit: long reads of registered ranges. A first read takes another path, which is
         * faster than registering and leaves nothing pinned; a repeated read has the range registered in the
         * background.
         */
        WORTHWHILE
    }

    /** Smaller transfers are not worth a registration. */
    private static final long LEAST_BYTES = 1 << 20;

    private final GpuContext context;
    private final Options options;
    private final Registrations registrations;
    private final Limits limits;
    private final Takes takes;

    /**
     * Describes the path.
     *
     * @param takes the transfers that it does not leave to other paths
     */
    public MappedPath(GpuContext context, Options options, Registrations.Sizes sizes, Takes takes) {
        long segment =
                Math.min(Math.max(SEGMENT_BYTES, options.get(CommonOptions.SEGMENT_BYTES)), sizes.segmentBytes());
        this.context = context;
        this.options = options;
        this.registrations = Registrations.of(context, sizes);
        this.limits = new Limits(1, 1, sizes.segmentBytes(), segment, false);
        this.takes = takes;
    }

    /** Returns why this path is unavailable on a GPU, or an empty string. */
    public static String unavailable(GpuContext context) {
        return context.driver().whyNotMapped(context.gpu().device());
    }

    @Override
    public TransferPath path() {
        return TransferPath.MAPPED;
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public String reason() {
        return "the GPU reads the page cache, through a mapping that is registered with the driver";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return MappedFile.open(path, options, registrations, limits);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof GpuMemory ? "" : "the target is not memory of this GPU";
    }

    @Override
    public String refusal(Transfer transfer) {
        String why = GpuPoint.whyNotLate(context, transfer);
        if (!why.isEmpty() || takes == Takes.ALL) {
            return why;
        }
        if (transfer.isGather()) {
            return "many small blocks are faster through a staging buffer";
        }
        return transfer.length() < LEAST_BYTES
                ? "fewer than " + LEAST_BYTES + " bytes are not worth a registration"
                : "";
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        return takes == Takes.ALL || ((MappedFile) file).isRegistered(fileOffset, bytes)
                ? ""
                : "the file is not registered yet: that is done after its second reading";
    }

    @Override
    public void skipped(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {
        if (takes == Takes.WORTHWHILE && transfer.isRead() && refusal(transfer).isEmpty()) {
            ((MappedFile) file).readElsewhere(transfer.fileOffset(part), transfer.pairLength(part));
        }
    }

    @Override
    public Object sharing() {
        return registrations;
    }

    @Override
    public int ioQueues() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        int depth = options.get(CommonOptions.QUEUE_DEPTH);
        return new MappedQueue(context, registrations, depth, StagingOptions.spinNanos(options));
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return PinnedBuffer.Pool.of(context).take(bytes);
    }
}
