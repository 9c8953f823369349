// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.Doorbell;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * The queue of the extension, on any of its devices. A command between a file and memory gets a file object that knows of all
 * of its bytes, and a buffer of the ring if the disk does not reach the memory; then the device has it.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; what blocks (syncs, lengthening and opening files) is {@linkplain SsgOffload
 * offloaded}.
 *
 * <p><b>Cancellation:</b> takes a request back that the device has not got; others end by themselves, since no driver can stop
 * one.
 *
 * @param <C> the commands
 */
public final class SsgQueue<C extends SsgCommand> implements NativeQueue {

    private final SsgDevice<C> device;
    private final SsgCommands<C> commands;
    private final Function<Request, SsgCommand> newCommand;
    private final ArrayDeque<C> waiting = new ArrayDeque<>(); // for the device, for the ring, or for fences
    private final ArrayDeque<C> repeated = new ArrayDeque<>(); // found in the turn under way
    private final ArrayDeque<C> ended = new ArrayDeque<>();
    private final Doorbell doorbell = new Doorbell();
    private final Runnable bell = doorbell::ring;
    private final SsgOffload<C> offload = new SsgOffload<>(doorbell);
    private final SsgPause pause = new SsgPause();

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

    @SuppressWarnings("unchecked") // a tag is this queue's for good
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
        doorbell.await(commands.mustPoll(!waiting.isEmpty()) ? pause.next(waitNanos) : waitNanos);
        advance();
    }

    private boolean advance() {
        for (C command = offload.poll(); command != null; command = offload.poll()) {
            takeBack(command);
        }
        commands.poll();
        for (C command = repeated.pollLast(); command != null; command = repeated.pollLast()) {
            waiting.addFirst(command);
        }
        submit();
        boolean any = !repeated.isEmpty(); // what the device has refused as a whole
        for (C command = ended.poll(); command != null; command = ended.poll()) {
            any = true;
            command.report();
        }
        return any;
    }

    private void takeBack(C command) {
        boolean ofFile = command.kind() == Request.Kind.READ || command.kind() == Request.Kind.WRITE;
        if (command.started && ofFile) {
            moved(command);
        } else if (ofFile && !command.hasFailed()) {
            waiting.addFirst(command); // its file is ready now
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
                waiting.add(command); // behind the others, all of which go the same way round
            }
        }
        commands.flush();
    }

    /** Starts a command; returns false if it has to wait. */
    private boolean start(C command) {
        switch (command.kind()) {
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
        boolean byRing = !device.isReachable(command.memory());
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
            letGo(command);
            return false;
        }
        return true;
    }

    /** Gives a command its file object; returns false if it has ended, or waits for its file on another thread. */
    private boolean takeObject(C command) throws IOException {
        SsgFile file = command.file();
        boolean fits = command.bytes() <= Long.MAX_VALUE - command.fileOffset();
        if (!command.isWrite() && command.isFirstAttempt() && fits) {
            // What reads bytes that the driver knows of: a file that was cut since is found out at the end.
            command.want(Long.MAX_VALUE);
            command.object = file.handle().take(false, command.end(), -1);
            if (command.object != null) {
                return true;
            }
        }
        long size = file.size();
        if (command.want(size) == 0) {
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
            command.fails(new SsgRefusal(file
                    + " is cut and lengthened all the time, or the driver does not see it reach to " + command.end()));
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
                        file.host().lengthen(end); // a driver may lengthen files that it writes, or not
                    }
                },
                device::execute,
                () -> file.handle().reach(write, end));
    }

    private void letGo(C command) {
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
     * Takes a READ or a WRITE back from the device: its blocks were moved, unless the command {@linkplain SsgCommand#hasFailed has
     * failed}. The lane.
     */
    public void moved(C command) {
        if (command.hasFailed() && command.isCut()) {
            command.tryAgain();
            again(command);
            return;
        }
        letGo(command);
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

    /** Takes a READ or a WRITE back from the device, to be started again; the lane. */
    public void again(C command) {
        letGo(command);
        repeated.add(command);
    }

    /** Takes a copy back from the device, or what {@link SsgCommands#finish} has kept, with what it has come to; the lane. */
    public void done(C command) {
        command.started = false;
        ended.add(command);
    }

    /** As {@link #moved} or, for a copy, {@link #done}; any thread but the lane, which it wakes. */
    public void returned(C command) {
        offload.giveBack(command);
    }

    /** Returns what wakes the lane, which then polls, and starts what waits; the same object each time. */
    public Runnable bell() {
        return bell;
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public void close() {
        commands.close();
        device.leave();
    }
}
