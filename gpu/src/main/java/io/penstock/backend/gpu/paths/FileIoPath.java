// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.backend.gpu.api.GpuOptions;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuStream;
import io.penstock.backend.gpu.context.LateWord;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.file.FileHandle;
import io.penstock.backend.gpu.file.FileMode;
import io.penstock.backend.gpu.file.FileSession;
import io.penstock.backend.gpu.file.GpuFile;
import io.penstock.backend.gpu.file.SpanRegistration;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A path by the file API. A backend has two of each mode, which share their I/O queues: {@link Direct} takes the transfers
 * that are proven to go directly, {@link Compat} takes the rest.
 *
 * <p>A transfer is proven to go directly if its driver supports the storage under the file, the file bypasses the
 * page cache, the memory is registered, and the whole transfer consists of whole blocks. For anything else the file
 * API chooses how it moves the data, and does not report it.
 */
public abstract class FileIoPath implements IoPath {

    private static final Logger LOG = LoggerFactory.getLogger(FileIoPath.class);

    /** The usual size of a slab, and of a segment of the bounce cache: batches are for many small operations. */
    private static final long BATCH_SEGMENT_BYTES = 1L << 20;

    // Edges use staging buffers, which are copied on streams of their own.
    private static final String EDGES = "its edges are not multiples of 4096 bytes, in the file or in the buffer";

    /** Refusals that this process has already logged. */
    private static final Set<Integer> LOGGED = ConcurrentHashMap.newKeySet();

    /** Paths of one backend and mode have the same I/O queues. */
    private record Sharing(FileSession session, FileMode mode) {}

    final FileSession session;
    final FileApi files;
    final GpuOptions options;
    private final FileMode mode;
    private final QueueSizes sizes;

    private FileIoPath(FileSession session, FileMode mode, QueueSizes sizes) {
        this.session = session;
        this.files = session.context().files();
        this.options = session.context().options();
        this.mode = mode;
        this.sizes = sizes;
    }

    /** Takes what the file API is proven to move without host memory. */
    public static final class Direct extends FileIoPath {

        private final long leastBytes;

        /**
         * Creates a path.
         *
         * @param leastBytes the least size of a part of a transfer, unless that has to go directly
         */
        public Direct(FileSession session, FileMode mode, QueueSizes sizes, long leastBytes) {
            super(session, mode, sizes);
            this.leastBytes = leastBytes;
        }

        @Override
        public TransferPath path() {
            return TransferPath.DIRECT;
        }

        @Override
        public Evidence evidence() {
            DriverProperties properties = session.properties();
            if (properties == null) {
                return Evidence.INFERRED;
            }
            if (!properties.allowsCompatibility()) {
                return Evidence.OBSERVED; // it would have failed instead
            }
            return session.provesDirect() ? Evidence.OBSERVED : Evidence.INFERRED;
        }

        @Override
        String whyNot(DriverProperties properties, FileHandle handle) {
            return handle.kind().whyNotDirect(files, properties);
        }

        @Override
        public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
            String why = super.refusal(file, target, memory);
            if (!why.isEmpty() || !(memory instanceof GpuMemory gpu)) {
                return why;
            }
            SpanRegistration registration = SpanRegistration.of(gpu.span());
            if (!registration.isActive()) {
                String refused = registration.refusal();
                return "the buffer is not registered with " + files.product()
                        + (refused.isEmpty() ? "" : ": " + refused);
            }
            return gpu.nativeHandle() % FileApi.BLOCK_BYTES != 0
                    ? "the buffer does not start at a multiple of 4096 bytes"
                    : "";
        }

        @Override
        public String refusal(Transfer transfer) {
            String why = super.refusal(transfer);
            if (!why.isEmpty()) {
                return why;
            }
            if (leastBytes > 0 && !transfer.isDirectRequired() && hasSmallParts(transfer)) {
                return "parts of less than " + leastBytes + " bytes are faster packed into staging buffers ("
                        + options.directBytes() + ")";
            }
            return isWholeBlocks(transfer) ? "" : EDGES;
        }

