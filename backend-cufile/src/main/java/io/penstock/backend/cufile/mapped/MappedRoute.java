// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.mapped;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.StreamAccess;
import io.penstock.backend.cufile.device.CudaPoint;
import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.backend.cufile.mapped.pages.Registrations;
import io.penstock.backend.cufile.staged.PinnedSlots;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.staging.StagingOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The way by which the GPU reads the page cache itself: no thread of the host touches a byte. For files that were opened
 * IMMUTABLE (rule 207).
 */
public final class MappedRoute implements Route {

    /** What a copy should have at least, so that the link and not the calls are what takes time. */
    private static final long PIECE_BYTES = 8L << 20;

    /** What this way takes. */
    public enum Takes {
        /** All that it can: what is not registered waits until it is. */
        ALL,
        /**
         * What gains by it: long reads of what is registered. What is read for the first time goes another way, which is
         * faster than registering and leaves nothing pinned; what is read again is registered behind that.
         */
        WORTHWHILE
    }

    /** A transfer with less than this is not worth a registration. */
    private static final long LEAST_BYTES = 1 << 20;

    /** Routes with equal ones use the same lane. */
    private record Sharing(CudaContext context, Registrations registrations, int depth, long spinNanos) {}

    private final Sharing sharing;
    private final Limits limits;
    private final Takes takes;

    private MappedRoute(Sharing sharing, Limits limits, Takes takes) {
        this.sharing = sharing;
        this.limits = limits;
        this.takes = takes;
    }

    /**
     * Describes the way.
     *
     * @param takes what it does not leave to others
     */
    public static MappedRoute of(CudaContext context, Options options, Takes takes) {
        return of(context, options, Registrations.Sizes.of(options), takes);
    }

    /** As above, with sizes of a test's. */
    public static MappedRoute of(CudaContext context, Options options, Registrations.Sizes sizes, Takes takes) {
        long piece = Math.min(Math.max(PIECE_BYTES, options.get(CommonOptions.PIECE_BYTES)), sizes.segmentBytes());
        return new MappedRoute(
                new Sharing(
                        context,
                        Registrations.of(context, sizes),
                        options.get(CommonOptions.LANE_DEPTH),
                        1000L * options.get(StagingOptions.SPIN_MICROS)),
                new Limits(1, 1, sizes.segmentBytes(), piece, false),
                takes);
    }

    /** Returns why a GPU has no such way, or an empty string. */
    public static String unavailable(CudaContext context) {
        int[] value = new int[1];
        int result = Cuda.cuDeviceGetAttribute(
                value,
                Cuda.CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
                context.gpu().device());
        return result == CudaError.SUCCESS && value[0] == 1
                ? ""
                : "this GPU does not read memory that is mapped read-only (READ_ONLY_HOST_REGISTER_SUPPORTED is 0)";
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
        return "the GPU reads the page cache, by a mapping that is registered with the driver";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return MappedFile.open(path, options, sharing.registrations, limits);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof GpuMemory ? "" : "the target is not memory of this GPU";
    }

    @Override
    public String refusal(Transfer transfer) {
        if (StreamAccess.isSizedLate(transfer)) {
            return CudaPoint.ONLY_BY_STREAMS;
        }
        if (takes == Takes.ALL) {
            return "";
        }
        if (transfer.isGather()) {
            return "many small blocks go better through a slot";
        }
        return transfer.length() < LEAST_BYTES
                ? "less than " + LEAST_BYTES + " bytes are not worth a registration"
                : "";
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        return takes == Takes.ALL || ((MappedFile) file).isRegistered(fileOffset, bytes)
                ? ""
                : "the file is not registered yet, which is done behind its second reading";
    }

    @Override
    public void passedOver(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {
        if (takes == Takes.WORTHWHILE && transfer.isRead() && refusal(transfer).isEmpty()) {
            ((MappedFile) file).readElsewhere(transfer.fileOffset(part), transfer.pairLength(part));
        }
    }

    @Override
    public Object sharing() {
        return sharing;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return new MappedQueue(sharing.context, sharing.registrations, sharing.depth, sharing.spinNanos);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return PinnedSlots.of(sharing.context).take(bytes);
    }
}
