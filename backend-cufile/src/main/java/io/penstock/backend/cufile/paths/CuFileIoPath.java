// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.batch.BatchQueue;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.LateWord;
import io.penstock.backend.cufile.cuda.StreamAccess;
import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.backend.cufile.driver.CuFileMode;
import io.penstock.backend.cufile.driver.CuFileRefusal;
import io.penstock.backend.cufile.driver.DriverProperties;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.file.CuFileFile;
import io.penstock.backend.cufile.file.CuFileHandle;
import io.penstock.backend.cufile.register.CuFileSession;
import io.penstock.backend.cufile.register.SpanRegistration;
import io.penstock.backend.cufile.report.DriverStatistics;
import io.penstock.backend.cufile.staged.PinnedBuffer;
import io.penstock.backend.cufile.stream.StreamQueue;
import io.penstock.backend.cufile.sync.BlockingCalls;
import io.penstock.backend.cufile.sync.CallQueue;
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
 * A path by cuFile. A backend has two of each mode, which share their I/O queues: {@link Direct} takes the transfers
 * that are proven to go directly, {@link Compat} takes the rest.
 *
 * <p>A transfer is proven to go directly if cuFile's driver supports the storage under the file, the file bypasses the
 * page cache, the memory is registered, and the whole transfer consists of whole blocks. For anything else cuFile
 * chooses how it moves the data, and does not report it.
 */
public abstract class CuFileIoPath implements IoPath {

    private static final Logger LOG = LoggerFactory.getLogger(CuFileIoPath.class);

    /** The usual size of a slab, and of a segment of the bounce cache: batches are for many small operations. */
    private static final long BATCH_SEGMENT_BYTES = 1L << 20;

    // Edges use staging buffers, which are copied on streams of their own.
    private static final String EDGES = "its edges are not multiples of 4096 bytes, in the file or in the buffer";

    /** Refusals that this process has already logged. */
    private static final Set<Integer> LOGGED = ConcurrentHashMap.newKeySet();

    /** Paths of one backend and mode have the same I/O queues. */
    private record Sharing(CuFileSession session, CuFileMode mode) {}

    final CuFileSession session;
    private final CuFileMode mode;
    private final CuFileSizes sizes;

    private CuFileIoPath(CuFileSession session, CuFileMode mode, CuFileSizes sizes) {
        this.session = session;
        this.mode = mode;
        this.sizes = sizes;
    }

    /** Takes what cuFile is proven to move without host memory. */
    public static final class Direct extends CuFileIoPath {

        private final long leastBytes;

        /**
         * Creates a path.
         *
         * @param leastBytes the least size of a part of a transfer, unless that has to go directly
         */
        public Direct(CuFileSession session, CuFileMode mode, CuFileSizes sizes, long leastBytes) {
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
            DriverStatistics counted = session.statistics();
            return counted.level() >= 3 && counted.posix() == 0 ? Evidence.OBSERVED : Evidence.INFERRED;
        }

