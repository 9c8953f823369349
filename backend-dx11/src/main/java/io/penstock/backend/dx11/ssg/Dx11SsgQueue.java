// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.kit.ssg.SsgCommand;
import io.penstock.engine.kit.ssg.SsgCommands;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Commands by AMD's interface: the commands between one file and one buffer in one turn are one call with several
 * regions. Waiting for a call blocks in the driver, and the manual requires a wait for every transfer: each call in
 * flight has a thread.
 *
 * <p><b>Threading:</b> the I/O queue's thread, except for those waits and the copies of edges, which the device's
 * executor makes.
 */
final class Dx11SsgQueue implements SsgCommands<Dx11SsgCommand> {

    private static final long IDLE_SECONDS = 10;

    private final ExecutorPump executor;
    private final SsgQueue<Dx11SsgCommand> queue;
    private final boolean asynchronous;
    private final ThreadPoolExecutor waiters;
    private final ArrayDeque<SsgCall> free = new ArrayDeque<>();
    private final List<SsgCall> filled = new ArrayList<>(); // in the current turn
    private final ConcurrentLinkedQueue<SsgCall> ended = new ConcurrentLinkedQueue<>(); // were waited for

    Dx11SsgQueue(ExecutorPump executor, SsgQueue<Dx11SsgCommand> queue, Supplier<SsgCall> calls, Options options) {
        this.executor = executor;
        this.queue = queue;
        this.asynchronous = options.get(Dx11Options.SSG_ASYNCHRONOUS);
        int count = options.get(Dx11Options.SSG_WAITERS);
        for (int i = 0; i < count; i++) {
            free.add(calls.get());
        }
        waiters = new ThreadPoolExecutor(
                count,
                count,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(count),
                run -> new DaemonThread("penstock-dx11-wait", run));
        waiters.allowCoreThreadTimeOut(true);
    }

    @Override
    public Dx11SsgCommand command(Request request) {
        return new Dx11SsgCommand(request, queue);
    }

    @Override
    public void copy(Dx11SsgCommand command) {
        try {
            executor.watch(command.copyStep);
        } catch (RejectedExecutionException closed) {
            command.fails(SsgCommand.CANCELLED);
            queue.done(command);
        }
    }

    /**
     * {@inheritDoc} Adds a command to a call of this turn, or to a new one if one is available and the buffer is free.
     */
    @Override
    public boolean start(Dx11SsgCommand command) {
        for (SsgCall call : filled) {
            if (call.add(command)) {
                return true;
            }
        }
        if (free.isEmpty() || !command.turns().tryTransfer(queue.waker())) {
            return false;
        }
        SsgCall call = free.remove();
        call.add(command);
        filled.add(call);
        return true;
    }

    @Override
    public void flush() {
        for (SsgCall call : filled) {
            if (!asynchronous || call.submit()) {
                ElasticCalls.run(waiters, () -> wait(call));
            } else {
                complete(call);
            }
        }
        filled.clear();
    }

    private void wait(SsgCall call) {
        call.await();
        ended.add(call);
        queue.waker().run();
    }

    @Override
    public void poll() {
        for (SsgCall call = ended.poll(); call != null; call = ended.poll()) {
            complete(call);
        }
    }

    private void complete(SsgCall call) {
        call.commands().get(0).turns().endTransfer();
        boolean several = call.commands().size() > 1;
        for (Dx11SsgCommand command : call.commands()) {
            if (call.failure == null) {
                queue.moved(command);
            } else if (several) {
                command.alone = true; // the driver does not report which of them failed
                queue.again(command);
            } else {
                command.fails(call.failure);
                queue.moved(command);
            }
        }
        call.clear();
        free.push(call);
    }

    /**
     * {@inheritDoc} Records in a bounce buffer how far a read has filled it, also after a read that continues a short
     * one: the rest is left from the previous transfer.
     */
    @Override
    public boolean finish(Dx11SsgCommand command) {
        if (command.request.memory() instanceof SsgBounceBuffer staging && !command.isWrite()) {
            boolean isShort = command.moved() < command.request.bytes();
            staging.endsAt(isShort ? command.request.memoryOffset() + command.moved() : staging.bytes());
        }
        return true;
    }

    @Override
    public void close() {
        waiters.shutdown();
    }
}
