// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An io_uring: operations are prepared in {@link #submissions()}, submitted by {@link #submit} and completed in {@link
 * #reap}.
 *
 * <p><b>Threading:</b> one thread from the first operation to {@link #close}; it must outlive the operations, since the
 * kernel cancels the operations of a thread that ends. A ring may move to another thread when all operations of the
 * first have completed. {@link #registration()} is thread-safe.
 *
 * <p><b>Errors:</b> a refused operation completes with {@code -errno}. {@link ErrnoException} means that the ring
 * itself is unusable; interruptions and temporary shortages are not errors but a smaller result.
 *
 * <p><b>Ownership:</b> the ring owns its memory and descriptor, and frees both once. Closing does not wait: the kernel
 * continues operations in flight, so close only when each has completed.
 */
public final class Ring implements AutoCloseable {
    private static final int GETEVENTS_ARG_BYTES = 24;
    private static final int SCRATCH_TIMESPEC = GETEVENTS_ARG_BYTES;
    private static final int SCRATCH_POLLFD = 40;
    private static final int SCRATCH_BYTES = 48;
    private static final int REQUIRED_FEATURES =
            IoUring.IORING_FEAT_SINGLE_MMAP | IoUring.IORING_FEAT_NODROP | IoUring.IORING_FEAT_SUBMIT_STABLE;

    private final Kernel kernel;
    private final int fd;
    private final boolean hasTimedEnter;
    private final RingMemory memory;
    private final SubmissionQueue submissions;
    private final CompletionQueue completions;
    private final RingRegistration registration;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.nativeOrder());
    private final long scratchAddress = NativeMemory.address(scratch);
    private boolean closed; // I/O queue only

    private Ring(Kernel kernel, int fd, int features, RingMemory memory) {
        this.kernel = kernel;
        this.fd = fd;
        this.memory = memory;
        hasTimedEnter = (features & IoUring.IORING_FEAT_EXT_ARG) != 0;
        submissions = new SubmissionQueue(memory);
        completions = new CompletionQueue(memory);
        registration = new RingRegistration(kernel, fd);
        scratch.putInt(SCRATCH_POLLFD, fd).putShort(SCRATCH_POLLFD + 4, LibC.POLLIN);
        scratch.putLong(16, scratchAddress + SCRATCH_TIMESPEC); // io_uring_getevents_arg.ts; no signal mask
    }

    /**
     * Creates a ring.
     *
     * @throws ErrnoException if the kernel refuses; {@link RingProbe} determines the reason
     */
    public static Ring open(Kernel kernel, RingOptions options) throws ErrnoException {
        ByteBuffer params = ByteBuffer.allocateDirect(IoUring.PARAMS_BYTES).order(ByteOrder.nativeOrder());
        params.putInt(IoUring.PARAMS_FLAGS_OFFSET, IoUring.IORING_SETUP_CQSIZE | IoUring.IORING_SETUP_CLAMP);
        params.putInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET, options.completions());
        int fd = kernel.ioUringSetup(options.entries(), NativeMemory.address(params));
        if (fd < 0) {
            throw new ErrnoException("io_uring_setup", -fd);
        }
        try {
            int features = params.getInt(IoUring.PARAMS_FEATURES_OFFSET);
            if ((features & REQUIRED_FEATURES) != REQUIRED_FEATURES) {
                // Without NODROP the kernel may drop completions, and rule 102 could not be kept.
                throw new ErrnoException("io_uring_setup without IORING_FEAT_NODROP", Errno.EOPNOTSUPP);
            }
            return new Ring(kernel, fd, features, RingMemory.map(kernel, fd, params));
        } catch (ErrnoException unusable) {
            kernel.close(fd);
            throw unusable;
        }
    }

    public SubmissionQueue submissions() {
        return submissions;
    }

    public RingRegistration registration() {
        return registration;
    }

    /** Returns the number of operations that may be in flight without overflowing the completion queue. */
    public int capacity() {
        return memory.cqEntries;
    }

    /** Submits pending operations without waiting; makes no system call if there are none. */
    public int submit() throws ErrnoException {
        return submissions.pending() == 0 ? 0 : enter(submissions.pending(), 0, 0, 0, 0);
    }

    /** Submits pending operations and blocks until a completion can be reaped. */
    public int submitAndWait() throws ErrnoException {
        return submitAndWait(-1);
    }

    /**
     * Submits pending operations and blocks until a completion can be reaped or the time has elapsed.
     *
     * <p><b>Result:</b> the number of operations that the kernel consumed. It may be fewer than were pending, and a
     * signal may end the wait early: callers reap, then submit the rest.
     *
     * @param timeoutNanos negative to wait without a limit
     */
    public int submitAndWait(long timeoutNanos) throws ErrnoException {
        int pending = submissions.pending();
        if (completions.ready() > 0 || timeoutNanos == 0) {
            return submit();
        }
        int flags = IoUring.IORING_ENTER_GETEVENTS;
        if (timeoutNanos < 0) {
            return enter(pending, 1, flags, 0, 0);
        }
        if (!hasTimedEnter) {
            return submitAndPoll(timeoutNanos);
        }
        scratch.putLong(SCRATCH_TIMESPEC, timeoutNanos / 1_000_000_000);
        scratch.putLong(SCRATCH_TIMESPEC + Long.BYTES, timeoutNanos % 1_000_000_000);
        return enter(pending, 1, flags | IoUring.IORING_ENTER_EXT_ARG, scratchAddress, GETEVENTS_ARG_BYTES);
    }

    /**
     * Passes every available completion to {@code handler}.
     *
     * <p><b>Result:</b> their number, including completions that had overflowed into the kernel's list.
     */
    public int reap(CompletionHandler handler) throws ErrnoException {
        int reaped = completions.drain(handler);
        while (submissions.hasOverflow()) {
            // The queue has been drained, so the kernel can now flush its list (IORING_FEAT_NODROP) into it.
            enter(0, 0, IoUring.IORING_ENTER_GETEVENTS, 0, 0);
            int flushed = completions.drain(handler);
            if (flushed == 0) {
                break;
            }
            reaped += flushed;
        }
        return reaped;
    }

    /** Completes every operation that the kernel has not consumed with {@code result}. */
    public void refusePending(CompletionHandler handler, int result) {
        submissions.refusePending(handler, result);
    }

    /** Frees the ring's memory and descriptor; a second call does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            submissions.close();
            completions.close();
            registration.close();
            memory.unmap();
            kernel.close(fd);
        }
    }

    // Kernels before 5.11 cannot bound an enter; a ring's descriptor is readable while there are completions.
    private int submitAndPoll(long timeoutNanos) throws ErrnoException {
        int submitted = submit();
        // An operation that was not consumed may be the one that ends the wait: the caller submits it again first.
        if (completions.ready() == 0 && submissions.pending() == 0) {
            long millis = Math.min(Integer.MAX_VALUE, (timeoutNanos + 999_999) / 1_000_000);
            int answer = kernel.poll(scratchAddress + SCRATCH_POLLFD, (int) millis);
            if (answer < 0 && answer != -Errno.EINTR) {
                throw new ErrnoException("poll", -answer);
            }
        }
        return submitted;
    }

    private int enter(int pending, int minComplete, int flags, long argument, long argumentBytes)
            throws ErrnoException {
        if (closed) {
            throw new IllegalStateException("the ring is closed");
        }
        submissions.publish();
        int answer = kernel.ioUringEnter(fd, pending, minComplete, flags, argument, argumentBytes);
        if (answer >= 0) {
            return answer;
        }
        return switch (-answer) {
            // A signal, the end of the wait, no memory for requests at the moment, or completions to be reaped first
            // (EBUSY): no operation was consumed, all are still pending.
            case Errno.EINTR, Errno.ETIME, Errno.EAGAIN, Errno.EBUSY -> 0;
            default -> throw new ErrnoException("io_uring_enter", -answer);
        };
    }
}
