// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Transfer;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.ssg.SsgRoute;

/** The path by AMD's interface, which may have offsets of 32 bits. */
final class Dx11SsgRoute extends SsgRoute {

    private final SsgLayout layout;

    Dx11SsgRoute(Dx11Ssg ssg) {
        super(ssg, true);
        this.layout = ssg.layout();
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        // The end of the block that the end lies in, or just behind it.
        long behind = fileOffset + bytes + file.limits().fileAlignment();
        return layout.refusal(behind < 0 ? fileOffset + bytes : behind);
    }

    /** {@inheritDoc} The parts of a gather are looked at here. */
    @Override
    public String refusal(Transfer transfer) {
        String refusal = "";
        for (int pair = 0; transfer.isGather() && refusal.isEmpty() && pair < transfer.pairs(); pair++) {
            refusal = layout.refusal(transfer.fileOffset(pair) + transfer.pairLength(pair));
        }
        return refusal;
    }
}
