// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.backend.dx11.memory.BufferTurns;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.engine.kit.ssg.SsgCommand;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.function.BooleanSupplier;

/** A command, with the steps of the copy that it may be. */
final class Dx11SsgCommand extends SsgCommand {

    /** True if it is submitted in a separate call: it was one of several in a call that failed. */
    boolean alone;

    private boolean copying; // used by the executor: the copy has been started

    /**
     * Makes a step of its copy; returns true after the last. Created once, since the edge of every transfer is copied.
     */
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

    /** Returns the lock of its buffer. */
    BufferTurns turns() {
        return ((Dx11Memory) request.memory()).turns();
    }

    /**
     * Makes the next step of a copy: takes the buffer's lock, copies, polls; called on the executor.
     *
     * @return true if the copy has completed or failed
     */
    private boolean copy() {
        SsgBounceBuffer edge = (SsgBounceBuffer) request.staging();
        if (!copying) {
            if (!turns().tryCopy()) {
                return false;
            }
            copying = true;
            NativeFailure refused = edge.start(request);
            if (refused != null) {
                fails(refused);
            }
        }
        if (!hasFailed()) {
            if (!edge.poll()) {
                return false;
            }
            ends(request.bytes(), edge.failure());
        }
        turns().endCopy();
        return true;
    }
}
