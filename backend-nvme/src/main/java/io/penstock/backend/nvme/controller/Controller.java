// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.NativeError;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Shared;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An NVMe controller: enabled, identified, with admin queues, and with queue pairs for its users.
 *
 * <p>A reset removes all queue pairs. It starts a new generation: the owner of a queue pair compares the pair's
 * generation with {@link #generation}, ends its commands if they differ, and opens a new one. No command of an earlier
 * generation accesses memory any more.
 *
 * <p><b>Threading:</b> thread-safe; admin commands block, one at a time.
 *
 * <p><b>Errors:</b> {@link ControllerException}. A controller that cannot be reset is lost, for good; its DMA is
 * stopped.
 */
public final class Controller {

    private static final Logger LOG = LoggerFactory.getLogger(Controller.class);

    private static final Shared<String, Controller> OPEN = new Shared<>(Controller::shutDown);

    private static final int MOST_QUEUE_PAIRS = 128;
    private static final int FEATURE_QUEUES = 7;
    private static final int IDENTIFY_NAMESPACE = 0;
    private static final int IDENTIFY_CONTROLLER = 1;
    private static final int CONTIGUOUS = 1;
    private static final int INTERRUPTS = 2;

    private final Bus bus;
    private final long timeoutNanos;
    private final Registers registers;
    private final Doorbells doorbells;
    private final DmaMemory page; // of Identify; guarded by this, as the following
    private final ByteBuffer pageBytes;
    private final BitSet queueIds = new BitSet();
    private int queuePairs; // as many as the controller grants
    private QueuePair adminPair;
    private AdminQueue admin;
    private final Identity identity;

    private volatile int generation;
    private volatile @Nullable NativeFailure lost;

    private Controller(Bus bus, Duration timeout, Registers registers) throws ControllerException {
        this.bus = bus;
        this.registers = registers;
        timeoutNanos = timeout.toNanos();
        doorbells = new Doorbells(bus, registers.doorbellStride());
        page = bus.allocate(Identity.BYTES);
        pageBytes = page.buffer(0, Identity.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try {
            adminPair = QueuePair.allocate(new QueuePair.Place(0, AdminQueue.ENTRIES, -1), generation, bus, doorbells);
        } catch (RuntimeException | Error e) {
            page.free();
            throw e;
        }
        admin = new AdminQueue(bus, adminPair, timeoutNanos);
        try {
            registers.disable();
            enable();
            identity = Identity.of(identify("Identify Controller", 0, IDENTIFY_CONTROLLER));
            enableShadow();
        } catch (ControllerException | RuntimeException e) {
            bus.stopDma();
            doorbells.freeShadow();
            adminPair.free();
            page.free();
            throw e;
        }
    }

    /** Opens the bus of a controller. */
    @FunctionalInterface
    public interface BusOpener {

        /** Returns a bus that has no other user. */
        Bus open() throws IOException;
    }

    /**
     * Returns the controller of a name, with one more user; the first one resets and enables it.
     *
     * <p><b>Ownership:</b> paired with {@link #leave}.
     *
     * @param name its PCI address
     * @param timeout how long a command may take; the timeout of the first user applies
     * @throws IOException if the bus cannot be opened, the controller does not start, or is not supported
     */
    public static Controller open(String name, BusOpener opener, Duration timeout) throws IOException {
        return OPEN.open(name, () -> start(opener.open(), timeout));
    }

    /** Counts one more user. */
    public Controller join() {
        OPEN.join(this);
        return this;
    }

    /** Counts one user less; the last one shuts the controller down, and closes its bus. */
    public void leave() {
        OPEN.leave(this);
    }

    private static Controller start(Bus bus, Duration timeout) throws ControllerException {
        try {
            Registers registers = new Registers(bus);
            if (registers.leastPageBytes() > PrpLists.PAGE_BYTES) {
                throw unsupported(bus.name() + " needs pages of " + registers.leastPageBytes() + " bytes, not of 4096");
            }
            return new Controller(bus, timeout, registers);
        } catch (ControllerException | RuntimeException e) {
            bus.close();
            throw e;
        }
    }

    /** Returns the bus. */
    public Bus bus() {
        return bus;
    }

    /** Returns what the controller has reported about itself. */
    public Identity identity() {
        return identity;
    }

    /** Returns how many times it has been reset since it was opened. */
    public int generation() {
        return generation;
    }

    /** Returns why no further command is possible; null if the controller works. */
    public @Nullable NativeFailure lost() {
        return lost;
    }

    /** Returns the most commands that may be in flight on a queue pair. */
    public int maxDepth() {
        return registers.queueEntries() - 1;
    }

    /**
     * Returns a namespace.
     *
     * @throws ControllerException if it does not exist, or its blocks hold metadata
     */
    public synchronized Namespace namespace(int id) throws ControllerException {
        ByteBuffer data;
        try {
            data = identify("Identify Namespace", id, IDENTIFY_NAMESPACE);
        } catch (ControllerException e) {
            if (!admin.hasCompleted()) {
                reset(generation, String.valueOf(e.getMessage())); // it may still write to the page
            }
            throw e;
        }
        long blocks = data.getLong(0);
        int format = data.getInt(128 + 4 * (data.get(26) & 0xf)); // LBAF of FLBAS
        int shift = format >> 16 & 0xff;
        if (blocks == 0) {
            throw unsupported("namespace " + id + " of " + bus.name() + " is not active");
        }
        if ((format & 0xffff) != 0 || shift < 9 || shift > 16) {
            throw unsupported(
                    "namespace " + id + " of " + bus.name() + " must have blocks of 512 bytes to 64 KiB without"
                            + " metadata, had 2^" + shift + " bytes and " + (format & 0xffff) + " of metadata");
        }
        return new Namespace(id, blocks, 1 << shift);
    }

    /**
     * Opens a queue pair of the current generation.
     *
     * @param depth the most commands in flight, 1 to {@link #maxDepth}
     * @param eventfd what completions signal, if the bus has interrupts; -1 if they should not
     * @throws ControllerException if the controller is lost, or has no queue left
     */
    public synchronized QueuePair openQueuePair(int depth, int eventfd) throws ControllerException {
        int id = queueIds.nextClearBit(1);
        if (id > queuePairs) {
            throw new ControllerException(
                    "opening a queue pair",
                    new NativeFailure(
                            new NativeError("NVMe Set Features", 0, ""),
                            NativeFailure.Kind.TRANSIENT,
                            "all " + queuePairs + " queue pairs of " + bus.name() + " are in use"));
        }
        // Vector 0 belongs to the admin queue.
        int signals = eventfd >= 0 && bus.connect(id, eventfd) ? eventfd : -1;
        try {
            QueuePair pair =
                    QueuePair.allocate(new QueuePair.Place(id, depth + 1, signals), generation, bus, doorbells);
            try {
                create(pair);
            } catch (ControllerException | RuntimeException e) {
                pair.free();
                throw e;
            }
            queueIds.set(id);
            return pair;
        } catch (ControllerException | RuntimeException e) {
            bus.connect(id, -1);
            throw e;
        }
    }

    /**
     * Returns the successor of a queue pair that a reset has removed. It has the same identifier, so that a doorbell
     * rung late is never another thread's.
     *
     * <p><b>Ownership:</b> it takes over the memory, so that none has to be found; if this throws, {@code removed}
     * keeps it.
     *
     * @throws ControllerException if the controller is lost; it counts as lost if it refuses what it had accepted
     *     before
     */
    public synchronized QueuePair renew(QueuePair removed) throws ControllerException {
        try {
            return create(removed.renewed(generation));
        } catch (ControllerException e) {
            if (lost == null) {
                lose(e.failure());
            }
            throw e;
        }
    }

    private QueuePair create(QueuePair pair) throws ControllerException {
        checkLost("creating a queue pair");
        int id = pair.id();
        doorbells.clear(id);
        int sizeAndId = pair.entries() - 1 << 16 | id;
        int interrupts = pair.hasInterrupts() ? id << 16 | INTERRUPTS : 0;
        try {
            admin.begin(SubmissionEntry.CREATE_COMPLETION_QUEUE, 0)
                    .data(pair.completions().busAddress(), 0)
                    .words(sizeAndId, interrupts | CONTIGUOUS);
            admin.execute("Create I/O Completion Queue");
            admin.begin(SubmissionEntry.CREATE_SUBMISSION_QUEUE, 0)
                    .data(pair.submissions().busAddress(), 0)
                    .words(sizeAndId, id << 16 | CONTIGUOUS);
            admin.execute("Create I/O Submission Queue");
            return pair;
        } catch (ControllerException e) {
            reset(generation, String.valueOf(e.getMessage())); // the controller may use a half of the pair
            throw e;
        }
    }

    /**
     * Returns the tail doorbell of a queue pair whose commands are submitted from outside of this driver.
     *
     * <p><b>Ownership:</b> the caller frees it, after it has closed the pair.
     */
    public TailDoorbell tailDoorbell(QueuePair pair) {
        return doorbells.tailDoorbell(pair.id(), pair.entries());
    }

    /**
     * Deletes the submission queue of a pair. Its commands have then ended: they access no memory, and no completion
     * follows the entries that are in the completion queue.
     */
    public synchronized void stop(QueuePair pair) {
        if (pair.stop()) {
            delete(pair, SubmissionEntry.DELETE_SUBMISSION_QUEUE, "Delete I/O Submission Queue");
        }
    }

    private void delete(QueuePair pair, int opcode, String name) {
        if (pair.generation() == generation && lost == null) {
            try {
                admin.begin(opcode, 0).words(pair.id(), 0);
                admin.execute(name);
            } catch (ControllerException e) {
                reset(generation, String.valueOf(e.getMessage()));
            }
        }
    }

    /** Closes a queue pair, and frees its memory; commands that are in flight end without a completion. */
    public synchronized void close(QueuePair pair) {
        stop(pair);
        delete(pair, SubmissionEntry.DELETE_COMPLETION_QUEUE, "Delete I/O Completion Queue");
        if (pair.hasInterrupts()) {
            bus.connect(pair.id(), -1);
        }
        queueIds.clear(pair.id());
        pair.free();
    }

    /**
     * Asks the controller to abort a command. Returns whether it has promised to: the command then completes soon.
     *
     * @throws ControllerException if the controller does not execute the request
     */
    public synchronized boolean abort(QueuePair pair, int commandId) throws ControllerException {
        if (pair.generation() != generation || lost != null) {
            return true; // a reset has ended it
        }
        admin.begin(SubmissionEntry.ABORT, 0).words(pair.id() | commandId << 16, 0);
        return (admin.execute("Abort") & 1) == 0;
    }

    /**
     * Resets the controller, unless that has happened since {@code seen}. Blocks until it is enabled again; then the
     * generation has changed. If it cannot be enabled, it is {@linkplain #lost lost}.
     *
     * @param seen the generation in which the cause was found
     * @param cause why, for the log
     */
    public synchronized void reset(int seen, String cause) {
        if (seen != generation || lost != null) {
            return;
        }
        LOG.warn("resetting the NVMe controller {}: {}", bus.name(), cause);
        try {
            registers.disable();
            adminPair = adminPair.renewed(generation);
            admin = new AdminQueue(bus, adminPair, timeoutNanos);
            enable();
            enableShadow();
        } catch (ControllerException e) {
            lose(e.failure());
        } catch (RuntimeException e) {
            lose(new NativeFailure(new NativeError("NVMe reset", 0, e.toString()), NativeFailure.Kind.LOST));
        }
        generation++; // after the reset: who sees it may free memory
    }

    private void lose(NativeFailure cause) {
        bus.stopDma();
        lost = new NativeFailure(cause.error(), NativeFailure.Kind.LOST, "the controller could not be reset");
        LOG.warn("the NVMe controller {} is lost: {}", bus.name(), cause);
    }

    /** Returns how long a command may take. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    /** No queue pair is open. */
    private synchronized void shutDown() {
        try {
            if (lost == null) {
                registers.shutDown();
                registers.disable();
            }
        } catch (ControllerException e) {
            LOG.warn("the NVMe controller {} did not shut down: {}", bus.name(), e.getMessage());
            bus.stopDma();
        }
        doorbells.freeShadow();
        adminPair.free();
        page.free();
        bus.close();
    }

    private void enable() throws ControllerException {
        registers.enable(adminPair);
        int most = MOST_QUEUE_PAIRS - 1;
        admin.begin(SubmissionEntry.SET_FEATURES, 0).words(FEATURE_QUEUES, most << 16 | most);
        int granted = admin.execute("Set Features");
        queuePairs = Math.min(MOST_QUEUE_PAIRS, Math.min(granted & 0xffff, granted >>> 16) + 1);
    }

    /** Moves the doorbells of the queue pairs that follow to memory, where the controller supports that. */
    private void enableShadow() throws ControllerException {
        if (identity.shadowDoorbells() && doorbells.allocateShadow()) {
            admin.begin(SubmissionEntry.DOORBELL_BUFFER_CONFIG, 0)
                    .data(doorbells.shadowAddress(), doorbells.eventAddress());
            admin.execute("Doorbell Buffer Config");
        }
    }

    /** Returns why the controller needs a reset although it has not timed out; empty if it does not. */
    public String fault() {
        return registers.fault();
    }

    private ByteBuffer identify(String name, int namespace, int structure) throws ControllerException {
        checkLost(name);
        admin.begin(SubmissionEntry.IDENTIFY, namespace)
                .data(page.busAddress(), 0)
                .words(structure, 0);
        admin.execute(name);
        return pageBytes;
    }

    private void checkLost(String request) throws ControllerException {
        NativeFailure cause = lost;
        if (cause != null) {
            throw new ControllerException(request, cause);
        }
    }

    private static ControllerException unsupported(String why) {
        return new ControllerException(
                "opening",
                new NativeFailure(
                        new NativeError("NVMe Identify", 0, "UNSUPPORTED"), NativeFailure.Kind.PERMANENT, why));
    }
}
