// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.NativeError;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.ControllerException;
import io.penstock.backend.nvme.controller.PrpLists;
import io.penstock.backend.nvme.controller.QueuePair;
import io.penstock.backend.nvme.controller.Status;
import io.penstock.backend.nvme.controller.SubmissionEntry;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Requests over one queue pair: a request is one command, and its tag the command's identifier. A turn rings the
 * doorbell once for all commands since the last, and polls for completions.
 *
 * <p>A command that does not complete in time is aborted, and if that does not end it, the controller is reset: all
 * commands of all its queue pairs then fail, once, and each queue opens its pair again.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; a turn blocks while the controller is being reset.
 *
 * <p><b>Cancellation:</b> a command runs to its end: an Abort costs more than the rest of a read, and rarely succeeds.
 */
final class NvmeQueue implements NativeQueue, QueuePair.Completions {

    private static final long MOST_CHECK_NANOS = 500_000_000;
    private static final int OUT_OF_RANGE = 0x080;

    private final Controller controller;
    private final long timeoutNanos;
    private final long checkNanos;
    private final PrpLists lists;
    private final boolean hasSgls;
    private final Command[] commands; // by tag
    private final ArrayDeque<Request> ended; // without a command
    private final ArrayDeque<Request> deferred = new ArrayDeque<>(); // until the queue pair is open again
    private final CompletionWait wait;
    private final HostCalls hostCalls;
    private QueuePair pair;
    private int inFlight;
    private long nextCheck;
    private boolean renewing;
    private String fault = "";

    /** The state of one tag. */
    private static final class Command {
        @Nullable
        Request request; // null if it is not in flight

        @Nullable
        NativeFailure failure; // of a request that ends without a command

        @Nullable
        DmaMemory tail; // for the last block of a file; null until needed

        long moved; // the bytes to report
        long deadline;
        boolean isAborted;
    }

    private NvmeQueue(Controller controller, QueuePair pair, PrpLists lists, CompletionWait wait) {
        this.controller = controller;
        this.pair = pair;
        this.lists = lists;
        hasSgls = controller.identity().sglAlignment() > 0;
        timeoutNanos = controller.timeoutNanos();
        checkNanos = Math.min(MOST_CHECK_NANOS, timeoutNanos / 4);
        int depth = pair.entries() - 1;
        commands = new Command[depth];
        Arrays.setAll(commands, tag -> new Command());
        ended = new ArrayDeque<>(depth);
        this.wait = wait;
        hostCalls = new HostCalls(depth, wait.wakeup());
    }

    /**
     * Opens a queue.
     *
     * <p><b>Ownership:</b> leaves the controller when it is closed, or if this throws.
     *
     * @param depth the most commands in flight, unless the controller takes fewer
     * @param pollNanos how long to poll after the last completion before sleeping between polls
     */
    static NvmeQueue open(Controller controller, int depth, long pollNanos) throws ControllerException {
        int commands = Math.min(depth, controller.maxDepth());
        int eventfd = LibC.eventfd(0, LibC.EFD_CLOEXEC); // -1 if there is none: it works without
        PrpLists lists = null;
        QueuePair pair = null;
        try {
            boolean hasSgls = controller.identity().sglAlignment() > 0; // no command has a list of PRPs then
            lists = new PrpLists(
                    controller.bus(),
                    commands,
                    hasSgls ? 0 : controller.identity().maxBytes());
            pair = controller.openQueuePair(commands, eventfd);
            CompletionWait wait = new CompletionWait(pair.hasInterrupts() ? eventfd : -1, pollNanos);
            NvmeQueue queue = new NvmeQueue(controller, pair, lists, wait);
            if (!pair.hasInterrupts() && eventfd >= 0) {
                LibC.close(eventfd);
            }
            return queue;
        } catch (ControllerException | RuntimeException | Error e) { // an Error: no memory
            if (pair != null) {
                controller.close(pair);
            }
            if (eventfd >= 0) {
                LibC.close(eventfd);
            }
            if (lists != null) {
                lists.free();
            }
            controller.leave();
            throw e;
        }
    }

    @Override
    public int depth() {
        return commands.length;
    }

