// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.Identity;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One native queue and the one thread that submits to it: accepts transfers, cuts them into requests, round-robin by
 * bytes between transfers, and counts every request's completion.
 *
 * <p>It owns neither thread nor clock: {@link IoThread} calls {@link #turn} in a loop, a simulation calls it step by
 * step.
 *
 * <p><b>Threading:</b> {@link #accept} and {@link #post} on any thread; everything else on the I/O queue's thread.
 */
public final class IoQueue implements Request.Completion {

    /** The maximum number of retries of a request that fails with EINTR or EAGAIN. */
    public static final int MOST_RETRIES = 64;

    private final NativeQueue queue;
    private final QueueLimits limits;
    private final LongSupplier clock;
    private final QueueInbox inbox;
    private final Segment[] segments;
    private final int[] freeTags;
    private int freeCount;
    private final int parallelism;
    private long bytesInFlight;
    private final ArrayDeque<OpenTransfer> runnable = new ArrayDeque<>();
    private final Set<OpenTransfer> held = new LinkedHashSet<>(); // by an order key, a fence or an abandoned transfer
    private final ArrayDeque<SingleRequest> waitingForTag = new ArrayDeque<>();
    private final PriorityQueue<OpenTransfer> deadlines =
            new PriorityQueue<>(Comparator.comparingLong(OpenTransfer::deadlineNanos));
    private final List<DeliveryLoop> news = new ArrayList<>(); // with arrivals of this turn
    private final Lanes<OpenTransfer> lanes;
    private final BounceBuffers buffers;
    private final SegmentSteps steps;
    private long now;
    private int lastArrivals; // in the last turn that had any
    private boolean reaping; // whether "now" is the time of the turn's completions
    private boolean stopping;
    private boolean closed;

    public IoQueue(NativeQueue queue, QueueLimits limits, LongSupplier clock) {
        this.queue = queue;
        this.inbox = new QueueInbox(queue.wakeup());
        this.limits = limits;
        this.clock = clock;
        this.segments = new Segment[queue.depth()];
        this.freeTags = new int[queue.depth()];
        for (int tag = 0; tag < segments.length; tag++) {
            segments[tag] = new Segment(tag, this);
            freeTags[tag] = tag;
        }
        this.freeCount = segments.length;
        this.parallelism = Math.min(queue.parallelism(), segments.length - 1);
        this.lanes = new Lanes<>(queue.laneDepth(), held, runnable);
        this.buffers = new BounceBuffers(limits.bounceBuffers());
        this.steps = new SegmentSteps(this, buffers);
        this.now = clock.getAsLong();
    }

    /** Accepts a transfer; any thread. */
    public void accept(OpenTransfer transfer) {
        inbox.accept(transfer);
    }

    /** Accepts a request that belongs to no transfer; any thread. */
    public void accept(SingleRequest request) {
        inbox.offer(request);
    }

    /** Schedules an action on the I/O queue; any thread. */
    public void post(Runnable action) {
        inbox.offer(action);
    }

    /** Returns whether arrivals wait for its thread, or requests for others to end; any thread. */
    boolean isBehind() {
        return inbox.isBehind();
    }

    /** Returns the native queue, of which any thread may ask what {@link NativeQueue} permits. */
    public NativeQueue nativeQueue() {
        return queue;
    }

    /** Returns the time of the clock that deadlines are compared with; any thread. */
    long nanos() {
        return clock.getAsLong();
    }

    /** Makes the calling thread the thread of this I/O queue. */
    void runHere() {
        inbox.runHere();
    }

    /** Returns a time of the current turn: its start, its messages or its completions, whichever came last. */
    long now() {
        return now;
    }

    /**
     * Runs one turn: takes messages, starts requests, submits them, reaps completions.
     *
     * @param mayWait whether to wait for work if there is none
     */
    public void turn(boolean mayWait) {
        now = clock.getAsLong();
        int arrived = inbox.takeTo(this);
        if (arrived > 0) {
            lastArrivals = arrived;
            now = clock.getAsLong(); // a completion of another I/O queue may have let them start, before this time
        }
        expireDeadlines();
        startSegments();
        DeliveryLoop.signalAll(news); // before a wait
        reaping = false;
        inbox.tell(!runnable.isEmpty() || freeCount < segments.length - parallelism);
        queue.turn(mayWait && mayPark() ? waitNanos() : 0);
        DeliveryLoop.signalAll(news);
    }

    /** Signals a loop when all reaped completions have been counted; once, however many arrivals it has. */
    public void signalLater(DeliveryLoop loop) {
        loop.addTo(news);
    }

    /** Requests the I/O queue to end when nothing is in flight; any thread. */
    public void stop() {
        post(() -> stopping = true);
    }

    /** Returns true if the end was requested and nothing is left to do. */
    public boolean isStopped() {
        return stopping && isIdle();
    }

    /** Returns true if nothing is in flight, waiting or arriving. */
    boolean isIdle() {
        return freeCount == segments.length && runnable.isEmpty() && waitingForTag.isEmpty() && inbox.isEmpty();
    }

    /** Returns how many transfers and actions the last turn that took any has taken. */
    int lastArrivals() {
        return lastArrivals;
    }

    /** Returns true if transfers or actions have arrived that no turn has taken. */
    boolean hasArrivals() {
        return !inbox.isEmpty();
    }

    /** Returns the number of transfers, segments and actions that have not ended. */
    public int known() {
        return segments.length
                - freeCount
                + runnable.size()
                + held.size()
                + deadlines.size()
                + waitingForTag.size()
                + news.size()
                + buffers.waiting();
    }

    private boolean mayPark() {
        return !canStart() && !isStopped() && inbox.isEmpty();
    }

    private boolean canStart() {
        return freeCount > 0 && !runnable.isEmpty() && bytesInFlight < limits.bytes();
    }

    private long waitNanos() {
        OpenTransfer first = deadlines.peek();
        return first == null ? -1 : Math.max(1, first.deadlineNanos() - now);
    }

    /** Takes a transfer that has reached the I/O queue. */
    void arrive(OpenTransfer transfer) {
        if (transfer.deadlineNanos() != Long.MAX_VALUE) {
            deadlines.add(transfer);
        }
        proceed(transfer);
    }

    /** Starts a transfer if all its conditions are met; otherwise this is called again when one is. */
    void proceed(OpenTransfer transfer) {
        if (transfer.finished) {
            return; // cancelled or expired while it waited
        }
        if (transfer.isStopped()) {
            finish(transfer);
        } else if (mayStart(transfer)) {
            held.remove(transfer);
            runnable.add(transfer);
        } else {
            held.add(transfer);
        }
    }

    /** Returns true if a transfer may start its first request; otherwise {@link #proceed} is called when it may. */
    private boolean mayStart(OpenTransfer transfer) {
        Admission terms = transfer.admission();
        if (terms != null && !terms.isMet(this, transfer)) {
            return false;
        }
        if (BusyRegions.ALL.isEmpty()) {
            return true;
        }
        // Rule 205: waits for regions that a cancelled transfer may still write or read.
        Extents extents = Extents.of(transfer.transfer(), Identity.OF);
        return !BusyRegions.ALL.waitsBehind(extents, () -> post(() -> proceed(transfer)));
    }

    private void expireDeadlines() {
        for (OpenTransfer first = deadlines.peek(); first != null && first.deadlineNanos() <= now; ) {
            deadlines.poll();
            if (!first.finished) {
                first.shortfall().expire();
                stop(first);
            }
            first = deadlines.peek();
        }
    }

    /** Starts no further request of a transfer and cancels those in flight. */
    public void stop(OpenTransfer transfer) {
        if (transfer.finished) {
            return;
        }
        if (transfer.inFlight == 0) {
            runnable.remove(transfer);
            finish(transfer);
            return;
        }
        transfer.exhausted = true;
        for (Segment segment : segments) {
            if (segment.owner == transfer) {
                stop(segment);
            }
        }
    }

    private void stop(Segment segment) {
        if (segment.inNativeHands) {
            queue.cancel(segment.request);
        } else if (segment.awaits != Segment.Awaits.CALL) {
            steps.abandon(segment);
        } else if (segment.ending != null) {
            segment.ending.run();
        }
    }

    private void startSegments() {
        for (int waiting = waitingForTag.size(); waiting > 0 && freeCount > 0; waiting--) {
            start(waitingForTag.remove());
        }
        lanes.resume();
        while (freeCount > 0 && bytesInFlight < limits.bytes() && (!runnable.isEmpty() || lanes.resume())) {
            advance(runnable.remove());
        }
    }

    private void advance(OpenTransfer transfer) {
        long quantum = limits.quantum();
        int parallelism = queue.idleParallelism();
        if (parallelism > 1) {
            transfer.divide(parallelism);
        }
        Object lane = transfer.lane;
        while (!transfer.isStopped()) {
            if (!lanes.admit(lane, transfer)) {
                return;
            } else if (!transfer.nextSegment()) {
                break;
            }
            Segment segment = take(lane);
            transfer.inFlight++;
            transfer.started(now);
            segment.begin(transfer);
            segment.fill(transfer);
            segment.counted = lane == null ? segment.bytes : 0; // a file system that hangs must not take all
            bytesInFlight += segment.counted;
            quantum -= Math.max(segment.bytes, 1);
            steps.begin(segment);
            if (freeCount == 0 || bytesInFlight >= limits.bytes() || quantum <= 0) {
                runnable.add(transfer); // continues with its next segments, or ends, in its next turn
                return;
            }
        }
        transfer.exhausted = true;
        Admission terms = transfer.admission();
        FenceOrder order = terms == null ? null : terms.order();
        if (order != null) {
            order.allStarted();
        }
        finishIfDone(transfer);
    }

    private Segment take(@Nullable Object lane) {
        Segment segment = segments[freeTags[--freeCount]];
        segment.lane = lane;
        lanes.enter(lane);
        return segment;
    }

    /** Starts a request that belongs to no transfer, as soon as there is room, also in its lane. */
    void start(SingleRequest single) {
        Object lane = single.lane();
        if (freeCount == 0 || !lanes.hasRoom(lane)) {
            waitingForTag.add(single);
            return;
        }
        Segment segment = take(lane);
        segment.single = single;
        single.fill(segment.request);
        enqueue(segment);
    }

    /** Submits the request of a segment to the native queue. */
    void enqueue(Segment segment) {
        segment.inNativeHands = true;
        queue.enqueue(segment.request);
    }

    @Override
    public void ended(Request request, long bytes, @Nullable NativeFailure failure) {
        if (!reaping) {
            reaping = true;
            now = clock.getAsLong(); // the turn may have waited for these completions
        }
        Segment segment = segments[request.tag()];
        segment.inNativeHands = false;
        SingleRequest single = segment.single;
        if (failure != null && failure.kind() == NativeFailure.Kind.LOST) {
            (single == null ? segment.owner().port() : single.owner()).deviceLost();
        }
        if (single != null) {
            release(segment);
            single.ended(failure);
        } else if (failure != null) {
            steps.failed(segment, failure);
        } else {
            steps.ended(segment, bytes);
        }
    }

    /** Ends a segment: its last request has completed or failed. */
    void end(Segment segment) {
        OpenTransfer transfer = segment.owner();
        bytesInFlight -= segment.counted;
        boolean again = transfer.segmentEnded(segment);
        if (again && transfer.exhausted) {
            transfer.exhausted = false;
            runnable.add(transfer);
        } else if (!again) {
            segment.markStreamOrdered();
        }
        steps.release(segment);
        release(segment);
        transfer.inFlight--;
        finishIfDone(transfer);
    }

    private void release(Segment segment) {
        lanes.leave(segment.lane);
        segment.clear();
        freeTags[freeCount++] = segment.request.tag();
    }

    private void finishIfDone(OpenTransfer transfer) {
        if (transfer.inFlight == 0 && !transfer.finished && (transfer.exhausted || transfer.isStopped())) {
            if (!transfer.exhausted) {
                runnable.remove(transfer);
            }
            finish(transfer);
        }
    }

    private void finish(OpenTransfer transfer) {
        forget(transfer);
        transfer.finish(now);
    }

    /** Removes a transfer that ends, but for {@link #runnable}. */
    private void forget(OpenTransfer transfer) {
        transfer.finished = true;
        if (transfer.deadlineNanos() != Long.MAX_VALUE) {
            deadlines.remove(transfer);
        }
        if (!held.isEmpty()) {
            held.remove(transfer);
        }
    }

    /**
     * Ends the transfers of {@code port} that are still open on this I/O queue, and frees no memory that the device may
     * still use.
     */
    public void abandon(Port port) {
        abandonAll(open -> open.port() == port, Failures::abandoned, open -> {});
        abandonSingles(single -> single.owner() == port, Failures::abandoned);
    }

    /** Signals everything, as no further turn will run. Memory that the device may still write stays pinned. */
    public void breakDown(Throwable cause) {
        inbox.refuse(cause);
        DeliveryLoop.signalAll(news);
        for (Segment segment : segments) {
            segment.loseLock();
        }
        BiFunction<Object, Outcome, PenstockException> why = (what, outcome) -> Failures.broken(what, cause, outcome);
        abandonAll(open -> true, why, open -> open.port().lost(open));
        abandonSingles(single -> true, why);
    }

    private void abandonAll(
            Predicate<OpenTransfer> which,
            BiFunction<Object, Outcome, PenstockException> why,
            Consumer<OpenTransfer> inFlight) {
        Set<OpenTransfer> open = new LinkedHashSet<>(runnable);
        open.addAll(held);
        for (Segment segment : segments) {
            if (segment.owner != null) {
                open.add(segment.owner);
            }
        }
        for (OpenTransfer transfer : open) {
            if (transfer.finished || !which.test(transfer)) {
                continue;
            }
            Outcome outcome = transfer.startedNanos == 0 ? Outcome.NOT_STARTED : Outcome.UNKNOWN;
            PenstockException failure = why.apply(transfer.transfer(), outcome);
            if (transfer.inFlight == 0) {
                runnable.remove(transfer);
                forget(transfer);
                transfer.drop(failure);
            } else {
                transfer.abandon(failure);
                inFlight.accept(transfer);
            }
        }
    }

    private void abandonSingles(Predicate<SingleRequest> which, BiFunction<Object, Outcome, PenstockException> why) {
        for (Segment segment : segments) {
            SingleRequest single = segment.single;
            if (single != null && which.test(single)) {
                single.lose(single.ending(why.apply(single.description(), Outcome.UNKNOWN)));
            }
        }
        List<SingleRequest> waiting = waitingForTag.stream().filter(which).toList();
        waitingForTag.removeAll(waiting);
        waiting.forEach(single -> single.refuse(single.ending(why.apply(single.description(), Outcome.NOT_STARTED))));
    }

    /** Frees the native queue; nothing may be in flight. */
    public void close() {
        if (!closed) {
            closed = true;
            buffers.close();
            queue.close();
        }
    }
}
