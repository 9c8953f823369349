// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transfers that share a sync object, and so complete together: the vendor's advice for speed.
 *
 * <p>The manual requires an initialized sync (chapter 7) and states that one is returned (6.4), so it is an in/out
 * parameter: the input is a fence behind all commands issued before. If it is unchanged after a call, the driver has
 * either reused it for the transfer, or ignored it and waited: in both cases the transfer has completed once it is
 * signalled. Otherwise the driver's own sync counts. A driver may return one for each call, and a later one proves
 * nothing of an earlier transfer: each sync that was returned is waited for and deleted.
 *
 * <p><b>Threading:</b> the context's thread.
 */
final class SsgGroup {

    /** Bounds the delay of the first transfer's completion. */
    private static final int MOST = 8;

    private final ByteBuffer cell =
            ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder()); // held: owns the native memory
    private final long address = NativeMemory.address(cell);
    private final List<GlSsgCommand> commands = new ArrayList<>();
    private final long[] syncs = new long[MOST]; // that transfers have joined; each once
    private int joined;
    private long given;

    @Nullable
    NativeFailure failed; // why its transfers have failed, once it is signalled

    /** Begins a group without transfers; returns false if no sync can be created now. */
    boolean begin() {
        if (given == 0) {
            given = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        }
        cell.putLong(0, given);
        return given != 0;
    }

    /** Returns the address of its GLsync, for the driver to read and to replace. */
    long address() {
        return address;
    }

    /** Returns what the first sync answers that is not signalled, and GL_ALREADY_SIGNALED once all are. */
    int poll() {
        for (int i = 0; i < joined; i++) {
            int state = Gl.glClientWaitSync(syncs[i], 0, 0);
            if (state != Gl.GL_ALREADY_SIGNALED && state != Gl.GL_CONDITION_SATISFIED) {
                return state;
            }
        }
        return Gl.GL_ALREADY_SIGNALED;
    }

    /** Adds a transfer that the driver has accepted, and the sync that the driver has left in the cell. */
    void add(GlSsgCommand command) {
        commands.add(command);
        long sync = cell.getLong(0);
        if (Arrays.stream(syncs, 0, joined).noneMatch(known -> known == sync)) {
            syncs[joined++] = sync;
        }
    }

    /** Offers the next transfer the sync of the last that was accepted: the driver has refused one. */
    void refused() {
        cell.putLong(0, joined == 0 ? given : syncs[joined - 1]);
    }

    boolean isEmpty() {
        return commands.isEmpty();
    }

    boolean isFull() {
        return commands.size() == MOST;
    }

    /** Completes the group: returns its transfers, and deletes the driver's syncs. */
    List<GlSsgCommand> end() {
        List<GlSsgCommand> ended = List.copyOf(commands);
        commands.clear();
        boolean replaced = false;
        while (joined > 0) {
            long sync = syncs[--joined];
            if (sync != given) {
                Gl.glDeleteSync(sync);
                replaced = true;
            }
        }
        if (replaced && Gl.glIsSync(given) == 0) {
            given = 0; // the driver owns it now
        }
        return ended;
    }

    /** Deletes the sync that was created here. */
    void close() {
        Gl.glDeleteSync(given);
    }
}
