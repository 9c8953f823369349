// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.Transfer;
import io.penstock.engine.kit.ssg.SsgPath;
import io.penstock.engine.spi.NativeFile;

/** The path by AMD's interface, whose offsets may have 32 bits. */
public final class Dx11SsgPath extends SsgPath {

    private final SsgHeader header;

    /** Creates the path. */
    public Dx11SsgPath(Dx11Ssg ssg) {
        super(ssg, true);
        this.header = ssg.header();
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        // The end of the block that contains the end, or just behind it.
        long behind = fileOffset + bytes + file.limits().fileAlignment();
        return header.refusal(behind < 0 ? fileOffset + bytes : behind);
    }

    /** {@inheritDoc} The parts of a gather are checked here. */
    @Override
    public String refusal(Transfer transfer) {
        String refusal = "";
        for (int pair = 0; transfer.isGather() && refusal.isEmpty() && pair < transfer.pairs(); pair++) {
            refusal = header.refusal(transfer.fileOffset(pair) + transfer.pairLength(pair));
        }
        return refusal;
    }
}
