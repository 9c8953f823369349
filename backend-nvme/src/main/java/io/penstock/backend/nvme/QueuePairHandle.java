// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.PeerExport;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.DmaMapping;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.ControllerException;
import io.penstock.backend.nvme.controller.QueuePair;
import io.penstock.backend.nvme.controller.SubmissionEntry;
import io.penstock.backend.nvme.controller.TailDoorbell;
import io.penstock.backend.nvme.vfio.VfioBus;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.MonoOpen;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.machine.PeerLimits;
import io.penstock.engine.kit.memory.HostMemory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * A queue pair of an NVMe controller whose commands are submitted by another processor or device, such as a kernel of a
 * GPU: the <i>submitter</i>. Penstock creates and deletes the queues, and emits the completions.
 *
 * <pre>{@code
 * Mono<Void> work = Backend.using(QueuePairHandle.open(options, 64), pair -> {
 *     DmaRange data = pair.map(buffer);
 *     launch(kernel, pair.submissionQueue(), pair.doorbell(), data); // builds entries, stores the tail
 *     return pair.completions().take(commands).doOnNext(this::check).then();
 * });
 * }</pre>
 *
 * <h2>What the submitter does</h2>
 *
 * <p>It writes an entry of {@value #SUBMISSION_ENTRY_BYTES} bytes, little-endian as the NVM Express specification defines
 * it, into the {@linkplain #submissionQueue submission queue}, beginning with entry 0. It then stores the index of the
 * entry behind, modulo {@link #entries}, into the {@linkplain #doorbell doorbell}: a 32-bit store with release semantics at
 * the scope of the system. Command identifiers are its own: no other command is in this pair. It does not write anything else.
 *
 * <p>At most {@code entries() - 1} of its commands are in flight. It counts by the {@linkplain #completionQueue completion
 * queue}, which it may read, and does not ring for: the phase bit (bit 16 of the dword at 12 of an entry) is 1 in the
 * entries of the first lap, 0 in entries of the second, and so on. The controller overwrites an entry after {@code
 * entries()} further completions, and so not before the submitter has read it and submits more.
 *
 * <p>The submitter is trusted: its commands are not checked, and the IOMMU confines them to all memory that this process
 * has mapped for the controller, not to the memory of this pair.
 *
 * <h2>The doorbell</h2>
 *
 * <p>The word is the controller's shadow doorbell, if it has one ({@link #isShadow}). The pair's thread writes the register
 * for the submitter, but only if the controller does not read the word by itself. A submitter that can write the register
 * ({@link #registerOffset}) of a controller without shadow doorbells leaves the word alone; its commands have no time-out.
 *
 * <p><b>Threading:</b> thread-safe. A pair has a thread, which polls for {@code penstock.poll-micros} after each command,
 * and then naps up to 200 us between polls.
 *
 * <p><b>Errors:</b> a reset of the controller ends the pair, see {@link #completions}. It is opened again as another one,
 * after the submitter has stopped. The death of a submitter ends nothing: entries whose doorbell was rung are commands,
 * others are not.
 *
 * <p><b>Ownership:</b> the caller closes it, after the submitter has stopped.
 */
public final class QueuePairHandle implements AutoCloseable {

    /** The size of an entry of the submission queue. */
    public static final int SUBMISSION_ENTRY_BYTES = SubmissionEntry.BYTES;

    /** The size of an entry of the completion queue. */
    public static final int COMPLETION_ENTRY_BYTES = QueuePair.COMPLETION_BYTES;

    private final Controller controller;
    private final QueuePair pair;
    private final TailDoorbell doorbell;
    private final CompletionLoop loop;
    private final Sinks.Empty<Void> released = Sinks.empty();
    private final Deque<Runnable> mappings = new ArrayDeque<>(); // how each ends; guarded by itself
    private boolean closed; // guarded by mappings

    private QueuePairHandle(Controller controller, QueuePair pair, TailDoorbell doorbell, long pollNanos) {
        this.controller = controller;
        this.pair = pair;
        this.doorbell = doorbell;
        loop = new CompletionLoop(controller, pair, doorbell, pollNanos);
    }

    /**
     * Creates a queue pair of the controller that {@link NvmeOptions#DEVICE} names. Backends and handles of one process
     * share the controller.
     *
     * <p><b>Result:</b> a handle, to be closed; one that arrives after a cancel is closed.
     *
     * <p><b>Threading:</b> nothing happens before subscription; it is created on Reactor's {@code boundedElastic}.
     *
     * <p><b>Errors:</b> {@link BackendUnavailableException} if the controller cannot be opened;
     * {@link TransientStorageException} if all its queue pairs are in use, or there is no memory or no thread for this
     * one.
     *
     * @param depth the most commands in flight, unless the controller takes fewer; at least 1
     * @throws IllegalArgumentException if {@code depth} is below 1, an option is wrong, or {@link NvmeOptions#WRITE} is
     *     not set: the commands of a submitter are not checked
     */
    public static Mono<QueuePairHandle> open(Options options, int depth) {
        Options resolved = options.resolve(Backends.options());
        String address = resolved.get(NvmeOptions.DEVICE);
        if (!resolved.get(NvmeOptions.WRITE)) {
            throw new IllegalArgumentException(
                    NvmeOptions.WRITE + " must be true: the commands of a submitter are not checked");
        }
        long pollNanos = Pause.pollNanos(resolved.get(CommonOptions.POLL_MICROS));
        return open(
                () -> Controller.open(address, () -> VfioBus.open(address), resolved.get(NvmeOptions.TIMEOUT)),
                depth,
                pollNanos);
    }

    /** As the other, over any controller, of which the handle becomes one user; for tests too. */
    static Mono<QueuePairHandle> open(Callable<Controller> controller, int depth, long pollNanos) {
        return open(controller, depth, pollNanos, CompletionLoop::thread);
    }

    /** As the other, with any threads. */
    static Mono<QueuePairHandle> open(
            Callable<Controller> controller, int depth, long pollNanos, Function<Runnable, Thread> threads) {
        if (depth < 1) {
            throw new IllegalArgumentException("depth must be at least 1, was " + depth);
        }
        return new MonoOpen<>(Schedulers.boundedElastic()::schedule, Schedulers.immediate(), () -> {
            try {
                return openNow(controller.call(), depth, pollNanos, threads);
            } catch (ControllerException e) {
                throw e.failure().exception("opening of a queue pair");
            } catch (IOException | LinkageError e) {
                throw new BackendUnavailableException(
                        "the controller cannot be opened: " + e.getMessage(), Failure.NOT_STARTED, e);
            } catch (OutOfMemoryError e) {
                throw new TransientStorageException(
                        "no thread or memory for a queue pair: " + e.getMessage(), Failure.NOT_STARTED, e);
            }
        });
    }

    private static QueuePairHandle openNow(
            Controller controller, int depth, long pollNanos, Function<Runnable, Thread> threads)
            throws ControllerException {
        QueuePair pair = null;
        TailDoorbell doorbell = null;
        try {
            pair = controller.openQueuePair(Math.min(depth, controller.maxDepth()), -1);
            doorbell = controller.tailDoorbell(pair);
            QueuePairHandle handle = new QueuePairHandle(controller, pair, doorbell, pollNanos);
            handle.loop.start(threads, handle::release);
            return handle;
        } catch (ControllerException | RuntimeException | Error e) { // an Error: no thread
            if (pair != null) {
                controller.close(pair);
            }
            if (doorbell != null) {
                doorbell.free();
            }
            controller.leave();
            throw e;
        }
    }

    /** Returns the identifier of both queues. */
    public int id() {
        return pair.id();
    }

    /** Returns the number of entries of each queue. */
    public int entries() {
        return pair.entries();
    }

    /** Returns the memory of the submission queue; it starts a page of 4096 bytes. */
    public DmaRange submissionQueue() {
        return range(pair.submissions());
    }

    /** Returns the memory of the completion queue; it starts a page of 4096 bytes. The submitter may read it. */
    public DmaRange completionQueue() {
        return range(pair.completions());
    }

    private static DmaRange range(DmaMemory memory) {
        return new DmaRange(memory.hostAddress(), memory.busAddress(), memory.bytes());
    }

    /** Returns the word, of 4 bytes, into which the submitter stores the tail of the submission queue. */
    public DmaRange doorbell() {
        return new DmaRange(doorbell.hostAddress(), doorbell.busAddress(), Integer.BYTES);
    }

    /** Returns whether the controller itself reads the {@linkplain #doorbell doorbell} (Doorbell Buffer Config). */
    public boolean isShadow() {
        return doorbell.isShadow();
    }

    /** Returns the offset in BAR0 of the register that is the tail doorbell of the submission queue. */
    public int registerOffset() {
        return doorbell.register();
    }

    /**
     * Maps a buffer for the data of commands: its bytes from n on are at bus address {@code busAddress() + n}.
     *
     * <p><b>Ownership:</b> the mapping lasts until the handle is {@linkplain #released() released}. A close of the
     * buffer takes effect then.
     *
     * @param buffer of a backend in whose buffers {@link DeviceBuffer#nativeHandle} is a host address: {@code nvme},
     *     {@code host}; or of a device whose memory the processor does not reach: it is exported as a dma-buf, and
     *     iommufd maps that
     * @throws ClosedException if the handle or the buffer is closed
     * @throws TransientStorageException if the IOMMU maps no more, or no such address
     * @throws UnsupportedOperationException if memory of a device cannot be exported as a dma-buf
     * @throws PermanentStorageException if the kernel does not map that dma-buf, or none; with the
     *     {@link PeerExport#limits} of its device and this controller
     */
    public DmaRange map(DeviceBuffer buffer) {
        synchronized (mappings) {
            if (closed) {
                throw new ClosedException(
                        "mapping of " + buffer + " refused: " + this + " is closed", Failure.NOT_STARTED, null);
            }
            Runnable unpin = Engine.pin(buffer);
            try {
                return buffer.hostView().isPresent() ? mapHost(buffer, unpin) : mapDevice(buffer, unpin);
            } catch (RuntimeException | Error e) {
                unpin.run();
                throw e;
            }
        }
    }

    private DmaRange mapHost(DeviceBuffer buffer, Runnable unpin) {
        DmaMemory memory = controller.bus().map(HostMemory.wrap(buffer.nativeHandle(), buffer.length()));
        mappings.push(() -> {
            memory.free();
            unpin.run();
        });
        return range(memory);
    }

    private DmaRange mapDevice(DeviceBuffer buffer, Runnable unpin) {
        PeerExport export = buffer.exportPeer();
        try {
            DmaMapping mapping = controller.bus().mapDmaBuf(export.descriptor(), export.offset(), buffer.length());
            mappings.push(() -> {
                mapping.free();
                export.close();
                unpin.run();
            });
            return new DmaRange(buffer.nativeHandle(), mapping.busAddress(), buffer.length());
        } catch (RuntimeException e) {
            RuntimeException failure = e instanceof PermanentStorageException refusal
                    ? withLimits(refusal, export.limits(controller.bus().name()))
                    : e;
            export.close();
            throw failure;
        }
    }

    /** Returns a refusal of the kernel with what is known to stand between the device and the controller. */
    private static PermanentStorageException withLimits(PermanentStorageException refusal, List<String> limits) {
        return new PermanentStorageException(
                refusal.getMessage() + PeerLimits.message(limits, ". ", ""),
                new Failure(refusal.outcome(), refusal.nativeError().orElse(null)),
                refusal);
    }

    /**
     * Emits the completions of this pair.
     *
     * <p><b>Result:</b> each completion once, in the order of the completion queue; failed commands too. One that is
     * not requested stays in the completion queue. If that is full, the controller ends no further command, and the
     * submitter finds no completion to count: back-pressure loses nothing. Completes after {@link #close}, when the
     * controller has deleted the queues: commands without a completion have ended too, and may have been carried out.
     *
     * <p><b>Threading:</b> a hot source, with one subscriber at a time; further ones fail with
     * {@link IllegalStateException}. {@code onNext} is called on the pair's thread: do not block there, or publish on
     * another scheduler.
     *
     * <p><b>Errors:</b> {@link TransientStorageException} after a reset of the controller, which also happens if it
     * ends no command for {@code penstock.nvme.timeout} although some are in flight;
     * {@link io.penstock.DeviceLostException} if it cannot be reset. All commands without a completion have ended then,
     * and may have been carried out.
     *
     * <p><b>Cancellation:</b> cancels no command. The next subscriber receives what follows.
     */
    public Flux<CommandCompletion> completions() {
        return loop.completions();
    }

    /**
     * Completes when the controller has deleted the queues, after {@link #close}: no command accesses memory any more,
     * and the memory of the queues is free. Never fails; on any thread.
     */
    public Mono<Void> released() {
        return released.asMono();
    }

    /**
     * Deletes the queues; a second call does nothing. Does not wait. Commands in flight end. The submitter must have
     * stopped: the memory of the queues, and in time the doorbell, are used for something else.
     */
    @Override
    public void close() {
        synchronized (mappings) {
            closed = true;
        }
        loop.close();
    }

    /** Called once by the pair's thread, when the queues are deleted. */
    private void release() {
        synchronized (mappings) {
            mappings.forEach(Runnable::run);
            mappings.clear();
        }
        controller.leave();
        released.tryEmitEmpty();
    }

    /** Returns the identifier of the pair and the name of its controller. */
    @Override
    public String toString() {
        return loop.name();
    }
}