    @Override
    public void enqueue(Request request) {
        NativeFailure lost = controller.lost();
        if (renewing) {
            deferred.add(request);
            return;
        }
        try {
            if (request.isCopy()) {
                copy(request);
                end(request, request.bytes(), null);
            } else if (request.file() instanceof HostFile) {
                hostCalls.begin(request);
            } else if (lost != null) {
                end(request, 0, lost);
            } else if (request.kind() == Request.Kind.SYNC) {
                begin(request, 0, SubmissionEntry.FLUSH, (NvmeFile) request.file());
            } else {
                move(request, (NvmeFile) request.file());
            }
        } catch (IOException e) {
            end(request, 0, HostFailure.of(request.kind(), e));
        } catch (TransientStorageException e) {
            String note = String.valueOf(e.getMessage()); // no memory for the last block of the file
            end(request, 0, new NativeFailure(new NativeError("allocate", 0, ""), NativeFailure.Kind.TRANSIENT, note));
        }
    }

    private static void copy(Request request) {
        long staging = request.staging().hostAddress() + request.stagingOffset();
        if (request.isInward()) {
            NativeMemory.copy(request.hostAddress(), staging, request.bytes());
        } else {
            NativeMemory.copy(staging, request.hostAddress(), request.bytes());
        }
    }

    private void move(Request request, NvmeFile file) throws IOException {
        boolean isRead = request.kind() == Request.Kind.READ;
        long offset = request.fileOffset();
        long bytes = isRead ? file.readable(offset, request.bytes()) : file.writable(offset, request.bytes());
        if (bytes == 0) { // the end of the file
            end(request, 0, isRead ? null : Status.failure("Write", OUT_OF_RANGE));
            return;
        }
        int block = file.blockBytes();
        if (bytes < block) { // the end of the file within a block: the rest of that block must not reach the memory
            DmaMemory tail = tail(commands[request.tag()], block);
            SubmissionEntry entry = begin(request, bytes, SubmissionEntry.READ, file);
            data(entry, request.tag(), tail.busAddress(), block);
            entry.blocks(file.block(offset), 1);
            return;
        }
        int blocks = (int) (bytes / block); // the engine requests the rest again
        long address = ((DmaMemory) request.memory()).busAddress() + request.memoryOffset();
        SubmissionEntry entry =
                begin(request, (long) blocks * block, isRead ? SubmissionEntry.READ : SubmissionEntry.WRITE, file);
        data(entry, request.tag(), address, blocks * block);
        entry.blocks(file.block(offset), blocks);
    }

    /**
     * Uses an SGL only where two PRPs do not suffice. One segment always does: memory for DMA has contiguous bus
     * addresses.
     */
    private void data(SubmissionEntry entry, int tag, long address, int bytes) {
        boolean isAligned = address % Integer.BYTES == 0; // as PRPs demand
        if (hasSgls && (!isAligned || PrpLists.areNeeded(address, bytes))) {
            entry.segment(address, bytes);
        } else {
            entry.data(address, lists.second(tag, address, bytes));
        }
    }

    private DmaMemory tail(Command command, int bytes) {
        DmaMemory tail = command.tail;
        if (tail == null || tail.bytes() < bytes) {
            if (tail != null) {
                tail.free();
            }
            tail = controller.bus().allocate(bytes);
            command.tail = tail;
        }
        return tail;
    }

    private SubmissionEntry begin(Request request, long bytes, int opcode, NvmeFile file) {
        Command command = commands[request.tag()];
        command.request = request;
        command.moved = bytes;
        command.isAborted = false;
        command.deadline = System.nanoTime() + timeoutNanos;
        if (inFlight++ == 0) {
            nextCheck = System.nanoTime() + checkNanos;
        }
        return pair.next().command(opcode, request.tag(), file.namespace());
    }

    private void end(Request request, long bytes, @Nullable NativeFailure failure) {
        Command command = commands[request.tag()];
        command.moved = bytes;
        command.failure = failure;
        ended.add(request);
    }

    @Override
    public void cancel(Request request) {
        // it completes
    }

    @Override
    public void turn(long waitNanos) {
        boolean ended = advance();
        if (!ended && waitNanos != 0) {
            if (inFlight == 0) {
                wait.awaitWakeup(waitNanos);
            } else {
                wait.awaitCompletion(waitNanos < 0 ? checkNanos : Math.min(waitNanos, checkNanos));
            }
            ended = advance();
        }
        if (ended) {
            wait.progress();
        }
    }

