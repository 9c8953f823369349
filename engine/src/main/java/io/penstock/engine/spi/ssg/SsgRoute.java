// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path by AMD's extension, from the disk to the device. A backend with a ring has two routes, which share files and lane:
 * one straight into buffers that the disk reaches, one by way of the ring into all others.
 */
public class SsgRoute implements Route {

    private final SsgDevice<?> device;
    private final boolean straight;

    // The largest block of the files so far; files of one disk have the same.
    private volatile long blockBytes = 1;

    /**
     * Describes the path.
     *
     * @param straight whether it is the one without the ring
     */
    public SsgRoute(SsgDevice<?> device, boolean straight) {
        this.device = device;
        this.straight = straight;
    }

    /** Returns whether it is the one without the ring. */
    protected final boolean isStraight() {
        return straight;
    }

    /** Returns what offsets and lengths in the files so far are multiples of. */
    protected final long blockBytes() {
        return blockBytes;
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    /** {@inheritDoc} No driver tells how a transfer went, or whether the disk really reached the memory. */
    @Override
    public Evidence evidence() {
        return Evidence.INFERRED;
    }

    @Override
    public String reason() {
        SsgWords words = device.words();
        return straight
                ? words.computed()
                : "through " + (device.ringBytes() >> 10) + " KiB of " + words.ring() + " and a copy on the device; "
                        + words.computed();
    }

    @Override
    public String remedy() {
        return straight ? "" : device.words().remedy();
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        SsgFiles files = device.files();
        SsgHandle handle = files.open(device, path, options);
        long block = handle.blockBytes();
        long piece = device.sizes().pieceBytes() & -block;
        if (piece == 0) {
            files.close(handle);
            throw new SsgRefusal("blocks of " + block + " bytes are larger than "
                    + device.sizes().limit());
        }
        blockBytes = Math.max(blockBytes, block);
        // Through the ring the device's own copies go to any byte of the buffer.
        return new SsgFile(files, handle, new Limits(block, straight ? block : 1, piece, piece, false));
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(file instanceof SsgFile)) {
            return "the file was opened for another path";
        }
        String why = device.refusal(target, memory);
        if (!why.isEmpty() || memory == null) {
            return why;
        }
        if (!straight) {
            return device.ringBytes() == 0 ? device.words().noRing() : "";
        }
        return device.isReachable(memory) ? "" : device.words().unreachable();
    }

    @Override
    public Object sharing() {
        return device;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return new SsgQueue<>(device);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return device.allocateSlot(bytes);
    }
}
