// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * The queue of the extension, on any of its devices. A command between a file and memory gets a file object that sees
 * all of its bytes, and a ring buffer if the disk does not reach the memory; then it is submitted to the device.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; blocking calls (syncs, extending and opening files) are
 * {@linkplain SsgOffload offloaded}.
 *
 * <p><b>Cancellation:</b> cancels a request that is not yet submitted to the device; others run to their end, since no
 * driver can stop one.
 *
 * @param <C> the commands
 */
public final class SsgQueue<C extends SsgCommand> implements NativeQueue {

    private final SsgDevice<C> device;
    private final SsgCommands<C> commands;
    private final Function<Request, SsgCommand> newCommand;
    private final ArrayDeque<C> waiting = new ArrayDeque<>(); // for the device, for the ring, or for fences
    private final ArrayDeque<C> repeated = new ArrayDeque<>(); // found in the current turn
    private final ArrayDeque<C> ended = new ArrayDeque<>();
    private final Wakeup wakeup = new Wakeup();
    private final Runnable waker = wakeup::wake;
    private final SsgOffload<C> offload = new SsgOffload<>(wakeup);
    private final Pause pause = Pause.betweenPolls(); // between polls

    SsgQueue(SsgDevice<C> device) {
        this.device = device;
        this.commands = device.openQueue(this);
        this.newCommand = commands::command;
        device.join();
    }

    @Override
    public int depth() {
        return device.sizes().depth();
    }

    @Override
    public void enqueue(Request request) {
        C command = command(request);
        command.begin();
        waiting.add(command);
    }

    @SuppressWarnings("unchecked") // a tag always belongs to this queue
    private C command(Request request) {
        return (C) request.attachment(SsgCommand.class, newCommand);
    }

    @Override
    public void cancel(Request request) {
        C command = command(request);
        if (waiting.remove(command)) {
            command.fails(SsgCommand.CANCELLED);
            ended.add(command);
        }
    }

    @Override
    public void turn(long waitNanos) {
        if (advance() || waitNanos == 0) {
            pause.reset();
            return;
        }
        wakeup.await(commands.mustPoll(!waiting.isEmpty()) ? pause.next(waitNanos) : waitNanos);
        if (advance()) {
            pause.reset();
        }
    }

    private boolean advance() {
        for (C command = offload.poll(); command != null; command = offload.poll()) {
            resume(command);
        }
        commands.poll();
        for (C command = repeated.pollLast(); command != null; command = repeated.pollLast()) {
            waiting.addFirst(command);
        }
        submit();
        boolean any = !repeated.isEmpty(); // commands that the device has refused entirely
        for (C command = ended.poll(); command != null; command = ended.poll()) {
            any = true;
            command.report();
        }
        return any;
    }

    private void resume(C command) {
        boolean ofFile = command.request.kind() == Request.Kind.READ || command.request.kind() == Request.Kind.WRITE;
        if (command.started && ofFile) {
            moved(command);
        } else if (ofFile && !command.hasFailed()) {
            waiting.addFirst(command); // its file is now prepared
        } else {
            done(command);
        }
    }

    private void submit() {
        for (int count = waiting.size(); count > 0; count--) {
            C command = waiting.remove();
            if (start(command)) {
                pause.reset();
            } else {
                waiting.add(command); // behind the others, which have the same path
            }
        }
        commands.flush();
    }

    /** Starts a command; returns false if it must wait. */
    private boolean start(C command) {
        switch (command.request.kind()) {
            case SYNC -> offload.run(command, command::sync);
            case COPY_IN, COPY_OUT -> {
                command.started = true;
                commands.copy(command);
            }
            case READ, WRITE -> {
                return startFile(command);
            }
        }
        return true;
    }

    private boolean startFile(C command) {
        boolean byRing = !device.isReachable(command.request.memory());
        if (byRing && !device.hasFreeRing()) {
            return false;
        }
        try {
            if (!takeObject(command)) {
                return true;
            }
        } catch (IOException e) {
            command.fails(e);
            done(command);
            return true;
        }
        command.ring = byRing ? device.takeRing() : null;
        command.started = true;
        if (!commands.start(command)) {
            release(command);
            return false;
        }
        return true;
    }

    /**
     * Assigns a file object to a command; returns false if the command has ended, or waits for its file on another
     * thread.
     */
    private boolean takeObject(C command) throws IOException {
        SsgFile file = command.file();
        boolean fits = command.request.bytes() <= Long.MAX_VALUE - command.request.fileOffset();
        if (!command.isWrite() && command.isFirstAttempt() && fits) {
            // For a read of bytes that the driver sees: a file truncated since is detected at the end.
            command.limitTo(Long.MAX_VALUE);
            command.object = file.handle().take(false, command.end(), -1);
            if (command.object != null) {
                return true;
            }
        }
        long size = file.size();
        if (command.limitTo(size) == 0) {
            command.ends(0);
            finish(command);
            return false;
        }
        if (!command.lengthens(size)) {
            command.object = file.handle().take(command.isWrite(), command.end(), size);
        }
        if (command.object == null) {
            prepare(command);
        }
        return command.object != null;
    }

    private void prepare(C command) {
        SsgFile file = command.file();
        if (!command.mayTryAgain()) {
            command.fails(new SsgRefusal(
                    file + " changes its length repeatedly, or the driver does not report a length of at least "
                            + command.end()));
            done(command);
            return;
        }
        command.tryAgain();
        boolean write = command.isWrite();
        long end = command.end();
        offload.run(
                command,
                () -> {
                    if (write) {
                        file.host().lengthen(end); // not every driver extends files that it writes
                    }
                },
                device::execute,
                () -> file.handle().reach(write, end));
    }

    private void release(C command) {
        SsgFileObject object = command.object;
        DeviceMemory ring = command.ring;
        command.object = null;
        command.ring = null;
        command.started = false;
        if (object != null) {
            object.release();
        }
        if (ring != null) {
            device.giveRing(ring);
        }
    }

    /**
     * Called by the device for a READ or a WRITE whose blocks were moved, unless the command
     * {@linkplain SsgCommand#hasFailed has failed}. The I/O queue.
     */
    public void moved(C command) {
        if (command.hasFailed() && command.isCut()) {
            command.tryAgain();
            again(command);
            return;
        }
        release(command);
        if (command.hasFailed()) {
            done(command);
        } else {
            command.ends();
            finish(command);
        }
    }

    private void finish(C command) {
        if (command.hasFailed() || commands.finish(command)) {
            done(command);
        }
    }

    /** Called by the device for a READ or a WRITE that must be started again; the I/O queue. */
    public void again(C command) {
        release(command);
        repeated.add(command);
    }

    /**
     * Called by the device for a copy that has ended, or a command that {@link SsgCommands#finish} has held back; the
     * I/O queue.
     */
    public void done(C command) {
        command.started = false;
        ended.add(command);
    }

    /** As {@link #moved} or, for a copy, {@link #done}; any thread but the I/O queue, which it wakes. */
    public void returned(C command) {
        offload.giveBack(command);
    }

    /**
     * Returns the callback that wakes the I/O queue, which then polls and starts waiting commands; always the same
     * object.
     */
    public Runnable waker() {
        return waker;
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    @Override
    public void close() {
        commands.close();
        device.leave();
    }
}
