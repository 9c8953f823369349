// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.SignalHandlers;
import io.penstock.engine.spi.ssg.SsgCommands;
import io.penstock.engine.spi.ssg.SsgDevice;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgProof;
import io.penstock.engine.spi.ssg.SsgQueue;
import io.penstock.engine.spi.ssg.SsgRefusal;
import io.penstock.engine.spi.ssg.SsgSizes;
import io.penstock.engine.spi.ssg.SsgWords;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** AMD's extension in one context, of which it is a user; its slots are users of it. */
final class ClSsg extends SsgDevice<ClSsgCommand> {

    private static final SsgWords WORDS = new SsgWords(
            "counts are computed, since the driver gives none, and where it has fallen back to ordinary memory it does not"
                    + " say",
            "the buffer was made without CL_MEM_ALLOC_HOST_PTR, CL_MEM_USE_HOST_PTR or CL_MEM_USE_PERSISTENT_MEM_AMD,"
                    + " or closed to the host",
            "persistent memory",
            "there is no persistent memory left for a ring: see " + OpenClOptions.PERSISTENT_BYTES,
            "buffers of this backend's within " + OpenClOptions.PERSISTENT_BYTES
                    + ", or made with CL_MEM_USE_PERSISTENT_MEM_AMD");

    private final ClContext context;
    private final PersistentMemory memory;
    private final WaitBudget waits;
    private final int queues;

    private ClSsg(ClContext context, PersistentMemory memory, Options options) {
        super(SsgSizes.of(options, OpenClOptions.SSG_PIECE_BYTES, options.get(OpenClOptions.SSG_RING_BYTES)), WORDS);
        this.context = context;
        this.memory = memory;
        this.waits = new WaitBudget(sizes().depth() / 2, options.get(CommonOptions.LANE_BYTES) / 2);
        this.queues = options.get(OpenClOptions.SSG_QUEUES);
    }

    /**
     * Allocates the ring, and becomes a user of the context.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    static ClSsg open(ClContext context, Options options) {
        context.join();
        PersistentMemory memory;
        try {
            memory = new PersistentMemory(context, options.get(OpenClOptions.PERSISTENT_BYTES));
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
        ClSsg ssg = new ClSsg(context, memory, options);
        ssg.fillRing();
        return ssg;
    }

    /** Tries the extension in a context of its own, which is the one thing that a probe makes; only where the driver claims it. */
    static SsgProof proof(OpenClDevice device, Options options) {
        String missing = missing(device);
        if (!missing.isEmpty()) {
            return SsgProof.failed(missing);
        }
        int[] error = new int[1];
        long[] properties = {OpenCl.CL_CONTEXT_PLATFORM, device.platform().handle(), 0};
        long context = SignalHandlers.keep(
                () -> OpenCl.clCreateContext(properties, 1, new long[] {device.handle()}, 0, 0, error));
        if (error[0] != OpenClError.SUCCESS) {
            return SsgProof.failed("no context: " + OpenClFailure.error("clCreateContext", error[0]));
        }
        try {
            return proof(context, options);
        } finally {
            OpenCl.clReleaseContext(context);
        }
    }

    /** Tries it in an existing context. */
    static SsgProof proof(ClContext context, Options options) {
        String missing = missing(context.device());
        return missing.isEmpty() ? proof(context.handle(), options) : SsgProof.failed(missing);
    }

    private static String missing(OpenClDevice device) {
        return device.claimsSsg() ? Ssg.load(device.platform().handle()) : "the device has no " + Ssg.EXTENSION;
    }

    private static SsgProof proof(long context, Options options) {
        return SsgProof.of(
                options,
                OpenClOptions.SSG_FILE,
                (path, write) -> ClSsgFile.open(context, path, write),
                "file object",
                "the driver says that it has " + Ssg.EXTENSION + ", but makes no file object: ");
    }

    ClContext context() {
        return context;
    }

    PersistentMemory memory() {
        return memory;
    }

    WaitBudget waits() {
        return waits;
    }

    /** Returns how many command queues in order there are to be; 0 where the device decides. */
    int queues() {
        return queues;
    }

    /** Returns whether commands that wait on the device keep no others from running. */
    boolean runsOutOfOrder() {
        return queues == 0 && context.device().orderlessQueues() != 0;
    }

    @Override
    public SsgFileObject open(Path path, boolean write) throws SsgRefusal {
        return ClSsgFile.open(context.handle(), path, write);
    }

    @Override
    protected String refusal(Target target, @Nullable DeviceMemory buffer) {
        return buffer instanceof ClMemory ? "" : "the target is not a buffer of this device";
    }

    @Override
    protected boolean isReachable(DeviceMemory memory) {
        return !(memory instanceof ClMemory buffer) || buffer.span().isReachable();
    }

    @Override
    protected @Nullable DeviceMemory allocateReachable(long bytes) {
        ClSpan span = memory.take(bytes);
        return span == null ? null : new ClMemory(span, bytes, () -> PersistentMemory.release(span));
    }

    @Override
    protected DeviceMemory allocateSlot(long bytes) {
        return SsgSlot.allocate(this, bytes);
    }

    @Override
    protected SsgCommands<ClSsgCommand> openQueue(SsgQueue<ClSsgCommand> queue) {
        return new ClSsgQueue(this, queue);
    }

    @Override
    protected void close() {
        memory.close();
        context.leave();
    }
}
