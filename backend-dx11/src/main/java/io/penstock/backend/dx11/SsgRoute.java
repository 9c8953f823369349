// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.ssg.SsgFile;
import io.penstock.engine.spi.ssg.SsgFiles;
import io.penstock.engine.spi.ssg.SsgHandle;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The way by AMD's interface, from the disk to buffers of usage DEFAULT. */
final class SsgRoute implements Route {

    private final SsgInterface ssg;
    private final SsgSizes sizes;
    private final SsgFiles files;

    SsgRoute(SsgInterface ssg, SsgSizes sizes) {
        this.ssg = ssg;
        this.sizes = sizes;
        this.files = new SsgFiles((path, write) -> SsgObject.open(ssg, path, write));
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    /** {@inheritDoc} The interface says nothing of how a transfer went. */
    @Override
    public Evidence evidence() {
        return Evidence.INFERRED;
    }

    @Override
    public String reason() {
        return "counts are computed, since IAmdDxExtSSG gives none, nor how an asynchronous transfer ended";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        SsgHandle handle = files.open(path, options);
        long block = handle.blockBytes();
        long piece = sizes.pieceBytes() & -block;
        if (piece == 0) {
            files.close(handle);
            throw new SsgRefusal("blocks of " + block + " bytes are larger than pieces of " + sizes.pieceBytes());
        }
        return new SsgFile(files, handle, new Limits(block, block, piece, piece, false), false);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(memory instanceof Dx11Memory buffer)) {
            return target instanceof ImageRegion
                    ? "AMD's interface reads into buffers, not into textures"
                    : "the target is not a buffer of this device";
        }
        return buffer.isDefault() ? "" : "the buffer is not of usage DEFAULT";
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        return ssg.layout().refusal(whole(fileOffset + bytes, file));
    }

    /** {@inheritDoc} The parts of a gather are asked for here. */
    @Override
    public String refusal(Transfer transfer) {
        String refusal = "";
        for (int pair = 0; transfer.isGather() && refusal.isEmpty() && pair < transfer.pairs(); pair++) {
            refusal = ssg.layout().refusal(transfer.fileOffset(pair) + transfer.pairLength(pair));
        }
        return refusal;
    }

    /** Returns the end of the block that an end lies in, or just behind it. */
    private static long whole(long end, NativeFile file) {
        long behind = end + file.limits().fileAlignment();
        return behind < 0 ? end : behind;
    }

    @Override
    public Object sharing() {
        return ssg;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return new SsgQueue(ssg, sizes);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return SsgSlot.allocate(ssg, bytes);
    }
}
