// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.backend.gl.staged.GlCopies;
import io.penstock.engine.kit.InFlight;
import io.penstock.engine.kit.ssg.SsgCommands;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Commands on a context's thread: transfers between files and buffers that the driver can access, in groups that share
 * one sync each, and copies, such as copies between ring and buffer.
 *
 * <p><b>Threading:</b> the I/O queue calls the methods of the interface, which hand over to the context's thread.
 */
final class GlSsgQueue implements SsgCommands<GlSsgCommand> {

    /** A lost context may leave syncs unsignalled: its state is queried once per this many polls without progress. */
    private static final int POLLS_PER_QUESTION = 64;

    private final GlContext context;
    private final SsgQueue<GlSsgCommand> queue;
    private final ConcurrentLinkedQueue<GlSsgCommand> taken = new ConcurrentLinkedQueue<>();
    private final Runnable begin = this::begin;
    private boolean dirty; // the I/O queue's: some were not handed over

    // Used by the context's thread.
    private final GlCopies copies;
    private final InFlight<SsgGroup> running = new InFlight<>(this::isSignalled, this::ended);
    private final InFlight<GlSsgCommand> copying = new InFlight<>(this::hasCopied, this::copied);
    private final BooleanSupplier fencePoll = this::pollFences;
    private final ArrayDeque<SsgGroup> idle = new ArrayDeque<>();
    private @Nullable SsgGroup open; // transfers that start now join it
    private boolean watched;
    private int polls;

    GlSsgQueue(GlContext context, SsgQueue<GlSsgCommand> queue) {
        this.context = context;
        this.queue = queue;
        this.copies = new GlCopies(context);
    }

    @Override
    public GlSsgCommand command(Request request) {
        return new GlSsgCommand(request);
    }

    @Override
    public boolean start(GlSsgCommand command) {
        taken.add(command);
        dirty = true;
        return true;
    }

    @Override
    public void copy(GlSsgCommand command) {
        start(command);
    }

    @Override
    public void flush() {
        if (dirty && !context.post(begin)) {
            for (GlSsgCommand command = taken.poll(); command != null; command = taken.poll()) {
                end(command, GlCall.RESET.failure(GlError.CONTEXT_LOST)); // completed, with all its transfers
            }
        }
        dirty = false;
    }

    private void begin() {
        for (GlSsgCommand command = taken.poll(); command != null; command = taken.poll()) {
            begin(command);
        }
        flushGroup();
        if (!watched && !(running.isEmpty() && copying.isEmpty())) {
            watched = true;
            context.watch(fencePoll);
        }
    }

    private void begin(GlSsgCommand command) {
        DeviceMemory ring = command.ring();
        if (command.request.isCopy()) {
            command.step.as(command.request);
            copyStep(command);
        } else if (command.isWrite() && ring != null) {
            command.stepByRing(ring);
            copyStep(command);
        } else {
            transfer(command);
        }
    }

    private void copyStep(GlSsgCommand command) {
        command.hasCopied = false;
        copies.copy(command.step);
        if (command.hasCopied) {
            copied(command);
        } else {
            copying.add(command);
        }
    }

    private boolean hasCopied(GlSsgCommand command) {
        copies.poll(command.step);
        return command.hasCopied;
    }

    private void copied(GlSsgCommand command) {
        if (command.isWrite() && !command.hasFailed()) {
            transfer(command);
        } else {
            queue.returned(command);
        }
    }

    /**
     * Makes the driver transfer the blocks, asynchronously where it supports that; otherwise the transfer is complete
     * on return.
     */
    private void transfer(GlSsgCommand command) {
        SsgGroup group = command.buffer().refusesSyncs() ? null : group();
        int code = call(command, group == null ? 0 : group.address());
        if (code != GlError.NO_ERROR && group != null) {
            group.refused();
        }
        if (code == GlError.INVALID_OPERATION && group != null) {
            // Either the driver does not accept a sync for this buffer, or there is no access to the file: a call
            // without a sync tells which.
            group = null;
            code = call(command, 0);
            if (code == GlError.NO_ERROR) {
                command.buffer().refuseSyncs();
            }
        }
        if (code != GlError.NO_ERROR) {
            end(command, (command.isWrite() ? GlCall.WRITE_FILE : GlCall.READ_FILE).failure(code));
        } else if (group == null) {
            transferred(command);
        } else {
            group.add(command);
        }
    }

    private static int call(GlSsgCommand command, long sync) {
        long file = command.object().handle();
        long at = command.bufferOffset();
        long bytes = command.wholeBlocks();
        int buffer = command.buffer().name();
        GlFailure.takeError(); // clears errors of earlier calls
        if (command.isWrite()) {
            Ssg.glWriteFileAMD(buffer, file, at, command.request.fileOffset(), bytes, sync);
        } else {
            Ssg.glReadFileAMD(buffer, file, at, command.request.fileOffset(), bytes, sync);
        }
        return GlFailure.takeError();
    }

    private void transferred(GlSsgCommand command) {
        DeviceMemory ring = command.ring();
        if (ring == null || command.isWrite()) {
            queue.returned(command);
        } else {
            command.stepByRing(ring);
            copyStep(command);
        }
    }

    private void end(GlSsgCommand command, NativeFailure failure) {
        command.fails(failure);
        queue.returned(command);
    }

    /** Returns the group for the next transfer; null if there is no sync for it, and it is to be awaited. */
    private @Nullable SsgGroup group() {
        SsgGroup group = open;
        if (group != null && group.isFull()) {
            flushGroup();
            group = null;
        }
        if (group == null) {
            group = idle.isEmpty() ? new SsgGroup() : idle.pop();
            if (!group.begin()) {
                idle.push(group);
                return null;
            }
            open = group;
        }
        return group;
    }

    private void flushGroup() {
        SsgGroup group = open;
        open = null;
        if (group == null) {
            return;
        }
        Gl.glFlush(); // a sync that is not flushed may never be passed
        if (group.isEmpty()) {
            idle.push(group);
        } else {
            running.add(group);
        }
    }

    /** Returns true if nothing is left to poll. */
    private boolean pollFences() {
        running.poll();
        copying.poll();
        flushGroup();
        watched = !(running.isEmpty() && copying.isEmpty());
        return !watched;
    }

    private boolean isSignalled(SsgGroup group) {
        int state = group.poll();
        boolean signalled = state != Gl.GL_TIMEOUT_EXPIRED;
        // Syncs of a lost context count as signalled, or never are.
        int reset = signalled || ++polls % POLLS_PER_QUESTION == 0 ? context.resetStatus() : GlError.NO_ERROR;
        group.failed = null;
        if (reset != GlError.NO_ERROR) {
            group.failed = GlCall.RESET.failure(reset);
        } else if (state == Gl.GL_WAIT_FAILED || state == 0) {
            int answer = GlFailure.takeError();
            if (GlFailure.cause(answer).isEmpty()) {
                Gl.glFinish(); // the answer is the question's, not the transfers', which may run on
            }
            group.failed = GlCall.WAIT.failure(answer);
        }
        return signalled || reset != GlError.NO_ERROR;
    }

    private void ended(SsgGroup group) {
        NativeFailure failed = group.failed;
        List<GlSsgCommand> ended = group.end();
        idle.push(group);
        for (GlSsgCommand command : ended) {
            if (failed != null) {
                end(command, failed);
            } else {
                transferred(command);
            }
        }
    }

    @Override
    public void close() {
        context.post(() -> idle.forEach(SsgGroup::close));
    }
}