        @Override
        public String refusal(NativeFile file, long fileOffset, long bytes) {
            if (files.readsAcrossTheEnd()) {
                return "";
            }
            long end = ((GpuFile) file).end();
            return fileOffset < end && fileOffset + bytes > (end & -FileApi.BLOCK_BYTES)
                    ? "it reaches the end of the file, and " + files.product() + " moves whole blocks of it only"
                    : "";
        }

        private boolean hasSmallParts(Transfer transfer) {
            for (int pair = 0; pair < transfer.pairs(); pair++) {
                if (transfer.pairLength(pair) < leastBytes) {
                    return true;
                }
            }
            return false;
        }

        @Override
        String whyNotSizedLate(Transfer transfer, LateWord late) {
            return late.unit() != FileApi.BLOCK_BYTES
                    ? "a late-bound size may not be a multiple of the block size, unless it is of "
                            + transfer.queue()
                                    .map(stream -> stream.getClass().getSimpleName())
                                    .orElse("") + ".lateBlocks"
                    : super.whyNotSizedLate(transfer, late);
        }

        @Override
        public void skipped(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {
            boolean couldBeDirect = ((GpuFile) file).handle().refusal().isEmpty()
                    && refusal(transfer).isEmpty();
            if (couldBeDirect && memory instanceof GpuMemory gpu && isFirstUse(transfer, part)) {
                session.used(gpu.span());
            }
        }

        /**
         * Returns true if no earlier part of a transfer uses the buffer of this one: a transfer counts as one use of
         * its memory.
         */
        private static boolean isFirstUse(Transfer transfer, int part) {
            for (int earlier = 0; earlier < part; earlier++) {
                if (buffer(transfer, earlier) == buffer(transfer, part)) {
                    return false;
                }
            }
            return true;
        }

        private static @Nullable DeviceBuffer buffer(Transfer transfer, int part) {
            return !transfer.isGather() && transfer.target(part) instanceof BufferRegion region
                    ? region.buffer()
                    : null;
        }
    }

    /** Takes what the file API moves in a way that it chooses and does not report. */
    public static final class Compat extends FileIoPath {

        /** Creates a path. */
        public Compat(FileSession session, FileMode mode, QueueSizes sizes) {
            super(session, mode, sizes);
        }

        @Override
        public TransferPath path() {
            return TransferPath.COMPAT;
        }

        /** {@inheritDoc} Without a direct path, there is only one way to move the data. */
        @Override
        public Evidence evidence() {
            DriverProperties properties = session.properties();
            return properties == null || properties.mayBeDirect() ? Evidence.INFERRED : Evidence.OBSERVED;
        }

        @Override
        public String reason() {
            DriverProperties properties = session.properties();
            if (properties == null) {
                return "";
            }
            return properties.mayBeDirect()
                    ? files.product()
                            + " copies through its own bounce buffers on the GPU what is not registered, not aligned or"
                            + " not reached by its driver"
                    : files.product() + " is in its POSIX mode, which copies through host memory: "
                            + files.words().notLoaded();
        }

        @Override
        public String remedy() {
            DriverProperties properties = session.properties();
            if (properties == null) {
                return "";
            }
            return properties.mayBeDirect()
                    ? "whole blocks of 4096 bytes, and " + options.register() + "=always"
                    : files.words().remedy() + ", or set " + options.path() + "=auto";
        }
    }

    private boolean claimsDirect() {
        return path() == TransferPath.DIRECT;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> how) throws IOException {
        try {
            return openOrRefuse(path, how);
        } catch (FileRefusal refusal) {
            int code = refusal.code();
            if (code != 0 && LOGGED.add(code)) {
                LOG.info("some files use another path than {}: {}", files.product(), refusal.getMessage());
            }
            throw refusal;
        }
    }

