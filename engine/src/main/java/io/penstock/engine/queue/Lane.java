// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

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
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One native queue and the one thread that submits to it: takes transfers in, cuts them into requests, round-robin by
 * bytes between transfers, and counts every request's end.
 *
 * <p>It owns neither thread nor clock: {@link LaneThread} calls {@link #turn} for ever, a simulation calls it step by
 * step.
 *
 * <p><b>Threading:</b> {@link #accept} and {@link #post} on any thread; everything else on the lane's own.
 */
public final class Lane implements Request.Completion {

    /** How often a request that says "again" (EINTR, EAGAIN) is submitted again. */
    public static final int MOST_RETRIES = 64;

    private final NativeQueue queue;
    private final LaneLimits limits;
    private final LongSupplier clock;
    private final LaneInbox inbox;
    private final Flight[] flights;
    private final int[] freeTags;
    private int freeCount;
    private long bytesInFlight;
    private final ArrayDeque<OpenTransfer> runnable = new ArrayDeque<>();
    private final Set<OpenTransfer> held = new LinkedHashSet<>(); // by an order key, a fence or a zombie
    private final ArrayDeque<SingleRequest> waitingForTag = new ArrayDeque<>();
    private final PriorityQueue<OpenTransfer> deadlines =
            new PriorityQueue<>(Comparator.comparingLong(OpenTransfer::deadlineNanos));
    private final List<DeliveryLoop> news = new ArrayList<>(); // loops with arrivals of this turn, to be told of them
    private final Bounces bounces;
    private long now;
    private boolean stopping;
    private boolean closed;

    public Lane(NativeQueue queue, LaneLimits limits, LongSupplier clock) {
        this.queue = queue;
        this.inbox = new LaneInbox(queue);
        this.limits = limits;
        this.clock = clock;
        this.flights = new Flight[queue.depth()];
        this.freeTags = new int[queue.depth()];
        for (int tag = 0; tag < flights.length; tag++) {
            flights[tag] = new Flight(tag, this);
            freeTags[tag] = tag;
        }
        this.freeCount = flights.length;
        this.bounces = new Bounces(this, limits.slots());
        this.now = clock.getAsLong();
    }

    // Any thread.

    /** Takes a transfer in; any thread. */
    public void accept(OpenTransfer transfer) {
        inbox.accept(transfer);
    }

    /** Takes a request in that belongs to no transfer; any thread. */
    public void accept(SingleRequest request) {
        inbox.accept(request);
    }

    /** Runs an action on the lane, soon; any thread. */
    public void post(Runnable action) {
        inbox.post(action);
    }

    /** Returns the time by the clock that its deadlines are compared with; any thread. */
    long nanos() {
        return clock.getAsLong();
    }

    // The lane's thread.

    /** Makes the calling thread the one that turns this lane, from now on. */
    void runHere() {
        inbox.runHere();
    }

    /** Returns when the turn under way began. */
    long now() {
        return now;
    }

    /**
     * Does what there is to do, once: takes messages in, starts requests, hands them over, sees completions.
     *
     * @param mayWait whether to wait for something to do if there is nothing
     */
    public void turn(boolean mayWait) {
        now = clock.getAsLong();
        inbox.takeTo(this);
        expireDeadlines();
        startPieces();
        tellNews(); // before a wait
        inbox.turns();
        if (mayWait && park()) {
            queue.turn(waitNanos());
            inbox.awake();
        } else {
            queue.turn(0);
        }
        tellNews();
    }

    /** Lets a loop look at its arrivals when all that was reaped has been counted: once, however many there are. */
    public void tellLater(DeliveryLoop loop) {
        int count = news.size();
        if (count == 0 || news.get(count - 1) != loop) {
            news.add(loop);
        }
    }

    private void tellNews() {
        for (int i = 0; i < news.size(); i++) {
            news.get(i).signal();
        }
        news.clear();
    }

    /** Asks the lane to end when nothing is in flight any more; any thread. */
    public void stop() {
        post(() -> stopping = true);
    }

    /** Returns whether the lane was asked to end and has nothing left to do. */
    public boolean isStopped() {
        return stopping && isIdle();
    }

    /** Returns whether nothing is in flight, waiting or arriving. */
    boolean isIdle() {
        return freeCount == flights.length && runnable.isEmpty() && waitingForTag.isEmpty() && inbox.isEmpty();
    }

    /** Returns how many transfers, pieces and actions it still knows of; 0 where all have ended. */
    public int known() {
        return flights.length
                - freeCount
                + runnable.size()
                + held.size()
                + deadlines.size()
                + waitingForTag.size()
                + news.size()
                + bounces.waiting();
    }

    private boolean park() {
        return !canStart() && !isStopped() && inbox.sleep();
    }

    private boolean canStart() {
        return freeCount > 0 && (!waitingForTag.isEmpty() || (!runnable.isEmpty() && bytesInFlight < limits.bytes()));
    }

    private long waitNanos() {
        OpenTransfer first = deadlines.peek();
        return first == null ? -1 : Math.max(1, first.deadlineNanos() - now);
    }

    /** Takes a transfer in that has reached the lane. */
    void arrive(OpenTransfer transfer) {
        if (transfer.deadlineNanos() != Long.MAX_VALUE) {
            deadlines.add(transfer);
        }
        proceed(transfer);
    }

    /** Starts a transfer if nothing holds it back; whatever does calls this again. */
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

    /** Returns whether a transfer may start its first request; if not, {@link #proceed} is called when it may. */
    private boolean mayStart(OpenTransfer transfer) {
        Admission terms = transfer.admission();
        if (terms != null && !terms.isMet(this, transfer)) {
            return false;
        }
        if (BusyRegions.ALL.isEmpty()) {
            return true;
        }
        // Rule 205: what a cancelled transfer may still write, or read, is waited for.
        Extents extents = Extents.of(transfer.transfer(), Identity.OF);
        return !BusyRegions.ALL.waitsBehind(extents, () -> post(() -> proceed(transfer)));
    }

    private void expireDeadlines() {
        for (OpenTransfer first = deadlines.peek(); first != null && first.deadlineNanos() <= now; ) {
            deadlines.poll();
            if (!first.finished) {
                first.expired = true;
                stop(first);
            }
            first = deadlines.peek();
        }
    }

    /** Starts nothing more of a transfer and asks the device to give up what is in flight. */
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
        for (Flight flight : flights) {
            if (flight.owner == transfer && flight.inNativeHands) {
                queue.cancel(flight.request);
            } else if (flight.owner == transfer && flight.step != Flight.Step.LENGTH) {
                bounces.giveUp(flight);
            }
        }
    }

    private void startPieces() {
        while (freeCount > 0 && !waitingForTag.isEmpty()) {
            start(waitingForTag.remove());
        }
        while (freeCount > 0 && bytesInFlight < limits.bytes()) {
            OpenTransfer transfer = runnable.poll();
            if (transfer == null) {
                return;
            }
            advance(transfer);
        }
    }

    private void advance(OpenTransfer transfer) {
        long quantum = limits.quantum();
        while (!transfer.isStopped() && transfer.nextPiece()) {
            Flight flight = take();
            transfer.inFlight++;
            transfer.started(now);
            flight.begin(transfer);
            transfer.fillPiece(flight);
            bytesInFlight += flight.bytes;
            quantum -= Math.max(flight.bytes, 1);
            bounces.begin(flight);
            if (freeCount == 0 || bytesInFlight >= limits.bytes() || quantum <= 0) {
                runnable.add(transfer); // its next pieces, or its end, when its turn comes again
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

    private Flight take() {
        return flights[freeTags[--freeCount]];
    }

    /** Starts a request that belongs to no transfer, as soon as there is room. */
    void start(SingleRequest single) {
        if (freeCount == 0) {
            waitingForTag.add(single);
            return;
        }
        Flight flight = take();
        flight.step = Flight.Step.SINGLE;
        flight.single = single;
        single.fill(flight.request);
        enqueue(flight);
    }

    /** Hands the request of a flight to the native queue. */
    void enqueue(Flight flight) {
        flight.inNativeHands = true;
        queue.enqueue(flight.request);
    }

    @Override
    public void ended(Request request, long bytes, @Nullable NativeFailure failure) {
        inbox.sees();
        Flight flight = flights[request.tag()];
        flight.inNativeHands = false;
        SingleRequest single = flight.single;
        if (single != null) {
            release(flight);
            single.ended(failure);
        } else if (failure != null) {
            failed(flight, failure);
        } else {
            bounces.advance(flight, bytes);
        }
    }

    private void failed(Flight flight, NativeFailure failure) {
        OpenTransfer transfer = flight.owner();
        if (failure.kind() == NativeFailure.Kind.RETRY && flight.retries++ < MOST_RETRIES) {
            if (!transfer.isStopped()) {
                bounces.again(flight);
                return;
            }
        } else if (!(failure.kind() == NativeFailure.Kind.CANCELLED && transfer.isStopped())) {
            transfer.fail(failure);
        }
        end(flight);
    }

    /** Continues a piece whose lock was granted. */
    void granted(Flight flight) {
        bounces.granted(flight);
    }

    /** Ends a piece: its last request has ended, for better or worse. */
    void end(Flight flight) {
        OpenTransfer transfer = flight.owner();
        bytesInFlight -= flight.bytes;
        boolean again = transfer.pieceEnded(flight);
        if (again && transfer.exhausted) {
            transfer.exhausted = false;
            runnable.add(transfer);
        } else if (!again) {
            flight.standsInOrder();
        }
        bounces.release(flight);
        release(flight);
        transfer.inFlight--;
        finishIfDone(transfer);
    }

    private void release(Flight flight) {
        flight.clear();
        freeTags[freeCount++] = flight.request.tag();
    }

    private void finishIfDone(OpenTransfer transfer) {
        if (transfer.inFlight == 0 && !transfer.finished) {
            if (transfer.exhausted) {
                finish(transfer);
            } else if (transfer.isStopped()) {
                runnable.remove(transfer);
                finish(transfer);
            }
        }
    }

    private void finish(OpenTransfer transfer) {
        transfer.finished = true;
        if (transfer.deadlineNanos() != Long.MAX_VALUE) {
            deadlines.remove(transfer);
        }
        if (!held.isEmpty()) {
            held.remove(transfer);
        }
        transfer.finish(now);
    }

    /** Signals what is still open for {@code port}, as far as this lane carries it, and leaves the memory alone. */
    public void abandon(Port port) {
        abandonAll(open -> open.port() == port, open -> Failures.abandoned(open.transfer()));
        List<SingleRequest> singles = new ArrayList<>(waitingForTag);
        addStarted(singles);
        singles.stream()
                .filter(single -> single.port() == port)
                .forEach(single -> single.lose(Failures.abandoned(single.asked())));
    }

    private void addStarted(Collection<SingleRequest> singles) {
        for (Flight flight : flights) {
            if (flight.single != null) {
                singles.add(flight.single);
            }
        }
    }

    /** Signals everything: this lane is not turned any more. What the device may still write stays pinned. */
    public void breakDown(Throwable cause) {
        inbox.refuse(cause);
        tellNews();
        inbox.takeRest(runnable, waitingForTag);
        addStarted(waitingForTag);
        abandonAll(open -> true, open -> Failures.broken(open.transfer(), cause));
        waitingForTag.forEach(single -> single.lose(Failures.broken(single.asked(), cause)));
    }

    private void abandonAll(Predicate<OpenTransfer> which, Function<OpenTransfer, PenstockException> why) {
        Set<OpenTransfer> open = new LinkedHashSet<>(runnable);
        open.addAll(held);
        for (Flight flight : flights) {
            if (flight.owner != null) {
                open.add(flight.owner);
            }
        }
        for (OpenTransfer transfer : open) {
            if (!transfer.finished && which.test(transfer)) {
                transfer.abandon(why.apply(transfer));
            }
        }
    }

    /** Frees the native queue; nothing is in flight. */
    public void close() {
        if (!closed) {
            closed = true;
            bounces.close();
            queue.close();
        }
    }
}
