// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * cuFile's batches: one batch handle, into which entries go as earlier ones end.
 *
 * <p>Events are taken one by one, and known by their cookie. What is in flight is bounded by the largest batch that the
 * driver takes and by its pools of bounce buffers, since a batch that needs more of those than there are hangs.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; cuFile is called by the lane alone, the calls of {@code others} by their
 * threads.
 *
 * <p><b>Cancellation:</b> takes a command back that cuFile does not have; others end by themselves.
 * cuFileBatchIOCancel knows whole batches only, and would end other transfers' entries.
 */
final class BatchQueue implements NativeQueue {

    /** Answers of cuFileBatchIOGetStatus that are errors, one after the other, until the batch counts as broken. */
    private static final int MOST_ERRORS = 64;

    private static final int NO_CELL = -1;

    private final CuFileSession session;
    private final CallQueue others;
    private final CallTask[] tasks; // by id
    private final int[] cells; // by id: NO_CELL where cuFile does not have it
    private final int[] generations; // by id: tells an entry from an earlier one of the same number
    private final ArrayDeque<CallTask> waiting = new ArrayDeque<>();
    private final ArrayDeque<CallTask> ended = new ArrayDeque<>();
    private final PollPause pause = new PollPause();
    private @Nullable Batch batch; // from the first command on
    private int inFlight; // in cuFile's hands
    private int errors;
    private long statusError; // what the last of them was

    /** What there is while the driver is open. */
    private record Batch(long handle, int most, BatchMemory memory, BounceBudget budget, CuFileDriver.Use driver) {}

    BatchQueue(CuFileSession session, CallQueue others) {
        this.session = session;
        this.others = others;
        this.tasks = new CallTask[others.depth()];
        this.cells = new int[tasks.length];
        this.generations = new int[tasks.length];
        for (int id = 0; id < tasks.length; id++) {
            tasks[id] = new CallTask(id);
            cells[id] = NO_CELL;
        }
    }

    @Override
    public int depth() {
        return tasks.length;
    }

    @Override
    public void enqueue(int id, Command command) {
        if (CallTask.isOfCuFile(command)) {
            tasks[id].fill(command);
            waiting.add(tasks[id]);
        } else {
            others.enqueue(id, command);
        }
    }

