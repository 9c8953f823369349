// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeQueue;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Commands that a host queue answers by itself, in its next turn: copies within host memory, and commands that it
 * could not hand over.
 *
 * <p><b>Threading:</b> the lane only.
 */
final class InlineCommands {
    private final int[] ids; // a ring: each id is in it at most once
    private final long[] results; // by id: bytes to copy, or the negative answer
    private final @Nullable DeviceMemory[] sources; // by id
    private final @Nullable DeviceMemory[] targets; // by id
    private final long[] sourceOffsets; // by id
    private final long[] targetOffsets; // by id
    private int head;
    private int count;

    InlineCommands(int depth) {
        ids = new int[depth];
        results = new long[depth];
        sources = new DeviceMemory[depth];
        targets = new DeviceMemory[depth];
        sourceOffsets = new long[depth];
        targetOffsets = new long[depth];
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Takes a COPY_IN or a COPY_OUT. */
    void copy(int id, Command command) {
        boolean in = command.kind() == Command.Kind.COPY_IN;
        sources[id] = in ? command.slot() : command.memory();
        targets[id] = in ? command.memory() : command.slot();
        sourceOffsets[id] = in ? command.slotOffset() : command.memoryOffset();
        targetOffsets[id] = in ? command.memoryOffset() : command.slotOffset();
        answer(id, command.bytes());
    }

    /** Lets the next turn answer {@code result}. */
    void answer(int id, long result) {
        results[id] = result;
        ids[(head + count++) % ids.length] = id;
    }

    /** Runs and answers what was there as the call began; returns how many. */
    int run(NativeQueue.Completions completions) {
        int runs = count;
        for (int i = 0; i < runs; i++) {
            int id = ids[head];
            head = (head + 1) % ids.length;
            count--;
            DeviceMemory source = sources[id];
            DeviceMemory target = targets[id];
            if (source != null && target != null) {
                copy(target, targetOffsets[id], source, sourceOffsets[id], results[id]);
                sources[id] = null;
                targets[id] = null;
            }
            completions.completed(id, results[id]);
        }
        return runs;
    }

    private static void copy(DeviceMemory target, long to, DeviceMemory source, long from, long bytes) {
        if (NativeMemory.isAvailable()) {
            NativeMemory.copy(target.hostAddress() + to, source.hostAddress() + from, bytes);
            return;
        }
        int most = 1 << 30;
        for (long done = 0; done < bytes; done += most) {
            int length = (int) Math.min(most, bytes - done);
            buffer(target, to + done, length).put(buffer(source, from + done, length));
        }
    }

    /** Returns memory as a buffer, without native help where it can be had without. */
    static ByteBuffer buffer(DeviceMemory memory, long offset, int length) {
        return memory instanceof HostMemory host
                ? host.buffer(offset, length)
                : NativeMemory.view(memory.hostAddress() + offset, length);
    }
}
