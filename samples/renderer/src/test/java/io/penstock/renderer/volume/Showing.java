// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Shows a volume that lies in memory to visitors, cut as a plan says. */
final class Showing {

    private final NiftiHeader header;
    private final ByteBuffer file;

    Showing(NiftiHeader header, ByteBuffer file) {
        this.header = header;
        this.file = file;
    }

    Showing(Phantom phantom) throws BadVolumeException {
        this(phantom.header(), phantom.file);
    }

    NiftiHeader header() {
        return header;
    }

    Picture picture(long budgetBytes, Composition composition) throws BadVolumeException {
        show(budgetBytes, composition);
        return composition.finish();
    }

    Scene scene(long budgetBytes) throws BadVolumeException {
        Survey survey;
        if (Survey.needsRange(header)) {
            ValueRange range = new ValueRange(header);
            show(budgetBytes, range);
            survey = new Survey(header, range);
        } else {
            survey = new Survey(header);
        }
        show(budgetBytes, survey);
        return survey.finish();
    }

    void show(long budgetBytes, SlabVisitor visitor) throws BadVolumeException {
        SlabPlan plan = SlabPlan.within(Budget.of(budgetBytes), header, visitor);
        for (SlabPlan.Range range : plan.slabs()) {
            // A copy that is wiped: what a lease is to the real visitor.
            byte[] lease = new byte[(int) range.bytes()];
            file.get((int) range.fileOffset(), lease);
            visitor.visit(
                    new Slab(range.from(), range.to(), ByteBuffer.wrap(lease).order(header.order())));
            Arrays.fill(lease, (byte) 0xa5);
        }
    }
}
