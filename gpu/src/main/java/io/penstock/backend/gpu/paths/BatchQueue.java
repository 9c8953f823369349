// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.GpuFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The file API's batches: one batch handle; entries are submitted as earlier ones complete.
 *
 * <p>Events are taken one at a time and identified by their cookie. The operations in flight are bounded by the largest
 * batch that the driver accepts and by its bounce buffer pools, which all batches of the process share: a batch that
 * needs more bounce buffers than exist hangs.
 *
 * <p>Batches open a file by its name. They refuse an unlinked file, together with everything in the same submission.
 * Such an entry, and later reads of that file, use a blocking call.
 *
 * <p><b>Cancellation:</b> only whole batches can be cancelled, and with them the entries of other transfers.
 */
public final class BatchQueue extends PolledQueue {

    /** Consecutive errors of batchIOGetStatus after which the batch counts as broken. */
    private static final int MOST_ERRORS = 64;

    private static final int NO_CELL = -1;
    private static final String SET_UP = "batchIOSetUp";

    private final int[] cells; // by tag: NO_CELL where the file API does not have it
    private final int[] generations; // by tag: distinguishes entries of the same tag
    private @Nullable Batch batch; // from the first request on
    private int errors;

    /** The state while the driver is open. */
    private record Batch(long handle, int most, BatchMemory memory, BounceBudget.Claim budget, FileDriver driver) {}

    public BatchQueue(GpuContext context, CallQueue others) {
        super(context, others);
        this.cells = new int[others.depth()];
        this.generations = new int[others.depth()];
        Arrays.fill(cells, NO_CELL);
    }

    @Override
    protected boolean takes(Request request) {
        return ((GpuFile) request.file()).handle().takesBatches();
    }

    @Override
    protected boolean isInFlight(int tag) {
        return cells[tag] != NO_CELL;
    }

    @Override
    protected boolean startWaiting() {
        if (next() == null) {
            withdraw(); // what waited for room may have been cancelled
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
                take(open, first + count++);
            } while (open.memory.free(first) == first + count && mayTake(open));
            submit(open, first, count);
            any = true;
        }
        return any;
    }

    private void withdraw() {
        if (batch != null) {
            batch.budget.withdraw();
        }
    }

    private boolean mayTake(Batch open) {
        CallTask next = next();
        return next != null && inFlight() < open.most && open.budget.take(next.rest());
    }

    private void take(Batch open, int cell) {
        CallTask task = takeNext();
        cells[task.tag] = cell;
        open.memory.write(cell, task, (long) ++generations[task.tag] << Integer.SIZE | task.tag);
    }

    /** Submits cells. According to the vendor, either all of them start or none. */
    private void submit(Batch open, int first, int count) {
        long status = open.memory.submit(open.handle, first, count);
        int error = FileApi.error(status);
        if (error == FileApi.SUCCESS) {
            return;
        }
        if (files.isOfBatchAlone(error) && count > 1) {
            // One entry is the cause, but which one is not reported: the others continue.
            for (int cell = first; cell < first + count; cell++) {
                submit(open, cell, 1);
            }
            return;
        }
        for (int tag = 0; tag < cells.length; tag++) {
            if (cells[tag] >= first && cells[tag] < first + count) {
                refused(open, others.task(tag), status);
            }
        }
    }

    private void refused(Batch open, CallTask task, long status) {
        int error = FileApi.error(status);
        if (files.isOfBatchAlone(error)) {
            task.file().handle().refusesBatches(error);
            release(open, task);
            others.begin(task);
        } else {
            fail(open, task, files.failureOfStatus("batchIOSubmit", status));
        }
    }

    @Override
    protected void poll(boolean suspicious) {
        Batch open = batch;
        if (open == null) {
            return;
        }
        long status = open.memory.poll(open.handle, inFlight());
        if (FileApi.error(status) != FileApi.SUCCESS) {
            if (++errors == MOST_ERRORS) {
                abandon(open, files.failureOfStatus("batchIOGetStatus", status));
            }
            return;
        }
        errors = 0;
        for (int event = open.memory.polled() - 1; event >= 0; event--) {
            CallTask task = open.memory.isEnd(event) ? known(open.memory.cookie(event)) : null;
            if (task != null) {
                completed(open, task, open.memory.count(event), open.memory.failure(event));
            }
        }
    }

    private @Nullable CallTask known(long cookie) {
        int tag = (int) cookie;
        boolean ours = tag >= 0 && tag < cells.length && generations[tag] == (int) (cookie >> Integer.SIZE);
        return ours && cells[tag] != NO_CELL ? others.task(tag) : null;
    }

    private void completed(Batch open, CallTask task, long count, @Nullable NativeFailure failure) {
        if (failure != null) {
            task.file().handle().failed(failure);
            fail(open, task, failure);
            return;
        }
        release(open, task);
        if (task.goesOn(count)) {
            again(task);
        } else {
            end(task, count);
        }
    }

    private void fail(Batch open, CallTask task, NativeFailure failure) {
        release(open, task);
        fail(task, failure);
    }

    private void release(Batch open, CallTask task) {
        open.memory.release(cells[task.tag]);
        open.budget.give(task.rest());
        cells[task.tag] = NO_CELL;
        countReleased();
    }

    /** The batch no longer reports completions: destroying it waits for its entries, or nothing does. */
    private void abandon(Batch open, NativeFailure cause) {
        errors = 0;
        files.batchIODestroy(open.handle);
        for (int tag = 0; tag < cells.length; tag++) {
            if (cells[tag] != NO_CELL) {
                fail(open, others.task(tag), cause);
            }
        }
        free(open);
        batch = null;
    }

    private static void free(Batch open) {
        open.budget.end();
        open.memory.close();
        open.driver.leave();
    }

    /** Returns the batch. If none can be created, fails all waiting requests and returns null. */
    private @Nullable Batch batch() {
        int bound = context.rebind();
        if (bound != DriverApi.SUCCESS) {
            withdraw();
            failWaiting(driver.failure(GpuContext.BIND, bound));
            return null;
        }
        if (batch == null) {
            batch = setUp();
        }
        return batch;
    }

    private @Nullable Batch setUp() {
        FileDriver open = FileDriver.find(files);
        if (open == null) {
            failWaiting(files.failure(SET_UP, FileApi.DRIVER_NOT_INITIALIZED));
            return null;
        }
        int most = Math.max(1, Math.min(open.properties().maxBatch(), cells.length));
        long[] handle = new long[1];
        long status = files.batchIOSetUp(handle, most);
        if (FileApi.error(status) != FileApi.SUCCESS) {
            open.leave();
            failWaiting(files.failureOfStatus(SET_UP, status));
            return null;
        }
        BounceBudget.Claim claim = BounceBudget.open(open).claim(context.gpu().ordinal(), wakeup()::wake);
        return new Batch(handle[0], most, new BatchMemory(files, most), claim, open);
    }

    @Override
    public void close() {
        Batch open = batch;
        if (open != null) {
            files.batchIODestroy(open.handle);
            free(open);
        }
        others.close();
    }
}