    @Override
    public void cancel(int id) {
        CallTask task = tasks[id];
        if (waiting.remove(task)) {
            end(task, CuFileResults.CANCELLED);
        } else if (cells[id] == NO_CELL) {
            others.cancel(id);
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        boolean begun = submitWaiting();
        boolean any = pollAndReport(completions) || begun;
        if (any || waitNanos == 0) {
            pause.reset();
            return;
        }
        others.await(inFlight == 0 ? waitNanos : pause.next(waitNanos));
        pollAndReport(completions);
    }

    private boolean pollAndReport(Completions completions) {
        if (inFlight > 0) {
            poll();
        }
        boolean any = others.report(completions) > 0;
        for (CallTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.forget();
            completions.completed(task.id, task.result);
        }
        return any;
    }

    private boolean submitWaiting() {
        if (waiting.isEmpty()) {
            return false;
        }
        Batch open = batch();
        if (open == null) {
            return true;
        }
        boolean any = false;
        for (int first = open.memory.free(0); first >= 0 && mayTake(open); first = open.memory.free(first)) {
            int count = 0;
            do {
                take(open, waiting.remove(), first + count++);
            } while (open.memory.free(first) == first + count && mayTake(open));
            submit(open, first, count);
            any = true;
        }
        return any;
    }

    private boolean mayTake(Batch open) {
        CallTask next = waiting.peek();
        return next != null && inFlight < open.most && open.budget.take(next.rest());
    }

    private void take(Batch open, CallTask task, int cell) {
        inFlight++;
        cells[task.id] = cell;
        open.memory.write(cell, task, (long) ++generations[task.id] << Integer.SIZE | task.id);
    }

    private void submit(Batch open, int first, int count) {
        long status = open.memory.submit(open.handle, first, count);
        if (CuFile.error(status) == CuFileError.SUCCESS) {
            return;
        }
        // All or nothing, says the vendor: none of these was begun.
        for (CallTask task : tasks) {
            if (cells[task.id] >= first && cells[task.id] < first + count) {
                letGo(open, task, CuFileResults.ofStatus(status));
            }
        }
    }

    private void poll() {
        Batch open = batch;
        if (open == null) {
            return;
        }
        long status = open.memory.poll(open.handle, inFlight);
        if (CuFile.error(status) != CuFileError.SUCCESS) {
            statusError = CuFileResults.ofStatus(status);
            if (++errors == MOST_ERRORS) {
                giveUp(open);
            }
            return;
        }
        errors = 0;
        for (int event = open.memory.polled() - 1; event >= 0; event--) {
            long result = open.memory.result(event);
            CallTask task = result == BatchMemory.UNDER_WAY ? null : known(open.memory.cookie(event));
            if (task != null) {
                took(open, task, result);
            }
        }
    }

    private @Nullable CallTask known(long cookie) {
        int id = (int) cookie;
        boolean ours = id >= 0 && id < tasks.length && generations[id] == (int) (cookie >> Integer.SIZE);
        return ours && cells[id] != NO_CELL ? tasks[id] : null;
    }

    private void took(Batch open, CallTask task, long result) {
        long asked = task.rest();
        if (task.goesOn(result)) {
            release(open, task, asked);
            waiting.addFirst(task);
            return;
        }
        session.ended(task, result);
        letGo(open, task, result);
    }

    private void letGo(Batch open, CallTask task, long result) {
        release(open, task, task.rest());
        end(task, task.total(result));
    }

    private void release(Batch open, CallTask task, long bytes) {
        open.memory.release(cells[task.id]);
        open.budget.give(bytes);
        cells[task.id] = NO_CELL;
        inFlight--;
    }

    private void end(CallTask task, long result) {
        task.result = result;
        ended.add(task);
    }

    /** The batch does not tell any more what ends: destroying it waits for its entries, or nothing does. */
    private void giveUp(Batch open) {
        errors = 0;
        CuFile.cuFileBatchIODestroy(open.handle);
        for (CallTask task : tasks) {
            if (cells[task.id] != NO_CELL) {
                letGo(open, task, statusError);
            }
        }
        open.memory.close();
        open.driver.close();
        batch = null;
    }

    /** Returns the batch, or null after having ended all that waits for one that cannot be had. */
    private @Nullable Batch batch() {
        int bound = session.context().bind();
        if (bound != CudaError.SUCCESS) {
            endWaiting(CuFileResults.ofCuda(bound));
            return null;
        }
        if (batch == null) {
            batch = setUp();
        }
        return batch;
    }

    private @Nullable Batch setUp() {
        DriverProperties properties = session.properties();
        if (properties == null) {
            endWaiting(-CuFileError.DRIVER_NOT_INITIALIZED);
            return null;
        }
        int most = Math.max(1, Math.min(properties.maxBatch(), tasks.length));
        long[] handle = new long[1];
        long status = CuFile.cuFileBatchIOSetUp(handle, most);
        if (CuFile.error(status) != CuFileError.SUCCESS) {
            endWaiting(CuFileResults.ofStatus(status));
            return null;
        }
        CuFileDriver.Use driver = CuFileDriver.PROCESS.again();
        return new Batch(handle[0], most, new BatchMemory(most), BounceBudget.of(properties), driver);
    }

    private void endWaiting(long result) {
        for (CallTask task = waiting.poll(); task != null; task = waiting.poll()) {
            end(task, result);
        }
    }

    @Override
    public void wake() {
        others.wake();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        int error = CuFileResults.cuFileError(result);
        boolean ofBatch = (kind == Command.Kind.READ || kind == Command.Kind.WRITE)
                && (error != 0 || result == CuFileResults.TIMED_OUT || result == CuFileResults.UNTOLD_ERRNO);
        return ofBatch ? CuFileResults.failure("cuFileBatchIO", result, "") : others.failure(kind, result);
    }

    @Override
    public void close() {
        Batch open = batch;
        if (open != null) {
            CuFile.cuFileBatchIODestroy(open.handle);
            open.memory.close();
            open.driver.close();
        }
        others.close();
    }
}
