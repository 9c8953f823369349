// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transfers that share a sync object, and so end together: the vendor's advice for speed.
 *
 * <p>The manual wants the sync initialized (chapter 7) and says that one comes back (6.4), so it is both: what goes in is a
 * fence behind what the context was told before. Is it still there afterwards, then the driver has either let it stand for
 * the transfers, or ignored it and waited: in both cases they have ended when it is passed. Else the driver's own counts.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class SsgGroup {

    /** So that the first is not kept from its end for too long. */
    private static final int MOST = 8;

    private final ByteBuffer cell =
            ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder()); // held: it is the native memory
    private final long address = NativeMemory.address(cell);
    private final List<GlSsgCommand> commands = new ArrayList<>();
    private long given;

    @Nullable
    NativeFailure failed; // why its transfers have failed, once it is passed

    /** Begins one: no transfer has joined it. */
    void begin() {
        if (given == 0) {
            given = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        }
        cell.putLong(0, given);
    }

    /** Returns the address of its GLsync, for the driver to read and to replace. */
    long address() {
        return address;
    }

    /** Returns the sync that counts now. */
    long sync() {
        return cell.getLong(0);
    }

    /** Lets a transfer join that the driver has taken. */
    void add(GlSsgCommand command) {
        commands.add(command);
    }

    boolean isEmpty() {
        return commands.isEmpty();
    }

    boolean isFull() {
        return commands.size() == MOST;
    }

    /** Ends it: answers its transfers, and gives the driver's sync back. */
    List<GlSsgCommand> end() {
        List<GlSsgCommand> ended = List.copyOf(commands);
        commands.clear();
        long last = sync();
        if (last != given) {
            Gl.glDeleteSync(last);
            if (Gl.glIsSync(given) == 0) {
                given = 0; // the driver has taken it for its own
            }
        }
        return ended;
    }

    /** Gives the sync back that was made here. */
    void close() {
        Gl.glDeleteSync(given);
    }
}
