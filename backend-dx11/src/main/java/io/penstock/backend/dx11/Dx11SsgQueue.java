// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Options;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import io.penstock.engine.spi.ssg.SsgCommands;
import io.penstock.engine.spi.ssg.SsgQueue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Commands by AMD's interface: what goes between one file and one buffer in one turn is one call with several regions. A
 * wait for a call blocks in the driver, and the manual wants one for every transfer: each call in flight has a thread.
 *
 * <p><b>Threading:</b> the lane's, but for those waits, and copies of edges, which the device's executor makes.
 */
final class Dx11SsgQueue implements SsgCommands<Dx11SsgCommand> {

    private static final long IDLE_SECONDS = 10;

    private final Dx11Device device;
    private final SsgQueue<Dx11SsgCommand> queue;
    private final boolean asynchronous;
    private final ThreadPoolExecutor waiters;
    private final ArrayDeque<SsgCall> free = new ArrayDeque<>();
    private final List<SsgCall> filled = new ArrayList<>(); // in the turn under way
    private final ConcurrentLinkedQueue<SsgCall> ended = new ConcurrentLinkedQueue<>(); // were waited for

    Dx11SsgQueue(Dx11Ssg ssg, Options options, SsgQueue<Dx11SsgCommand> queue) {
        this.device = ssg.device();
        this.queue = queue;
        this.asynchronous = options.get(Dx11Options.SSG_ASYNCHRONOUS);
        int count = options.get(Dx11Options.SSG_WAITERS);
        for (int i = 0; i < count; i++) {
            free.add(new SsgCall(ssg, options));
        }
        waiters = new ThreadPoolExecutor(
                count, count, IDLE_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(count), Dx11SsgQueue::thread);
        waiters.allowCoreThreadTimeOut(true);
    }

    private static Thread thread(Runnable run) {
        Thread thread = new Thread(null, run, "penstock-dx11-wait", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    @Override
    public Dx11SsgCommand command(Request request) {
        return new Dx11SsgCommand(request, queue);
    }

    @Override
    public void copy(Dx11SsgCommand command) {
        try {
            device.executor().pump().watch(command.copyStep);
        } catch (RejectedExecutionException closed) {
            command.fails(SsgCommand.CANCELLED);
            queue.done(command);
        }
    }

    /** {@inheritDoc} Puts a command into a call of this turn, or begins one, if there is one and the buffer is free. */
    @Override
    public boolean start(Dx11SsgCommand command) {
        for (SsgCall call : filled) {
            if (call.takes(command)) {
                call.add(command);
                return true;
            }
        }
        SsgCall call = free.poll();
        if (call == null) {
            return false;
        }
        if (command.memory() instanceof Dx11Memory buffer && !buffer.turns().tryTransfer(queue.bell())) {
            free.push(call);
            return false;
        }
        call.begin(command);
        filled.add(call);
        return true;
    }

    @Override
    public void flush() {
        for (SsgCall call : filled) {
            if (!asynchronous || call.submit()) {
                waiters.execute(() -> wait(call));
            } else {
                takeBack(call);
            }
        }
        filled.clear();
    }

    private void wait(SsgCall call) {
        call.await();
        ended.add(call);
        queue.bell().run();
    }

    @Override
    public void poll() {
        for (SsgCall call = ended.poll(); call != null; call = ended.poll()) {
            takeBack(call);
        }
    }

    private void takeBack(SsgCall call) {
        NativeFailure failure = call.failure;
        boolean several = call.commands().size() > 1;
        for (Dx11SsgCommand command : call.commands()) {
            if (failure == null) {
                queue.moved(command);
            } else if (several) {
                command.alone = true; // which of them it was, the driver does not say
                queue.again(command);
            } else {
                command.fails(failure);
                queue.moved(command);
            }
        }
        call.end();
        free.push(call);
    }

    /** {@inheritDoc} Has a slot know how far a read has filled it: the rest is what it was for the transfer before. */
    @Override
    public boolean finish(Dx11SsgCommand command) {
        if (command.memory() instanceof SsgSlot slot && command.moved() < command.bytes()) {
            slot.endsAt(command.memoryOffset() + command.moved());
        }
        return true;
    }

    @Override
    public void close() {
        waiters.shutdown();
    }
}
