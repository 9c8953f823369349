// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.NativeError;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A read of a few blocks by a queue pair of its own, waited for: what the opening of a file needs. */
public final class BlockRead {

    private static final int PENDING = -1;

    private BlockRead() {}

    /**
     * Reads bytes of a namespace. Blocks.
     *
     * @param place of the first, in bytes from the start of the namespace
     * @param bytes how many, within one command of the controller
     * @return a heap buffer, little-endian
     * @throws ControllerException if the controller has no queue left, or does not read them
     */
    public static ByteBuffer of(Controller controller, Namespace space, long place, int bytes)
            throws ControllerException {
        long first = place / space.blockBytes();
        int count = (int) ((place + bytes - 1) / space.blockBytes() - first) + 1;
        DmaMemory memory = controller.bus().allocate((long) count * space.blockBytes());
        try {
            execute(controller, space, first, memory);
            ByteBuffer copy = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
            return copy.put(memory.buffer(place % space.blockBytes(), bytes)).flip();
        } finally {
            memory.free();
        }
    }

    private static void execute(Controller controller, Namespace space, long first, DmaMemory memory)
            throws ControllerException {
        PrpLists lists = new PrpLists(controller.bus(), 1, memory.bytes());
        try {
            QueuePair pair = controller.openQueuePair(1, -1);
            try {
                pair.next()
                        .command(SubmissionEntry.READ, 0, space.id())
                        .data(memory.busAddress(), lists.second(0, memory.busAddress(), memory.bytes()))
                        .blocks(first, (int) (memory.bytes() / space.blockBytes()));
                await(controller, pair);
            } finally {
                controller.close(pair); // ends the command, if it has not completed
            }
        } finally {
            lists.free();
        }
    }

    private static void await(Controller controller, QueuePair pair) throws ControllerException {
        int[] ended = {PENDING};
        Pause pause = new Pause().spins(100).naps(10_000, 1_000_000);
        long start = System.nanoTime();
        pair.ring();
        while (ended[0] == PENDING) {
            pair.poll((commandId, status, result) -> ended[0] = status);
            boolean isReset = pair.generation() != controller.generation();
            if (isReset || System.nanoTime() - start > controller.timeoutNanos()) {
                String note = isReset ? "the controller was reset" : "it has not completed in time";
                throw new ControllerException(
                        "Read",
                        new NativeFailure(
                                new NativeError("NVMe Read", 0, "TIMEOUT"), NativeFailure.Kind.TRANSIENT, note));
            }
            pause.idle();
        }
        if (ended[0] != Status.SUCCESS) {
            throw new ControllerException("Read", Status.failure("Read", ended[0]));
        }
    }
}