    /** Submits and completes what it can; returns whether any request has ended. */
    private boolean advance() {
        int count = endWithoutCommand() + hostCalls.end();
        if (pair.generation() == controller.generation()) {
            pair.ring();
            count += pair.poll(this);
            check();
        }
        if (pair.generation() != controller.generation() && controller.lost() == null) {
            renew();
            return true;
        }
        NativeFailure lost = controller.lost();
        if (lost != null && inFlight + deferred.size() > 0) {
            failAll(lost);
            while (!deferred.isEmpty()) {
                end(deferred.remove(), 0, lost);
            }
            return true;
        }
        return count > 0;
    }

    private int endWithoutCommand() {
        int count = ended.size(); // requests that follow end in the next turn
        for (int i = 0; i < count; i++) {
            Request request = ended.remove();
            Command command = commands[request.tag()];
            request.end(command.moved, command.failure);
        }
        return count;
    }

    @Override
    public void completed(int commandId, int status, int result) {
        Command command = commandId < commands.length ? commands[commandId] : null;
        Request request = command == null ? null : command.request;
        if (command == null || request == null) {
            fault = "completion of command " + commandId + " of queue " + pair.id() + ", which is not in flight";
            return;
        }
        command.request = null;
        inFlight--;
        if (status != Status.SUCCESS) {
            request.fail(Status.failure(name(request), status));
            return;
        }
        DmaMemory tail = command.tail;
        if (tail != null && isTail(request, command.moved)) {
            NativeMemory.copy(request.hostAddress(), tail.hostAddress(), command.moved);
        }
        request.complete(command.moved);
    }

    private static boolean isTail(Request request, long moved) {
        return request.kind() == Request.Kind.READ && moved < ((NvmeFile) request.file()).blockBytes();
    }

    private static String name(Request request) {
        return switch (request.kind()) {
            case READ, COPY_IN -> "Read";
            case WRITE, COPY_OUT -> "Write";
            case SYNC -> "Flush";
        };
    }

    /** Resets the controller if it is at fault, or does not complete a command in time. */
    private void check() {
        if (!fault.isEmpty()) {
            reset(fault);
            fault = "";
        } else if (inFlight > 0 && System.nanoTime() - nextCheck >= 0) {
            long now = System.nanoTime();
            nextCheck = now + checkNanos;
            String reported = controller.fault();
            if (!reported.isEmpty()) {
                reset(reported);
                return;
            }
            for (int tag = 0; tag < commands.length; tag++) {
                if (commands[tag].request != null && now - commands[tag].deadline > 0 && !abort(tag)) {
                    reset("command " + tag + " of queue " + pair.id() + " has not completed within "
                            + timeoutNanos / 1_000_000 + " ms");
                    return;
                }
            }
        }
    }

    /** Aborts a command, once; returns false if it is not going to end by that. */
    private boolean abort(int tag) {
        Command command = commands[tag];
        if (command.isAborted) {
            return false;
        }
        command.isAborted = true;
        command.deadline = System.nanoTime() + checkNanos;
        try {
            return controller.abort(pair, tag);
        } catch (ControllerException e) {
            return false;
        }
    }

    private void reset(String cause) {
        controller.reset(pair.generation(), cause);
    }

    /** Ends the commands that a reset has removed, and opens the queue pair again. */
    private void renew() {
        renewing = true; // what follows upon their ends must not be put into a queue that is gone
        pair.reap(this, pair.entries()); // what had completed before
        failAll(Status.failure("reset", Status.HOST_ABORTED));
        try {
            pair = controller.renew(pair);
        } catch (ControllerException e) {
            return; // lost: the next turn fails the rest
        } finally {
            renewing = false;
        }
        for (int count = deferred.size(); count > 0; count--) {
            enqueue(deferred.remove());
        }
    }

    private void failAll(NativeFailure failure) {
        for (Command command : commands) {
            Request request = command.request;
            if (request != null) {
                command.request = null;
                inFlight--;
                NativeError error = failure.error();
                request.fail(new NativeFailure(
                        new NativeError("NVMe " + name(request), error.code(), error.symbol()),
                        failure.kind(),
                        failure.note()));
            }
        }
    }

    @Override
    public Wakeup wakeup() {
        return wait.wakeup();
    }

    @Override
    public void close() {
        controller.close(pair);
        for (Command command : commands) {
            if (command.tail != null) {
                command.tail.free();
            }
        }
        lists.free();
        hostCalls.close();
        wait.close();
        controller.leave();
    }
}
