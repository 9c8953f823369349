// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Backend.StagingState;
import io.penstock.CommonOptions;
import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.kit.staging.ExecutorThread;
import io.penstock.engine.recording.FlightRecording;
import io.penstock.engine.resource.FileThreads;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.function.Function;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A queue that moves requests between files and a device through staging buffers. A READ or WRITE is at most as large
 * as a staging buffer, by the limits of a {@link StagedFile}.
 *
 * <p>Staging workers alone read and write memory that the processor reaches: without a staging buffer if alignment
 * allows, and never with a device call. A packed READ that the end of the file cuts short reports the bytes before it,
 * without the bytes of later pairs.
 *
 * <p><b>Cancellation:</b> a request that waits for a staging buffer or for the executor ends at once. One that a
 * staging worker or the device holds ends with its next step, as CANCELLED unless that was its last.
 *
 * <p><b>Errors:</b> once the device is lost, every request fails with the failure that lost it.
 */
public final class StagedQueue implements NativeQueue {

    static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("staging", 0, "CANCELLED"), NativeFailure.Kind.CANCELLED);

    private static final int LANES = 3; // that together may have all staging buffers

    private final long bufferBytes;
    private final int buffersPerWorker;
    private final long spinNanos;
    private final int spinsWith; // at most so many requests in flight
    // Three for the thread that holds a request: it executes the step itself, by the queue of the request.
    final CpuSet processors; // of staging workers while they serve it
    final HostSide host;
    final DeviceSide copies;
    private final StagingBuffers stagingBuffers;
    private final StagingWorkers workers;
    private final @Nullable ExecutorPump executor; // null: staging workers copy
    private final @Nullable ExecutorThread ownThread;

    private final int depth;
    private final Function<Request, StagedRequest> newRequest;
    final Queue<StagedRequest> ready; // for staging workers; no stale entries
    private final Queue<StagedRequest> completed;
    private final Wakeup wakeup = new Wakeup();
    private final ArrayDeque<StagedRequest> arrivals = new ArrayDeque<>(); // owned by the I/O queue
    private final Pause pause = new Pause(); // owned by the I/O queue
    private int inFlight; // owned by the I/O queue
    private long looked = System.nanoTime(); // for workers that hang; owned by the I/O queue
    private volatile boolean busy; // whether requests are in flight; written by the I/O queue

    /**
     * Opens a queue.
     *
     * @param executor makes all calls to the device, and may be shared by other queues of the device and other calls to
     *     it; the caller closes it after the queue. If null, the queue's staging workers make the calls
     *     ({@link ThreadRule#MANY}), or a separate thread ({@link ThreadRule#ONE})
     * @throws io.penstock.TransientStorageException if there is no memory for staging buffers
     * @throws IllegalArgumentException if the process has another number of staging workers than {@code options}
     *     request
     */
    public static StagedQueue open(
            StagingDevice device, HostBytes host, Options options, @Nullable ExecutorPump executor) {
        if (executor != null) {
            return open(device, host, options, executor, null);
        }
        return switch (device.threads()) {
            case MANY -> open(device, host, options, null, null);
            case ONE -> {
                ExecutorThread thread = ExecutorThread.start("penstock-executor");
                yield open(device, host, options, thread.pump(), thread);
            }
            case PUMP ->
                throw new IllegalArgumentException(
                        "a device that is used on the application's thread requires an ExecutorPump");
        };
    }

    private static StagedQueue open(
            StagingDevice device,
            HostBytes host,
            Options options,
            @Nullable ExecutorPump executor,
            @Nullable ExecutorThread ownThread) {
        StagingWorkers workers = null;
        try {
            workers = StagingWorkers.join(options.get(StagingOptions.WORKERS));
            return new StagedQueue(device, host, options, workers, executor, ownThread);
        } catch (RuntimeException | Error e) {
            if (workers != null) {
                workers.leave();
            }
            if (ownThread != null) {
                ownThread.close();
            }
            throw e;
        }
    }

    StagedQueue(
            StagingDevice device,
            HostBytes host,
            Options options,
            StagingWorkers workers,
            @Nullable ExecutorPump executor,
            @Nullable ExecutorThread ownThread) {
        this.bufferBytes = options.get(StagingOptions.BUFFER_BYTES);
        this.buffersPerWorker = options.get(StagingOptions.BUFFERS_PER_WORKER);
        this.spinNanos = StagingOptions.spinNanos(options);
        this.spinsWith = options.get(StagingOptions.SPIN_MICROS) < 0 ? Pause.FEW : Integer.MAX_VALUE;
        this.processors = options.get(StagingOptions.NUMA) ? device.processors() : CpuSet.ANY;
        this.depth = options.get(CommonOptions.QUEUE_DEPTH);
        this.host = new HostSide(host);
        this.copies = new DeviceSide(device);
        this.workers = workers;
        this.executor = executor;
        this.ownThread = ownThread;
        this.ready = new MpmcVarHandleArrayQueue<>(Math.max(2, depth));
        this.completed = new MpscVarHandleArrayQueue<>(Math.max(2, depth));
        this.newRequest = request -> new StagedRequest(this, request);
        this.stagingBuffers = new StagingBuffers(
                device,
                processors,
                host,
                buffersPerWorker * workersServed(options, workers),
                StagingBuffers.allocatedBytes(bufferBytes),
                device.threads() == ThreadRule.MANY ? workers.threads().size() : 1);
        if (executor != null) {
            executor.spinFor(StagingOptions.explicitSpinNanos(options));
        }
        workers.add(this);
    }

    /** Returns for how many workers a queue has staging buffers: of a number that nobody set, more gain it nothing. */
    private static int workersServed(Options options, StagingWorkers workers) {
        boolean set = options.get(StagingOptions.WORKERS) != 0;
        return set ? workers.size() : Math.min(workers.size(), StagingWorkers.MOST_PER_QUEUE);
    }

    // The I/O queue.

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public void enqueue(Request request) {
        StagedRequest staged = staged(request);
        staged.begin();
        plan(staged);
        arrivals.add(staged);
        inFlight++;
        if (!busy) {
            busy = true;
            workers.begin();
        }
    }

    /**
     * One worker would fill a buffer, and copy it, while the others sleep. Not where one thread makes all calls to the
     * device, possibly the application's: it would make so many more.
     */
    @Override
    public int idleParallelism() {
        return inFlight == 0 && executor == null ? workers.idleParallelism() : 1;
    }

    private StagedRequest staged(Request request) {
        return request.attachment(StagedRequest.class, newRequest);
    }

    private void plan(StagedRequest staged) {
        Request request = staged.request;
        if (request.kind() == Request.Kind.SYNC) {
            staged.step = StagedRequest.Step.SYNC;
            return;
        }
        if (request.source() != null) {
            staged.step = StagedRequest.Step.COPY;
            staged.needsBuffer = true; // for the means of the copy: its queue and its event
            return;
        }
        boolean ofFile = !request.isCopy();
        if (request.memory().hostAddress() != 0) {
            staged.step = StagedRequest.Step.HOST;
            staged.needsBuffer = ofFile && !host.reachesDirectly(staged);
        } else {
            staged.step = request.kind() == Request.Kind.READ ? StagedRequest.Step.FILL : StagedRequest.Step.COPY;
            staged.needsBuffer = ofFile;
        }
        if (staged.needsBuffer) {
            Objects.checkIndex(request.bytes(), bufferBytes + 1);
        }
    }

    @Override
    public void cancel(Request request) {
        StagedRequest staged = staged(request);
        switch (staged.cancel()) {
            case StagedRequest.AWAITS_BUFFER -> {
                stagingBuffers.remove(staged);
                end(staged, CANCELLED);
            }
            case StagedRequest.AWAITS_EXECUTOR -> {
                // Not left to the executor: an application that stops pumping would keep the memory busy forever.
                Objects.requireNonNull(executor).remove(staged);
                end(staged, CANCELLED);
            }
            default -> {} // the thread that holds it checks
        }
    }

    @Override
    public void turn(long waitNanos) {
        for (StagedRequest staged = arrivals.poll(); staged != null; staged = arrivals.poll()) {
            if (staged.needsBuffer) {
                stagingBuffers.admit(staged);
            } else {
                hand(staged);
            }
        }
        if (!report() && waitNanos != 0 && !spin(waitNanos)) {
            wakeup.await(inFlight == 0 ? waitNanos : most(waitNanos));
            report();
        }
        if (inFlight > 0) {
            lookForHung();
        }
    }

    private static long most(long waitNanos) {
        return waitNanos < 0 ? StagingWorker.HANG_NANOS : Math.min(waitNanos, StagingWorker.HANG_NANOS);
    }

    private void lookForHung() {
        long now = System.nanoTime();
        if (now - looked >= StagingWorker.HANG_NANOS) {
            looked = now;
            workers.replaceHung(now);
        }
    }

    /** Polls for a while before the I/O queue sleeps; returns whether a completion or a wake came. */
    private boolean spin(long waitNanos) {
        long most = waitNanos < 0 ? spinNanos : Math.min(waitNanos, spinNanos);
        if (most > 0 && inFlight <= spinsWith) {
            pause.spinFor(most);
            do {
                if (report() || wakeup.poll()) {
                    return true;
                }
            } while (pause.next() == 0);
        }
        return false;
    }

    /** Returns how long a thread that works for this queue may spin before it sleeps. */
    long spinNanos() {
        return spinNanos;
    }

    private boolean report() {
        boolean any = false;
        for (StagedRequest staged = completed.poll(); staged != null; staged = completed.poll()) {
            any = true;
            inFlight--;
            staged.clear();
            staged.request.end(staged.moved, staged.failure);
        }
        if (busy && inFlight == 0) {
            busy = false;
            workers.finish();
        }
        return any;
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    @Override
    public void close() {
        if (inFlight != 0) {
            throw new IllegalStateException(inFlight + " requests are in flight");
        }
        workers.remove(this);
        if (ownThread != null) {
            ownThread.close();
        }
        stagingBuffers.close();
    }

    // The holder of the request.

    /** Passes a request to the thread that executes its next step. */
    void hand(StagedRequest staged) {
        ExecutorPump pump = executor;
        boolean toExecutor = staged.step == StagedRequest.Step.COPY && pump != null;
        if (!staged.giveTo(toExecutor ? StagedRequest.AWAITS_EXECUTOR : StagedRequest.AWAITS_WORKER)) {
            end(staged, CANCELLED);
        } else if (toExecutor && pump != null) {
            pump.submit(staged);
        } else if (!executesElsewhere(staged)) {
            ready.add(staged);
            workers.announce();
        }
    }

    /**
     * Lets the host I/O of a file whose server may not answer be executed by threads for such calls: the staging
     * workers are few, and all of the process's. Returns false if a staging worker is to execute the step.
     */
    private boolean executesElsewhere(StagedRequest staged) {
        if (!waits(staged)) {
            return false;
        }
        try {
            FileThreads.shared().run(((HostFile) staged.file()).path(), () -> serve(staged));
            return true;
        } catch (RuntimeException | Error e) { // no more threads
            return false;
        }
    }

    /** Returns whether the next step may wait for a server. */
    boolean waits(StagedRequest staged) {
        return staged.step != StagedRequest.Step.COPY
                && !staged.request.isCopy()
                && staged.file().mayWait();
    }

    /** Returns whether a request is of a file that hangs, and has no staging buffer yet: others go first. */
    boolean givesWay(StagedRequest staged) {
        return !staged.hasBuffer() && !staged.request.isCopy() && hangs(staged.file());
    }

    /** Returns whether threads hang that were staging workers, in calls of a file. */
    boolean hangs(NativeFile file) {
        return workers.hungFiles.has(file);
    }

    /** Lets a request wait until the calls of its file return. */
    void park(StagedRequest staged) {
        stagingBuffers.park(staged);
    }

    /** Continues what was parked. */
    void resume() {
        stagingBuffers.resume();
    }

    private void serve(StagedRequest staged) {
        staged.takeForWorker();
        if (proceeds(staged) && stepped(staged, host.run(staged))) {
            hand(staged);
        }
    }

    /** A file system that hangs must not take all staging buffers, and neither must two. */
    @Override
    public int laneDepth() {
        return Math.max(1, stagingBuffers.total() / LANES);
    }

    /**
     * Prepares a request for its next step, or ends it if it is cancelled or its device is lost; returns whether the
     * step follows.
     */
    boolean proceeds(StagedRequest staged) {
        NativeFailure lost = copies.lost();
        if (lost != null || staged.isCancelled()) {
            end(staged, lost != null ? lost : CANCELLED);
            return false;
        }
        staged.takeBuffer(stagingBuffers);
        staged.event = FlightRecording.beginStage();
        return true;
    }

    /**
     * Handles the end of a step: ends the request if the step has failed or was the last. Returns whether another step
     * follows.
     *
     * @param moved the bytes, if the step did not fail
     */
    boolean stepped(StagedRequest staged, long moved) {
        endStage(staged, moved);
        if (staged.failure != null) {
            end(staged, staged.failure);
            return false;
        }
        if (staged.step == StagedRequest.Step.FILL && moved > 0) {
            staged.moved = moved;
            staged.step = StagedRequest.Step.COPY;
            staged.show(StagingState.COPYING);
            return true;
        }
        if (staged.step == StagedRequest.Step.COPY && staged.request.kind() == Request.Kind.WRITE) {
            staged.step = StagedRequest.Step.DRAIN;
            staged.show(StagingState.DRAINING);
            return true;
        }
        if (staged.step != StagedRequest.Step.COPY) {
            staged.moved = moved;
        }
        end(staged, null);
        return false;
    }

    /**
     * Ends a request, successfully if there is no failure: no native code uses its memory or its staging buffer any
     * more.
     */
    void end(StagedRequest staged, @Nullable NativeFailure failure) {
        staged.releaseBuffer(stagingBuffers);
        staged.failure = failure;
        endStage(staged, 0); // one that could not begin
        completed.add(staged); // from here on owned by the I/O queue
        wakeup.wake();
    }

    /** Starts the copy of a request; ends the request, and returns false, if none has begun. */
    boolean startsCopy(StagedRequest staged) {
        boolean begun = copies.start(staged);
        if (!begun) {
            end(staged, staged.failure);
        }
        return begun;
    }

    boolean fuses() {
        return executor == null;
    }

    int buffersPerWorker() {
        return buffersPerWorker;
    }

    /** Returns whether requests are in flight. */
    boolean isBusy() {
        return busy;
    }

    /** Returns how many requests have not ended; on the I/O queue. */
    int inFlight() {
        return inFlight;
    }

    @Override
    public int stagingBuffersInUse() {
        return stagingBuffers.total() - stagingBuffers.free();
    }

    @Override
    public List<StagingState> stagingStates() {
        return stagingBuffers.states();
    }

    private static void endStage(StagedRequest staged, long moved) {
        Object event = staged.event;
        if (event != null) {
            staged.event = null;
            FlightRecording.endStage(event, staged.step.name(), moved, staged.failure);
        }
    }
}