    private NativeFile openOrRefuse(Path path, Set<FileOption> how) throws IOException {
        DriverProperties properties = session.open();
        boolean direct = properties.mayBeDirect();
        if (claimsDirect() && !direct) {
            throw new FileRefusal(files.words().neverDirect());
        }
        FileHandle handle = session.handles().open(path, how, direct);
        String why = whyNot(properties, handle);
        if (!why.isEmpty()) {
            session.handles().close(handle);
            throw new FileRefusal(why);
        }
        boolean writes = how.contains(FileOption.WRITE);
        return new GpuFile(session.handles(), handle, limits(properties, writes), claimsDirect());
    }

    /** Returns why a file does not take this path, or an empty string. */
    String whyNot(DriverProperties properties, FileHandle handle) {
        return "";
    }

    /**
     * The file API accepts any offset, but reads, merges and writes partial blocks of a file without a lock, and so loses
     * concurrent writes (rule 206); where it could go directly it bounces such a segment as a whole. The engine's I/O
     * queues do both better: partial blocks under a lock, edges by a staging buffer and the middle directly.
     */
    private Limits limits(DriverProperties properties, boolean writes) {
        long block = FileApi.BLOCK_BYTES;
        long file = writes || properties.mayBeDirect() ? block : 1;
        long segment = segmentBytes();
        long most = mode == FileMode.SYNC ? Limits.LINUX_MAX_BYTES : segment;
        return new Limits(file, claimsDirect() ? block : 1, most & -block, segment, false);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(file instanceof GpuFile ours)) {
            return "the file was opened for another path";
        }
        return memory instanceof GpuMemory
                ? ours.handle().refusal()
                : files.product() + " supports buffers on a GPU only";
    }

    @Override
    public String refusal(Transfer transfer) {
        boolean placed = transfer.queue().isPresent();
        if (placed && mode != FileMode.STREAM) {
            return "only " + files.product() + "'s stream calls can use an application's stream";
        }
        LateWord late = GpuStream.Handle.lateSize(transfer);
        String why = late == null ? "" : whyNotSizedLate(transfer, late);
        return why.isEmpty() && placed && !isWholeBlocks(transfer) ? EDGES : why;
    }

    /** Returns why a transfer of a late-bound size does not take this path, or an empty string. */
    String whyNotSizedLate(Transfer transfer, LateWord late) {
        boolean oneSegment = transfer.pairs() == 1 && transfer.length() <= segmentBytes();
        return oneSegment ? "" : "a late-bound size is for transfers of one segment, " + segmentBytes() + " bytes";
    }

    private long segmentBytes() {
        long most = mode == FileMode.BATCH ? Math.min(BATCH_SEGMENT_BYTES, sizes.segmentBytes()) : sizes.segmentBytes();
        return Math.max(FileApi.BLOCK_BYTES, most) & -FileApi.BLOCK_BYTES;
    }

    private static boolean isWholeBlocks(Transfer transfer) {
        long edges = transfer.isGather() ? ((BufferRegion) transfer.target()).offset() : 0;
        for (int pair = 0; pair < transfer.pairs(); pair++) {
            edges |= transfer.fileOffset(pair) | transfer.pairLength(pair);
            if (!transfer.isGather() && transfer.target(pair) instanceof BufferRegion target) {
                edges |= target.offset();
            }
        }
        return (edges & (FileApi.BLOCK_BYTES - 1)) == 0;
    }

    @Override
    public Object sharing() {
        return new Sharing(session, mode);
    }

    @Override
    public int ioQueues() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        GpuContext context = session.context();
        context.join(); // the queue is a user until it is closed
        CallQueue calls = new CallQueue(new BlockingCalls(context, files), sizes.depth(), sizes.threads());
        return switch (mode) {
            case SYNC -> calls;
            case BATCH -> new BatchQueue(context, calls);
            case STREAM -> new StreamQueue(context, calls, sizes.streams());
        };
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return PinnedBuffer.Pool.of(session.context()).take(bytes);
    }
}
