// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.backend.opencl.cl.Flush;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.InFlight;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ssg.SsgCommands;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The extension's commands in command queues; their events are polled until they are terminal. Uses one out-of-order
 * queue, or several in-order queues in rotation.
 *
 * <p><b>Threading:</b> the I/O queue's thread.
 */
final class ClSsgQueue implements SsgCommands<ClSsgCommand> {

    private final SsgQueue<ClSsgCommand> queue;
    private final long[] queues;
    private final boolean[] dirty; // has commands that were not flushed
    private final List<Long> others = new ArrayList<>(0); // of the application's, the same
    private int next;
    private final ByteBuffer cells;
    private final List<ClSsgCommand> submitted = new ArrayList<>(); // in the current turn
    private final InFlight<ClSsgCommand> inFlight = new InFlight<>(ClSsgCommand::hasEnded, this::ended);

    /**
     * Creates the queues.
     *
     * @param orderless true if they are out of order
     * @param queues an array for their handles
     * @param depth the most commands in flight
     * @throws io.penstock.PenstockException with the driver's answer
     */
    ClSsgQueue(ClContext context, boolean orderless, long[] queues, int depth, SsgQueue<ClSsgCommand> queue) {
        this.queue = queue;
        this.queues = queues;
        this.dirty = new boolean[queues.length];
        this.cells = ByteBuffer.allocateDirect(depth * ClSsgCommand.CELL_BYTES);
        try {
            for (int i = 0; i < queues.length; i++) {
                queues[i] = context.createQueue(orderless ? context.device().orderlessQueues() : 0);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Returns the queue for the next command and all its steps: an internal one, or the application's. */
    private long next(@Nullable ClPoint point) {
        long target = point == null ? 0 : point.queue(0);
        if (target != 0) {
            others.add(target);
            return target;
        }
        next = (next + 1) % queues.length;
        dirty[next] = true;
        return queues[next];
    }

    @Override
    public ClSsgCommand command(Request request) {
        int offset = request.tag() * ClSsgCommand.CELL_BYTES;
        ByteBuffer own = cells.slice(offset, ClSsgCommand.CELL_BYTES).order(ByteOrder.nativeOrder());
        return new ClSsgCommand(request, own, NativeMemory.address(cells) + offset);
    }

    @Override
    public boolean start(ClSsgCommand command) {
        if (!command.maySubmit()) {
            return false;
        }
        command.file(next(command.point));
        if (!hasStarted(command)) {
            queue.moved(command);
        }
        return true;
    }

    @Override
    public void copy(ClSsgCommand command) {
        command.copy(next(command.point));
        if (!hasStarted(command)) {
            queue.done(command);
        }
    }

    private boolean hasStarted(ClSsgCommand command) {
        if (!command.isInFlight()) {
            return false;
        }
        inFlight.add(command);
        submitted.add(command);
        return true;
    }

    @Override
    public void flush() {
        if (!submitted.isEmpty()) {
            flushQueues();
            submitted.forEach(ClSsgCommand::joinOrder);
            submitted.clear();
        }
    }

    /** Flushes the queues, so that the device executes what was enqueued. */
    private void flushQueues() {
        others.forEach(Flush::orFinish);
        others.clear();
        for (int i = 0; i < queues.length; i++) {
            if (dirty[i]) {
                dirty[i] = false;
                Flush.orFinish(queues[i]);
            }
        }
    }

    @Override
    public void poll() {
        inFlight.poll();
    }

    @Override
    public boolean mustPoll(boolean waiting) {
        return waiting || !inFlight.isEmpty();
    }

    /** Handles a command that the device has completed. */
    private void ended(ClSsgCommand command) {
        boolean failedWait =
                command.hasWaitList() && command.firstStatus() == OpenClError.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        NativeFailure failed = command.clearSteps();
        if (failedWait) {
            // A failed fence is signalled too, and the command that waited for it continues: its own result decides.
            // But not yet: there may be other fences, and the event of a transfer whose wait failed fails before the
            // transfer has ended.
            command.waitsNoMore = true;
            command.ends(0, null);
            queue.again(command);
            return;
        }
        if (failed != null) {
            command.fails(failed);
        }
        if (command.mapping) {
            mapped(command);
        } else if (!command.request.isCopy()) {
            queue.moved(command);
        } else {
            if (!command.hasFailed()) { // no queue refused a step after the first
                command.ends(command.request.bytes(), null);
            }
            queue.done(command);
        }
    }

    /**
     * {@inheritDoc} Maps a staging buffer that contains the end of a file for the processor: the engine clears the
     * bytes after it. Also if no command was needed.
     */
    @Override
    public boolean finish(ClSsgCommand command) {
        boolean clears = command.request.memory() instanceof SsgBounceBuffer staging
                && !staging.isMapped()
                && !command.isWrite()
                && command.moved() < command.request.bytes();
        if (clears) {
            map(command);
        }
        return !clears;
    }

    private void map(ClSsgCommand command) {
        command.mapping = true;
        command.map(next(null), (SsgBounceBuffer) command.request.memory());
        flushQueues();
        if (command.isInFlight()) {
            inFlight.add(command);
        } else {
            mapped(command);
        }
    }

    private void mapped(ClSsgCommand command) {
        ((SsgBounceBuffer) command.request.memory()).mapped(!command.hasFailed());
        queue.done(command);
    }

    @Override
    public void close() {
        Arrays.stream(queues).filter(queue -> queue != 0).forEach(OpenCl::clReleaseCommandQueue);
    }
}
