// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.BackendUnavailableException;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.context.ContextChoice;
import io.penstock.backend.opencl.context.WaitBudget;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.memory.ClSpan;
import io.penstock.engine.kit.ssg.SsgCommands;
import io.penstock.engine.kit.ssg.SsgDevice;
import io.penstock.engine.kit.ssg.SsgFileObject;
import io.penstock.engine.kit.ssg.SsgProof;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.kit.ssg.SsgRefusal;
import io.penstock.engine.kit.ssg.SsgSizes;
import io.penstock.engine.kit.ssg.SsgTexts;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** AMD's extension in one context. It is a user of the context, and its staging buffers are users of it. */
public final class ClSsg extends SsgDevice<ClSsgCommand> {

    private static final SsgTexts TEXTS = new SsgTexts(
            "counts are computed, since the driver reports none; nor does it report a fallback to ordinary memory",
            "the buffer was made without CL_MEM_ALLOC_HOST_PTR, CL_MEM_USE_HOST_PTR or CL_MEM_USE_PERSISTENT_MEM_AMD,"
                    + " or without host access",
            "persistent memory",
            "no persistent memory is left for a ring: see " + OpenClOptions.PERSISTENT_BYTES,
            "buffers of this backend within " + OpenClOptions.PERSISTENT_BYTES
                    + ", or made with CL_MEM_USE_PERSISTENT_MEM_AMD");

    /**
     * The number of in-order queues where the device has no out-of-order ones: each submits one command at a time to
     * the disk.
     */
    private static final int IN_ORDER = 4;

    private final ClContext context;
    private final PersistentMemory memory;
    private final WaitBudget waits;
    private final int queues; // in order; 0 where the device decides

    private ClSsg(ClContext context, PersistentMemory memory, Options options) {
        super(SsgSizes.of(options, OpenClOptions.SSG_SEGMENT_BYTES, options.get(OpenClOptions.SSG_RING_BYTES)), TEXTS);
        this.context = context;
        this.memory = memory;
        this.waits = new WaitBudget(sizes().depth() / 2, options.get(CommonOptions.QUEUE_BYTES) / 2);
        this.queues = options.get(OpenClOptions.SSG_QUEUES);
    }

    /**
     * Allocates the ring, and becomes a user of the context.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public static ClSsg open(ClContext context, Options options) {
        context.join();
        PersistentMemory memory;
        try {
            memory = new PersistentMemory(context, options.get(OpenClOptions.PERSISTENT_BYTES));
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
        ClSsg ssg = new ClSsg(context, memory, options);
        ssg.fillRing();
        return ssg;
    }

    /**
     * Tests the extension in a new context, the only one that a probe creates; only where the driver claims the
     * extension.
     */
    public static SsgProof proof(OpenClDevice device, Options options) {
        String missing = missing(device);
        if (!missing.isEmpty()) {
            return SsgProof.failed(missing);
        }
        ClContext context;
        try {
            context = ClContext.open(new ContextChoice(device, 0));
        } catch (BackendUnavailableException e) {
            return SsgProof.failed(String.valueOf(e.getMessage()));
        }
        try {
            return proof(context, options);
        } finally {
            context.leave();
        }
    }

    /** Tests the extension in an existing context. */
    public static SsgProof proof(ClContext context, Options options) {
        String missing = missing(context.device());
        return missing.isEmpty()
                ? SsgProof.of(
                        options,
                        OpenClOptions.SSG_FILE,
                        (path, write) -> ClSsgFile.open(context.handle(), path, write),
                        "file object",
                        "the driver reports " + Ssg.EXTENSION + ", but creates no file object: ")
                : SsgProof.failed(missing);
    }

    private static String missing(OpenClDevice device) {
        return device.claimsSsg() ? Ssg.load(device.platform().handle()) : "the device has no " + Ssg.EXTENSION;
    }

    ClContext context() {
        return context;
    }

    public PersistentMemory memory() {
        return memory;
    }

    public WaitBudget waits() {
        return waits;
    }

    /** Returns true if commands that wait on the device do not block others. */
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
        return span == null ? null : new ClMemory(context, span, bytes, () -> PersistentMemory.release(span));
    }

    @Override
    protected DeviceMemory allocateBounceBuffer(long bytes) {
        return SsgBounceBuffer.allocate(this, memory, bytes);
    }

    @Override
    protected SsgCommands<ClSsgCommand> openQueue(SsgQueue<ClSsgCommand> queue) {
        boolean orderless = runsOutOfOrder();
        int count = queues > 0 ? queues : orderless ? 1 : IN_ORDER;
        return new ClSsgQueue(context, orderless, new long[count], sizes().depth(), queue);
    }

    @Override
    protected void close() {
        memory.close();
        context.leave();
    }
}
