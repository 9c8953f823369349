// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import io.penstock.engine.spi.ssg.SsgQueue;
import java.util.function.BooleanSupplier;

/** A command, with the steps of the copy that it may be. */
final class Dx11SsgCommand extends SsgCommand {

    /** Whether it goes in a call of its own: it was one of several in a call that failed. */
    boolean alone;

    private boolean copying; // the executor's: the copy has been started

    /** Makes a step of its copy; returns whether that was the last. Made once, since each transfer's edge is copied. */
    final BooleanSupplier copyStep;

    Dx11SsgCommand(Request request, SsgQueue<Dx11SsgCommand> queue) {
        super(request);
        this.copyStep = () -> {
            boolean last = copy();
            if (last) {
                queue.returned(this);
            }
            return last;
        };
    }

    @Override
    protected void begin() {
        super.begin();
        alone = false;
        copying = false;
    }

    /**
     * Makes the next step of a copy: takes the buffer's turn, copies, polls; the executor's.
     *
     * @return whether it has ended, with what it has come to
     */
    private boolean copy() {
        Dx11Memory buffer = (Dx11Memory) memory();
        SsgSlot edge = (SsgSlot) slot();
        if (!copying) {
            if (!buffer.turns().tryCopy()) {
                return false;
            }
            copying = true;
            NativeFailure refused = kind() == Request.Kind.COPY_IN
                    ? edge.copyTo(buffer.nativeHandle(), memoryOffset(), slotOffset(), bytes())
                    : edge.copyFrom(buffer.nativeHandle(), memoryOffset(), slotOffset(), bytes());
            if (refused != null) {
                fails(refused);
            }
        }
        if (!hasFailed()) {
            if (!edge.look()) {
                return false;
            }
            ends(bytes(), edge.failure());
        }
        buffer.turns().endCopy();
        return true;
    }
}