        @Override
        String whyNot(DriverProperties properties, CuFileHandle handle) {
            return handle.kind().whyNotDirect(properties);
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
                return "the buffer is not registered with cuFile" + (refused.isEmpty() ? "" : ": " + refused);
            }
            return gpu.nativeHandle() % CuFile.BLOCK_BYTES != 0
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
                        + CufileOptions.DIRECT_BYTES + ")";
            }
            return isWholeBlocks(transfer) ? "" : EDGES;
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
            return late.unit() != CuFile.BLOCK_BYTES
                    ? "a late-bound size may not be a multiple of the block size, unless it is of CudaStream.lateBlocks"
                    : super.whyNotSizedLate(transfer, late);
        }

        @Override
        public void skipped(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {
            boolean couldBeDirect =
                    ((CuFileFile) file).refusal().isEmpty() && refusal(transfer).isEmpty();
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

    /** Takes what cuFile moves in a way that it chooses and does not report. */
    public static final class Compat extends CuFileIoPath {

        /** Creates a path. */
        public Compat(CuFileSession session, CuFileMode mode, CuFileSizes sizes) {
            super(session, mode, sizes);
        }

        @Override
        public TransferPath path() {
            return TransferPath.COMPAT;
        }

        /** {@inheritDoc} Without a direct path, cuFile has only one way to move the data. */
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
                    ? "cuFile copies through its own bounce buffers on the GPU what is not registered, not aligned or"
                            + " not reached by its driver"
                    : "cuFile is in its POSIX mode, which copies through host memory: nvidia-fs is not loaded";
        }

        @Override
        public String remedy() {
            DriverProperties properties = session.properties();
            if (properties == null) {
                return "";
            }
            return properties.mayBeDirect()
                    ? "whole blocks of 4096 bytes, and " + CufileOptions.REGISTER + "=always"
                    : "load the nvidia-fs module (nvidia-gds), or set " + CufileOptions.PATH + "=auto";
        }
    }

    private boolean claimsDirect() {
        return path() == TransferPath.DIRECT;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        try {
            return openOrRefuse(path, options);
        } catch (CuFileRefusal refusal) {
            int code = refusal.code();
            if (code != 0 && LOGGED.add(code)) {
                LOG.info("some files use another path than cuFile: {}", refusal.getMessage());
            }
            throw refusal;
        }
    }

    private NativeFile openOrRefuse(Path path, Set<FileOption> options) throws IOException {
        DriverProperties properties = session.open();
        boolean direct = properties.mayBeDirect();
        if (claimsDirect() && !direct) {
            throw new CuFileRefusal("nvidia-fs is not loaded, and cuFile's driver has no peer-to-peer DMA to NVMe");
        }
        CuFileHandle handle = session.handles().open(path, options, direct);
        String why = whyNot(properties, handle);
        if (!why.isEmpty()) {
            session.handles().close(handle);
            throw new CuFileRefusal(why);
        }
        boolean writes = options.contains(FileOption.WRITE);
        return new CuFileFile(session.handles(), handle, limits(properties, writes), claimsDirect());
    }

    /** Returns why a file does not take this path, or an empty string. */
    String whyNot(DriverProperties properties, CuFileHandle handle) {
        return "";
    }

    /**
     * cuFile accepts any offset, but reads, merges and writes partial blocks of a file without a lock, and so loses
     * concurrent writes (rule 206); where it could go directly it bounces such a segment as a whole. The engine's I/O
     * queues do both better: partial blocks under a lock, edges by a staging buffer and the middle directly.
     */
    private Limits limits(DriverProperties properties, boolean writes) {
        long block = CuFile.BLOCK_BYTES;
        long file = writes || properties.mayBeDirect() ? block : 1;
        long segment = segmentBytes();
        long most = mode == CuFileMode.SYNC ? Limits.LINUX_MAX_BYTES : segment;
        return new Limits(file, claimsDirect() ? block : 1, most & -block, segment, false);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(file instanceof CuFileFile ours)) {
            return "the file was opened for another path";
        }
        return memory instanceof GpuMemory ? ours.refusal() : "cuFile supports buffers on a GPU only";
    }

    @Override
    public String refusal(Transfer transfer) {
        boolean placed = transfer.queue().isPresent();
        if (placed && mode != CuFileMode.STREAM) {
            return "only cuFile's stream calls can use an application's stream";
        }
        LateWord late = StreamAccess.lateSize(transfer);
        String why = late == null ? "" : whyNotSizedLate(transfer, late);
        return why.isEmpty() && placed && !isWholeBlocks(transfer) ? EDGES : why;
    }

    /** Returns why a transfer of a late-bound size does not take this path, or an empty string. */
    String whyNotSizedLate(Transfer transfer, LateWord late) {
        boolean oneSegment = transfer.pairs() == 1 && transfer.length() <= segmentBytes();
        return oneSegment ? "" : "a late-bound size is for transfers of one segment, " + segmentBytes() + " bytes";
    }

    private long segmentBytes() {
        long most =
                mode == CuFileMode.BATCH ? Math.min(BATCH_SEGMENT_BYTES, sizes.segmentBytes()) : sizes.segmentBytes();
        return Math.max(CuFile.BLOCK_BYTES, most) & -CuFile.BLOCK_BYTES;
    }

    private static boolean isWholeBlocks(Transfer transfer) {
        long edges = transfer.isGather() ? ((BufferRegion) transfer.target()).offset() : 0;
        for (int pair = 0; pair < transfer.pairs(); pair++) {
            edges |= transfer.fileOffset(pair) | transfer.pairLength(pair);
            if (!transfer.isGather() && transfer.target(pair) instanceof BufferRegion target) {
                edges |= target.offset();
            }
        }
        return (edges & (CuFile.BLOCK_BYTES - 1)) == 0;
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
        CudaContext context = session.context();
        context.join(); // the queue is a user until it is closed
        CallQueue calls = new CallQueue(new BlockingCalls(context), sizes.depth(), sizes.threads());
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
