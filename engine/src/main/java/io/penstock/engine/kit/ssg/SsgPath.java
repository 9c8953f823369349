// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path through AMD's extension, from the disk to the device. A backend with a ring has two paths, which share files
 * and I/O queue: a straight one to buffers that the disk reaches, and one through the ring to all others.
 */
public class SsgPath implements IoPath {

    private final SsgDevice<?> device;
    private final boolean straight;

    // The largest block of the files so far; all files of one disk have the same block size.
    private volatile long blockBytes = 1;

    /**
     * Describes the path.
     *
     * @param straight whether this is the path without the ring
     */
    public SsgPath(SsgDevice<?> device, boolean straight) {
        this.device = device;
        this.straight = straight;
    }

    /** Returns whether this is the path without the ring. */
    protected final boolean isStraight() {
        return straight;
    }

    /** Returns the alignment of offsets and lengths in the files opened so far. */
    protected final long blockBytes() {
        return blockBytes;
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    /** {@inheritDoc} No driver reports the path of a transfer, or whether the disk really reached the memory. */
    @Override
    public Evidence evidence() {
        return Evidence.INFERRED;
    }

    @Override
    public String reason() {
        SsgTexts texts = device.texts();
        return straight
                ? texts.computed()
                : "through " + (device.ringBytes() >> 10) + " KiB of " + texts.ring() + " and a copy on the device; "
                        + texts.computed();
    }

    @Override
    public String remedy() {
        return straight ? "" : device.texts().remedy();
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        SsgFiles files = device.files();
        SsgHandle handle = files.open(device, path, options);
        long block = handle.blockBytes();
        long segment = device.sizes().segmentBytes() & -block;
        if (segment == 0) {
            files.close(handle);
            throw new SsgRefusal("blocks of " + block + " bytes are larger than "
                    + device.sizes().limit());
        }
        blockBytes = Math.max(blockBytes, block);
        // Through the ring, the device's copies reach any byte of the buffer.
        return new SsgFile(files, handle, new Limits(block, straight ? block : 1, segment, segment, false));
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
            return device.ringBytes() == 0 ? device.texts().noRing() : "";
        }
        return device.isReachable(memory) ? "" : device.texts().unreachable();
    }

    @Override
    public Object sharing() {
        return device;
    }

    @Override
    public int ioQueues() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return new SsgQueue<>(device);
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return device.allocateBounceBuffer(bytes);
    }
}
