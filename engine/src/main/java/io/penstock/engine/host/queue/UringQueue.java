// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.uring.CompletionHandler;
import io.penstock.engine.host.uring.Ring;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.host.uring.SubmissionQueue;
import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Requests over one io_uring: enqueued ones wait in the submission queue, and one {@code enter} per turn submits them,
 * waits, and lets the kernel post completions.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; the thread must outlive its requests, see {@link Kernel}.
 *
 * <p><b>Errors:</b> if the ring breaks, requests that the kernel has not accepted, and later ones, fail with the error.
 * Accepted requests are still waited for, since the kernel may still write.
 */
public final class UringQueue implements NativeQueue {
    private static final int TAG_BITS = 16;
    private static final long TAG_MASK = (1 << TAG_BITS) - 1;
    private static final long WAKE = -1;
    private static final long CANCEL = -2;
    private static final int WAKE_BYTES = Long.BYTES;
    private static final int MOST_REFUSALS = 1000;
    private static final int WORKERS_PER_PROCESSOR = 4;
    // A single read completes sooner if no worker is woken for it; the I/O queue has the time to copy it.
    private static final int MOST_LONE_BYTES = 256 << 10;
    private static final long PAUSE_NANOS = 50_000;

    private final Kernel kernel;
    private final Ring ring;
    private final SubmissionQueue submissions;
    private final FixedFiles files;
    private final FixedBuffers buffers;
    private final InlineRequests inline;
    private final Wakeup wakeup = new Wakeup(this::endWait);
    private final CallThreads<ChannelCall> threads; // for files that the ring does not read
    private final int laneDepth;
    private final CompletionHandler handler = this::completed;
    private final long asyncBytes;
    private final @Nullable Request[] requests; // by tag; null if none is in flight
    private final long[] userData; // by tag: of its operation
    private final boolean[] cancelled; // by tag
    private final ByteBuffer wakeCount = ByteBuffer.allocateDirect(WAKE_BYTES); // keeps its memory alive
    private final long wakeCountAddress = NativeMemory.address(wakeCount);
    private final int eventfd;
    private long sequence; // I/O queue only; makes the user data of a tag unique per use
    private int outstanding; // I/O queue only: requests whose operation is pending or in the kernel
    private int refusals; // I/O queue only: consecutive enters that consumed nothing
    private int broken; // I/O queue only: the errno that the ring broke with, or 0
    private boolean wakeIsArmed; // I/O queue only
    private boolean closed; // guarded by wakeup

    private UringQueue(Kernel kernel, Ring ring, int eventfd, Options options) {
        this.kernel = kernel;
        this.ring = ring;
        this.eventfd = eventfd;
        submissions = ring.submissions();
        int depth = options.get(CommonOptions.QUEUE_DEPTH);
        boolean registers = options.get(HostOptions.REGISTER);
        files = new FixedFiles(ring.registration(), registers);
        buffers = new FixedBuffers(ring.registration(), registers);
        inline = new InlineRequests(depth);
        requests = new Request[depth];
        userData = new long[depth];
        cancelled = new boolean[depth];
        asyncBytes = options.get(HostOptions.ASYNC_BYTES);
        laneDepth = ChannelQueue.threads(options);
        threads = new CallThreads<>("penstock-host-io-", depth, depth, wakeup, ChannelCall.CALLS);
    }

    /**
     * Opens a queue.
     *
     * @throws ErrnoException if the kernel refuses a ring
     */
    public static UringQueue open(Kernel kernel, Options options) throws ErrnoException {
        int depth = options.get(CommonOptions.QUEUE_DEPTH);
        Ring ring = Ring.open(kernel, RingOptions.ofEntries(depth + 1)); // plus the read for wake-ups
        int eventfd = kernel.eventfd();
        // Refused before Linux 5.15. The kernel's own limits suit its processors, of which a container has a part.
        int asked = options.get(HostOptions.THREADS);
        ring.registration()
                .limitWorkers(
                        asked != 0
                                ? asked
                                : WORKERS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors());
        if (eventfd < 0) {
            ring.close();
            throw new ErrnoException("eventfd", -eventfd);
        }
        return new UringQueue(kernel, ring, eventfd, options);
    }

    @Override
    public int depth() {
        return requests.length;
    }

    @Override
    public int laneDepth() {
        return laneDepth;
    }

    @Override
    public void enqueue(Request request) {
        if (request.isCopy()) {
            inline.copy(request);
        } else if (request.file().lane() != null) {
            threads.begin(ChannelCall.of(request));
        } else if (broken != 0) {
            inline.fail(request, failure(request, -broken));
        } else if (prepare(request) || (makeRoom() && prepare(request))) {
            requests[request.tag()] = request;
            outstanding++;
        } else {
            inline.fail(request, failure(request, broken == 0 ? -Errno.EAGAIN : -broken));
        }
    }

    @Override
    public void cancel(Request request) {
        int tag = request.tag();
        if (requests[tag] != null && !cancelled[tag] && broken == 0) {
            cancelled[tag] = true;
            if (!submissions.cancel(userData[tag], CANCEL) && makeRoom()) {
                submissions.cancel(userData[tag], CANCEL);
            }
        } else if (!request.isCopy() && request.file().lane() != null) {
            ChannelCall call = ChannelCall.of(request);
            if (threads.withdraw(call)) {
                call.cancelled();
            }
        }
    }

