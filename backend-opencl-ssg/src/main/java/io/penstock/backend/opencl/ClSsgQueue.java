// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.ssg.SsgCommands;
import io.penstock.engine.spi.ssg.SsgInFlight;
import io.penstock.engine.spi.ssg.SsgQueue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands of the extension in command queues, whose events are polled until they are terminal.
 *
 * <p><b>Threading:</b> the lane's.
 */
final class ClSsgQueue implements SsgCommands<ClSsgCommand> {

    private final SsgQueue<ClSsgCommand> queue;
    private final SsgQueues queues;
    private final ByteBuffer cells;
    private final List<ClSsgCommand> submitted = new ArrayList<>(); // in the turn under way
    private final SsgInFlight<ClSsgCommand> inFlight = new SsgInFlight<>(ClSsgCommand::hasEnded, this::passed);

    ClSsgQueue(ClSsg ssg, SsgQueue<ClSsgCommand> queue) {
        this.queue = queue;
        this.queues = new SsgQueues(ssg);
        this.cells = ByteBuffer.allocateDirect(ssg.sizes().depth() * ClSsgCommand.CELL_BYTES);
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
        command.file(queues.next(command.point));
        if (!hasStarted(command)) {
            queue.moved(command);
        }
        return true;
    }

    @Override
    public void copy(ClSsgCommand command) {
        command.copy(queues.next(command.point));
        if (!hasStarted(command)) {
            queue.done(command);
        }
    }

    private boolean hasStarted(ClSsgCommand command) {
        if (!command.isUnderWay()) {
            return false;
        }
        inFlight.add(command);
        submitted.add(command);
        return true;
    }

    @Override
    public void flush() {
        if (!submitted.isEmpty()) {
            queues.flush();
            submitted.forEach(ClSsgCommand::joinOrder);
            submitted.clear();
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

    /** Takes a command that the device has passed. */
    private void passed(ClSsgCommand command) {
        boolean failedWait =
                command.hasWaitList() && command.firstStatus() == OpenClError.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        NativeFailure failed = command.forgetSteps();
        if (failedWait) {
            // A fence that fails is passed too, and what waited for it goes on: its own outcome tells. But not yet,
            // for there may be others, and the event of a transfer that waits in vain fails before that has ended.
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
        } else if (!command.request().isCopy()) {
            queue.moved(command);
        } else {
            if (!command.hasFailed()) { // no queue has refused a step behind the first
                command.ends(command.bytes(), null);
            }
            queue.done(command);
        }
    }

    /**
     * {@inheritDoc} Maps a slot in which a file ends for the processor: the engine clears what lies behind. Also where no
     * command was needed.
     */
    @Override
    public boolean finish(ClSsgCommand command) {
        boolean clears = command.memory() instanceof SsgSlot slot
                && !slot.isMapped()
                && !command.isWrite()
                && command.moved() < command.bytes();
        if (clears) {
            map(command);
        }
        return !clears;
    }

    private void map(ClSsgCommand command) {
        command.mapping = true;
        command.map(queues.next(null), (SsgSlot) command.memory());
        queues.flush();
        if (command.isUnderWay()) {
            inFlight.add(command);
        } else {
            mapped(command);
        }
    }

    private void mapped(ClSsgCommand command) {
        ((SsgSlot) command.memory()).mapped(!command.hasFailed());
        queue.done(command);
    }

    @Override
    public void close() {
        queues.close();
    }
}
