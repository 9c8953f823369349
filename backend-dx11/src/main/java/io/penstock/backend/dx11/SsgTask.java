// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import io.penstock.engine.spi.ssg.SsgFile;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A request on its way; one object per tag. */
final class SsgTask extends SsgCommand<SsgFile> {

    /** Whether it goes in a call of its own: it was one of several in a call that failed. */
    boolean alone;

    private boolean copying; // the executor's: the copy has been started

    /** Makes a step of its copy; answers whether that was the last. Made once, since each transfer's edge is copied. */
    final BooleanSupplier copyStep;

    SsgTask(Request request, Consumer<SsgTask> giveBack) {
        super(request);
        this.copyStep = () -> {
            boolean last = copy();
            if (last) {
                giveBack.accept(this);
            }
            return last;
        };
    }

    @Override
    public void begin() {
        super.begin();
        alone = false;
        copying = false;
    }

    /**
     * Makes the next step of a copy; the executor's. Takes the buffer's turn, copies, looks.
     *
     * @return whether it has ended; then it says how
     */
    boolean copy() {
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
