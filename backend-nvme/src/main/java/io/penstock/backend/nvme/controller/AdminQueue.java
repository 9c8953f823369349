// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.NativeError;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.NativeFailure;

/**
 * The admin queues: one command at a time, waited for.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class AdminQueue implements QueuePair.Completions {

    /** The number of entries of each admin queue. */
    static final int ENTRIES = 32;

    private static final long CHECK_NANOS = 100_000_000;

    private final Bus bus;
    private final QueuePair pair;
    private final long timeoutNanos;
    private final Pause pause = new Pause().spins(100).naps(10_000, 1_000_000);
    private int commandId;
    private boolean completed;
    private int status;
    private int result;

    AdminQueue(Bus bus, QueuePair pair, long timeoutNanos) {
        this.bus = bus;
        this.pair = pair;
        this.timeoutNanos = timeoutNanos;
    }

    /** Begins a command, which {@link #execute} then submits. */
    SubmissionEntry begin(int opcode, int namespace) {
        commandId = commandId + 1 & 0xffff; // a late completion of an earlier command is not taken for this one's
        completed = false;
        return pair.next().command(opcode, commandId, namespace);
    }

    /**
     * Submits the command, and blocks until it has completed.
     *
     * @param name the command's name, for messages
     * @return dword 0 of the completion
     * @throws ControllerException if the command fails, or does not complete in time
     */
    int execute(String name) throws ControllerException {
        pair.ring();
        pause.reset();
        long start = System.nanoTime();
        long check = start + CHECK_NANOS;
        while (pair.poll(this) == 0 || !completed) {
            long now = System.nanoTime();
            if (now - start > timeoutNanos) {
                String note = "no completion within " + timeoutNanos / 1_000_000 + " ms";
                NativeError error = new NativeError("NVMe " + name, 0, "TIMEOUT");
                throw new ControllerException(name, new NativeFailure(error, NativeFailure.Kind.LOST, note));
            }
            if (now - check > 0) {
                check = now + CHECK_NANOS;
                if (bus.read(Registers.CSTS) == Bus.GONE) {
                    throw ControllerException.gone(name);
                }
            }
            pause.idle();
        }
        if (status != Status.SUCCESS) {
            throw new ControllerException(name, Status.failure(name, status));
        }
        return result;
    }

    /**
     * Returns whether the command that was executed last has completed; if not, the controller may still carry it out.
     */
    boolean hasCompleted() {
        return completed;
    }

    @Override
    public void completed(int commandId, int status, int result) {
        if (commandId == this.commandId) {
            this.status = status;
            this.result = result;
            completed = true;
        }
    }
}