    @Override
    public void turn(long waitNanos) {
        buffers.sweep();
        int ended = inline.run() + ChannelCall.report(threads);
        boolean waits = waitNanos != 0 && ended == 0 && broken == 0 && wakeup.begin();
        try {
            try {
                enter(waits && (wakeIsArmed || armWake()) ? waitNanos : 0);
            } finally {
                if (waits) {
                    wakeup.end(); // before completions, which notify others
                }
            }
            ring.reap(handler);
        } catch (ErrnoException failure) {
            broken = failure.errno();
        }
        ChannelCall.report(threads);
        if (broken != 0) {
            ring.refusePending(handler, -broken);
            if (waitNanos != 0) {
                LockSupport.parkNanos(PAUSE_NANOS); // a broken ring cannot be waited for, only polled
            }
        }
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    private void endWait() {
        // The I/O queue's wait may have ended already and the queue be closing: the descriptor must not be reused
        // between the check and the signal.
        synchronized (wakeup) {
            if (!closed) {
                kernel.eventfdSignal(eventfd);
            }
        }
    }

    @Override
    public void close() {
        synchronized (wakeup) {
            if (closed) {
                return;
            }
            closed = true;
        }
        threads.close();
        if (wakeIsArmed && broken == 0) {
            disarmWake();
        }
        ring.close();
        kernel.close(eventfd);
    }

    private boolean armWake() {
        wakeIsArmed = (submissions.space() > 0 || makeRoom())
                && submissions.read(0, eventfd, 0, wakeCountAddress, WAKE_BYTES, WAKE);
        return wakeIsArmed;
    }

    // The pending read of the eventfd would write to memory that is about to be freed.
    private void disarmWake() {
        kernel.eventfdSignal(eventfd);
        try {
            for (int i = 0; wakeIsArmed && i < MOST_REFUSALS; i++) {
                ring.submitAndWait(PAUSE_NANOS);
                ring.reap(handler);
            }
        } catch (ErrnoException closedAnyway) {
            // nothing depends on it any more
        }
    }

    private boolean prepare(Request request) {
        LinuxFile file = (LinuxFile) request.file();
        long data = ++sequence << TAG_BITS | request.tag();
        userData[request.tag()] = data;
        cancelled[request.tag()] = false;
        int index = files.index(file);
        int flags = index < 0 ? 0 : SubmissionQueue.FIXED_FILE;
        int fd = index < 0 ? file.fd() : index;
        flags |= file.needsWorkers() ? SubmissionQueue.ASYNC : 0;
        if (request.kind() == Request.Kind.SYNC) {
            return submissions.fsync(flags, fd, true, data);
        }
        int length = Math.toIntExact(request.bytes());
        boolean isLone = outstanding == 0 && length <= MOST_LONE_BYTES;
        if (length >= asyncBytes && !isLone && file.isCached()) {
            flags |= SubmissionQueue.ASYNC;
        }
        long offset = request.fileOffset();
        long address = request.hostAddress();
        int buffer = buffers.index(request.memory());
        if (request.kind() == Request.Kind.READ) {
            return buffer < 0
                    ? submissions.read(flags, fd, offset, address, length, data)
                    : submissions.readFixed(flags, fd, offset, address, length, buffer, data);
        }
        return buffer < 0
                ? submissions.write(flags, fd, offset, address, length, data)
                : submissions.writeFixed(flags, fd, offset, address, length, buffer, data);
    }

    // Only a burst of cancels can fill the submission queue: it has an entry for every tag.
    private boolean makeRoom() {
        try {
            ring.submit();
            return submissions.space() > 0;
        } catch (ErrnoException failure) {
            broken = failure.errno(); // the next turn fails what is pending
            return false;
        }
    }

    private void enter(long waitNanos) throws ErrnoException {
        int pending = submissions.pending();
        int consumed = waitNanos == 0 ? ring.submit() : ring.submitAndWait(waitNanos);
        if (pending == 0 || consumed > 0) {
            refusals = 0;
        } else if (++refusals > MOST_REFUSALS) {
            // The kernel has had no memory for requests for a long time: the engine decides.
            refusals = 0;
            ring.refusePending(handler, -Errno.EAGAIN);
        } else if (waitNanos != 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void completed(long data, int result, int flags) {
        if (data == WAKE) {
            wakeIsArmed = false;
        } else if (data != CANCEL) {
            int tag = (int) (data & TAG_MASK);
            Request request = Objects.requireNonNull(requests[tag]);
            requests[tag] = null;
            outstanding--;
            if (result >= 0) {
                request.complete(result);
            } else {
                // A worker interrupted by a cancel returns EINTR.
                boolean interrupted = cancelled[tag] && result == -Errno.EINTR;
                request.fail(failure(request, interrupted ? -Errno.ECANCELED : result));
            }
        }
    }

    private static NativeFailure failure(Request request, int answer) {
        return HostFailure.of(
                switch (request.kind()) {
                    case READ -> "IORING_OP_READ";
                    case WRITE -> "IORING_OP_WRITE";
                    case SYNC -> "IORING_OP_FSYNC";
                    case COPY_IN, COPY_OUT -> "memcpy";
                },
                answer);
    }
}
