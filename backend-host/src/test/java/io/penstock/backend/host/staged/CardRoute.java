// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import io.penstock.engine.staging.ExecutorPump;
import io.penstock.engine.staging.SlotSizes;
import io.penstock.engine.staging.StagedFile;
import io.penstock.engine.staging.StagedQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The way to the card: through slots.
 *
 * @param pump the application's thread, where the card's rule wants one
 */
record CardRoute(
        Card card,
        SlotSizes sizes,
        long pieceBytes,
        @Nullable ExecutorPump pump) implements Route {

    CardRoute(Card card, Options options, @Nullable ExecutorPump pump) {
        this(card, SlotSizes.of(options), options.get(CommonOptions.PIECE_BYTES), pump);
    }

    @Override
    public TransferPath path() {
        return TransferPath.STAGED;
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public String reason() {
        return "the card has no way to files of its own";
    }

    @Override
    public String remedy() {
        return "";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        boolean writable = options.contains(FileOption.WRITE);
        return new StagedFile(LinuxFile.open(path, options, pieceBytes), BlockingBytes.INSTANCE, sizes, writable);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return "";
    }

    @Override
    public Object sharing() {
        return card;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return pump == null
                ? StagedQueue.open(card, BlockingBytes.INSTANCE, sizes)
                : StagedQueue.open(card, BlockingBytes.INSTANCE, sizes, pump);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
