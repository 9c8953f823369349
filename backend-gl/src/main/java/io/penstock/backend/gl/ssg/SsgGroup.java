// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transfers that share a sync object, and so complete together: the vendor's advice for speed.
 *
 * <p>The manual requires an initialized sync (chapter 7) and states that one is returned (6.4), so it is an in/out
 * parameter: the input is a fence behind all commands issued before. If it is unchanged afterwards, the driver has
 * either reused it for the transfers, or ignored it and waited: in both cases they have completed once it is signalled.
 * Otherwise the driver's own sync counts.
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

    /** Returns the sync that counts at present. */
    long sync() {
        return cell.getLong(0);
    }

    /** Adds a transfer that the driver has accepted. */
    void add(GlSsgCommand command) {
        commands.add(command);
    }

    boolean isEmpty() {
        return commands.isEmpty();
    }

    boolean isFull() {
        return commands.size() == MOST;
    }

    /** Completes the group: returns its transfers, and deletes the driver's sync. */
    List<GlSsgCommand> end() {
        List<GlSsgCommand> ended = List.copyOf(commands);
        commands.clear();
        long last = sync();
        if (last != given) {
            Gl.glDeleteSync(last);
            if (Gl.glIsSync(given) == 0) {
                given = 0; // the driver owns it now
            }
        }
        return ended;
    }

    /** Deletes the sync that was created here. */
    void close() {
        Gl.glDeleteSync(given);
    }
}
