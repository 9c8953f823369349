// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Explanation;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.util.concurrent.Queues;

/**
 * One subscriber that keeps {@code depth} blocks of a file in flight, each in a slot of one buffer.
 *
 * <p><b>Threading:</b> one thread starts, ends and awaits a run; {@link #bytes} may be called by any thread.
 *
 * <p><b>Ownership:</b> the caller of the constructor closes it; it closes its file and its buffer, not the backend.
 */
final class Job implements AutoCloseable {

    private static final int DIGITS = 3;
    private static final long NO_BLOCK = -1;

    private final Workload work;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final Slot[] slots;
    private final TransferPath path;
    private final SplittableRandom random = new SplittableRandom();
    private long nextBlock;
    private Run run;

    /**
     * Opens the file and allocates the buffer.
     *
     * @throws IOException if the path that is demanded would not be taken
     */
    Job(Backend backend, Workload work) throws IOException {
        this.work = work;
        this.backend = backend;
        file = get(backend.openFile(work.file(), work.fileOptions()));
        try {
            buffer = get(backend.allocate(work.depth() * work.blockBytes()));
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
        slots = new Slot[work.depth()];
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = new Slot(buffer.region(slot * work.blockBytes(), work.blockBytes()));
        }
        run = new Run();
        try {
            path = plannedPath();
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** A place for one block. */
    private static final class Slot {

        private final BufferRegion region;
        private long offset = NO_BLOCK; // in the file, of the last transfer

        Slot(BufferRegion region) {
            this.region = region;
        }
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block());
    }

    private TransferPath plannedPath() throws IOException {
        Explanation plan = backend.explain(transfer(slots[0].region, 0));
        if (work.path() != null && plan.path() != work.path()) {
            throw new IOException("transfers would use path " + plan.path() + ", not " + work.path()
                    + (plan.whyNotDirect().isEmpty() ? "" : ": " + plan.whyNotDirect())
                    + (plan.remedy().isEmpty() ? "" : " (remedy: " + plan.remedy() + ")"));
        }
        return plan.path();
    }

    private Transfer transfer(BufferRegion memory, long offset) {
        return work.pattern().writes()
                ? Transfer.write(memory, file.region(offset, work.blockBytes()))
                : Transfer.read(file.region(offset, work.blockBytes()), memory);
    }

    /** Starts a run; the previous one has ended. */
    void start() {
        run = new Run();
        backend.submit(Flux.generate(run::next), SubmitOptions.DEFAULT.inFlight(work.depth()))
                .subscribe(run);
    }

    /** Lets the run complete with the transfers that are in flight, and at least one. */
    void end() {
        run.ending = true;
    }

    /**
     * Waits for the completion of the run.
     *
     * @return whether it has completed in time
     * @throws IOException if a transfer failed or was short
     */
    boolean await(long millis) throws IOException, InterruptedException {
        if (!run.ended.await(millis, TimeUnit.MILLISECONDS)) {
            return false;
        }
        Throwable failure = run.failure;
        if (failure instanceof RuntimeException e) {
            throw e; // a PenstockException, or what Reactor wraps a checked one in
        }
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
        return true;
    }

    /** Makes what was written durable. */
    void sync() {
        if (work.pattern().writes()) {
            file.sync().block();
        }
    }

    /** Returns the path that transfers are expected to take. */
    TransferPath path() {
        return path;
    }

    /** Returns the bytes of the run so far. */
    long bytes() {
        return run.bytes.getAcquire();
    }

    /** Returns the latencies in nanoseconds of the run, which has completed: from subscription to delivery. */
    Histogram latencies() {
        return run.latencies;
    }

    /** Returns the completion of the last transfer of the run, which has completed. */
    Completion lastCompletion() {
        return Objects.requireNonNull(run.last, "no transfer has completed");
    }

    /** Returns the paths that transfers of the run took, which has completed. */
    Set<TransferPath> paths() {
        return run.paths;
    }

    Workload work() {
        return work;
    }

    String device() {
        return backend.capabilities().device();
    }

    DeviceBuffer buffer() {
        return buffer;
    }

    /** Returns where in the file the last block of a slot is; negative if it had none. */
    long offset(int slot) {
        return slots[slot].offset;
    }

    @Override
    public void close() {
        buffer.close();
        file.close();
    }

    /** The transfers of one run, and their completions. */
    private final class Run implements CoreSubscriber<Completion> {

        private final Queue<Slot> free = Queues.<Slot>get(work.depth()).get();
        private final Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        private final Histogram latencies = new Histogram(DIGITS);
        private final AtomicLong bytes = new AtomicLong();
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile boolean ending;
        private boolean begun; // of the threads that request
        private @Nullable Subscription upstream;
        private @Nullable Completion last;
        private @Nullable Throwable failure;

        Run() {
            List.of(slots).forEach(free::offer);
        }

        /** Serial, on the threads that request. */
        void next(SynchronousSink<Transfer> sink) {
            if (ending && begun) { // a run without a transfer would have nothing to report
                sink.complete();
                return;
            }
            begun = true;
            Slot slot = Objects.requireNonNull(free.poll(), "more is requested than there are slots");
            slot.offset = nextOffset();
            sink.next(transfer(slot.region, slot.offset));
        }

        private long nextOffset() {
            if (work.pattern().isRandom()) {
                return random.nextLong(work.blocks()) * work.blockBytes();
            }
            long block = nextBlock;
            nextBlock = block + 1 == work.blocks() ? 0 : block + 1;
            return block * work.blockBytes();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            upstream = subscription;
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Completion completion) {
            if (completion.bytes() != work.blockBytes()) {
                Objects.requireNonNull(upstream).cancel();
                onError(shortTransfer(completion));
                return;
            }
            latencies.recordValue(Math.max(0, System.nanoTime() - completion.subscribedNanos()));
            bytes.setRelease(bytes.getPlain() + work.blockBytes());
            last = completion;
            paths.add(completion.path());
            BufferRegion region = (BufferRegion) completion.transfer().target();
            free.offer(slots[(int) (region.offset() / work.blockBytes())]);
        }

        private IOException shortTransfer(Completion completion) {
            return new IOException(work.file() + ": " + completion.transfer() + " moved " + completion.bytes()
                    + " bytes: the file was truncated meanwhile");
        }

        @Override
        public void onError(Throwable cause) {
            failure = cause;
            ended.countDown();
        }

        @Override
        public void onComplete() {
            ended.countDown();
        }
    }
}
