// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.host;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.Failure;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.host.queue.ChannelQueue;
import io.penstock.engine.host.queue.UringQueue;
import io.penstock.engine.host.uring.RingProbe;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path between files and host memory: io_uring, or blocking calls on threads.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class HostPath implements IoPath {
    private static final int PROCESSORS_PER_QUEUE = 4;

    // Two even with two processors: one copies cached pages for an I/O queue while the other delivers or copies, 1.2 to
    // 1.4 times as fast for small reads as one I/O queue; idle, an I/O queue is a sleeping thread.
    private static final int FEWEST_QUEUES = 2;
    private static final int MOST_QUEUES = 4;
    private static final String NO_RING = "no io_uring for this I/O queue: ";

    private final Kernel kernel;
    private final Slabs slabs;
    private final Options options;
    private final boolean uring;
    private final long mostCachedBytes;
    private final long segmentBytes;
    private final String reason;
    private final String remedy;

    private HostPath(Kernel kernel, Slabs slabs, Options options, RingAvailability ring) {
        this.kernel = kernel;
        this.slabs = slabs;
        boolean wanted = options.get(HostOptions.IO) != HostIo.POOL;
        this.options = options;
        uring = wanted && ring.isAvailable();
        mostCachedBytes = uring ? options.get(HostOptions.CACHED_BYTES) : 0;
        segmentBytes = options.get(CommonOptions.SEGMENT_BYTES);
        boolean missed = wanted && !ring.isAvailable();
        reason = missed ? "blocking calls on threads: " + describe(ring) : "";
        remedy = missed ? ring.remedy() : "";
    }

    /**
     * Opens the path that {@link HostOptions#IO} selects.
     *
     * @param slabs the allocator of bounce buffers
     * @throws BackendUnavailableException if io_uring is requested and not available; the message states why
     */
    public static HostPath open(Options options, Slabs slabs) {
        return open(options, slabs, LinuxKernel.INSTANCE);
    }

    /** As above, on a test's kernel. */
    static HostPath open(Options options, Slabs slabs, Kernel kernel) {
        HostIo io = options.get(HostOptions.IO);
        RingAvailability ring = io == HostIo.POOL ? RingAvailability.AVAILABLE : RingProbe.probe(kernel);
        if (io == HostIo.URING && !ring.isAvailable()) {
            String remedy = ring.remedy().isEmpty() ? "" : "; " + ring.remedy();
            throw new BackendUnavailableException(
                    HostOptions.IO + "=uring, but " + describe(ring) + remedy, Failure.NOT_STARTED, null);
        }
        return new HostPath(kernel, slabs, options, ring);
    }

    /**
     * Returns the path of blocking calls, in place of this one, for which the kernel has granted the probe's ring but
     * no larger one: the limit of locked memory counts all processes of a user.
     *
     * @throws BackendUnavailableException {@code refused} itself, if that is not the cause, or if io_uring is requested
     */
    public HostPath withoutRing(BackendUnavailableException refused) {
        NativeError cause = refused.nativeError()
                .filter(error -> limit(error.code()) != null)
                .orElseThrow(() -> refused);
        if (!uring || options.get(HostOptions.IO) == HostIo.URING) {
            throw refused;
        }
        String detail = NO_RING + cause;
        return new HostPath(
                kernel, slabs, options, new RingAvailability(Objects.requireNonNull(limit(cause.code())), detail));
    }

    /** Returns which limit a ring has met; null if it was none. */
    private static RingAvailability.@Nullable Reason limit(long errno) {
        return switch ((int) errno) {
            case Errno.ENOMEM -> RingAvailability.Reason.LOCKED_MEMORY_LIMIT;
            case Errno.EMFILE, Errno.ENFILE -> RingAvailability.Reason.OPEN_FILES_LIMIT;
            default -> null;
        };
    }

    /** Returns what {@link #open} would choose. Never throws (rule 501), and leaves nothing behind. */
    public static Availability probe(Options options) {
        try {
            if (options.get(HostOptions.IO) == HostIo.POOL) {
                return Availability.available(
                        true, "blocking calls on threads, as set by " + HostOptions.IO, List.of());
            }
            RingAvailability ring = RingProbe.probe(LinuxKernel.INSTANCE);
            if (ring.isAvailable()) {
                ring = probeQueues(options);
            }
            if (ring.isAvailable()) {
                return Availability.available(true, "io_uring", List.of());
            }
            if (options.get(HostOptions.IO) == HostIo.URING) {
                return Availability.absent(describe(ring), ring.remedy());
            }
            String reason = "blocking calls on threads, since " + describe(ring);
            return new Availability(true, true, reason, ring.remedy(), List.of());
        } catch (RuntimeException | LinkageError e) {
            return Availability.absent("the probe failed: " + e, "report this");
        }
    }

    /** Opens as many rings as a backend does: the probe's one may be the last that a limit permits. */
    private static RingAvailability probeQueues(Options options) {
        HostPath ioPath = new HostPath(LinuxKernel.INSTANCE, Slabs.shared(), options, RingAvailability.AVAILABLE);
        List<UringQueue> queues = new ArrayList<>();
        try {
            while (queues.size() < ioPath.ioQueues()) {
                queues.add(UringQueue.open(LinuxKernel.INSTANCE, options));
            }
            return RingAvailability.AVAILABLE;
        } catch (ErrnoException refused) {
            RingAvailability.Reason met = limit(refused.errno());
            return new RingAvailability(
                    met == null ? RingAvailability.Reason.OTHER : met, String.valueOf(refused.getMessage()));
        } finally {
            queues.forEach(UringQueue::close);
        }
    }

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public String means() {
        if (uring) {
            return "io_uring";
        }
        return isFallback() ? reason + "; " + remedy : "blocking calls on threads, as set by " + HostOptions.IO;
    }

    @Override
    public boolean isFallback() {
        return !reason.isEmpty();
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public long mostCachedBytes() {
        return mostCachedBytes;
    }

    @Override
    public String reason() {
        return reason;
    }

    @Override
    public String remedy() {
        return remedy;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return uring
                ? LinuxFile.open(kernel.files(), path, options, segmentBytes)
                : ChannelFile.open(path, options, segmentBytes);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (uring ? !(file instanceof LinuxFile) : !(file instanceof ChannelFile)) {
            return "the file was opened for another path";
        }
        return memory != null && memory.hostAddress() != 0 ? "" : "the target is not host memory";
    }

    @Override
    public @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        return from.hostAddress() != 0 && to.hostAddress() != 0 ? TransferPath.HOST : null;
    }

    @Override
    public Object sharing() {
        return List.of(HostPath.class, kernel, uring);
    }

    @Override
    public int ioQueues() {
        int ioQueues = options.get(HostOptions.QUEUES);
        int derived = Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_QUEUE;
        return ioQueues != 0 ? ioQueues : Math.max(FEWEST_QUEUES, Math.min(MOST_QUEUES, derived));
    }

    @Override
    public NativeQueue openQueue() {
        if (!uring) {
            return new ChannelQueue(options.get(CommonOptions.QUEUE_DEPTH), ChannelQueue.threads(options));
        }
        try {
            return UringQueue.open(kernel, options);
        } catch (ErrnoException refused) {
            RingAvailability.Reason met = limit(refused.errno());
            String remedy = met == null ? "" : "; " + met.remedy() + ", or set " + HostOptions.IO + "=pool";
            throw new BackendUnavailableException(
                    NO_RING + refused.getMessage() + remedy,
                    new Failure(Outcome.NOT_STARTED, refused.nativeError()),
                    refused);
        }
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return slabs.allocate(bytes);
    }

    private static String describe(RingAvailability ring) {
        return "io_uring cannot be used (" + ring.reason() + ": " + ring.detail() + ")";
    }
}
