// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Route;
import io.penstock.engine.staging.SlotSizes;
import io.penstock.engine.staging.StagedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * The way through slots, as far as it is the same to every device: files of the host's, one lane, nothing that would help
 * to make it shorter. A backend says which memory is its device's, and what copies to and from it.
 */
public abstract class StagingRoute implements Route {

    private final SlotSizes sizes;
    private final long pieceBytes;
    private final String reason;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     */
    protected StagingRoute(Options options, String reason) {
        this.sizes = SlotSizes.of(options);
        this.pieceBytes = options.get(CommonOptions.PIECE_BYTES);
        this.reason = reason;
    }

    /** Returns the sizes of slots, and of how much is under way. */
    protected final SlotSizes sizes() {
        return sizes;
    }

    @Override
    public final TransferPath path() {
        return TransferPath.STAGED;
    }

    @Override
    public final Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public final String reason() {
        return reason;
    }

    @Override
    public final NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile host = HostFile.open(path, options, pieceBytes);
        try {
            return new StagedFile(host, BlockingBytes.INSTANCE, sizes, options.contains(FileOption.WRITE));
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
    }

    @Override
    public final int lanes() {
        return 1;
    }
}
