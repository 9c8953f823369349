// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The way by AMD's extension, from the disk to the device. A backend has two, which share the lane: one straight into
 * buffers in local visible memory, one through a ring of that memory into all others.
 */
final class SsgRoute implements Route {

    private final SsgSession session;
    private final boolean straight;

    /**
     * Describes the way.
     *
     * @param straight whether it is the one without the ring
     */
    SsgRoute(SsgSession session, boolean straight) {
        this.session = session;
        this.straight = straight;
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    /** {@inheritDoc} The driver tells nothing of a transfer but that it has ended. */
    @Override
    public Evidence evidence() {
        return Evidence.INFERRED;
    }

    @Override
    public String reason() {
        String computed = "counts are computed, since the driver gives none, nor an error once a transfer has begun";
        return straight
                ? computed
                : "through " + (session.ring().bytes() >> 10) + " KiB of visible memory and a copy on the device; "
                        + computed;
    }

    @Override
    public String remedy() {
        return straight
                ? ""
                : "buffers of this backend's within " + GlOptions.VISIBLE_BYTES
                        + ", or made with GL_MAP_READ_BIT|GL_MAP_WRITE_BIT|GL_MAP_PERSISTENT_BIT";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return SsgFile.open(session, path, options.contains(FileOption.WRITE), straight);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(file instanceof SsgFile)) {
            return "the file was opened for another path";
        }
        if (!(memory instanceof GlMemory buffer) || buffer.context() != session.context()) {
            return "the target is no buffer of this context";
        }
        return buffer.isVisible() || !straight
                ? ""
                : "the buffer is not in local visible memory: made without GL_MAP_READ_BIT|GL_MAP_WRITE_BIT|"
                        + "GL_MAP_PERSISTENT_BIT, or with GL_CLIENT_STORAGE_BIT";
    }

    @Override
    public Object sharing() {
        return session;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return new SsgQueue(session);
    }

    /** {@inheritDoc} Plain memory, since to make GL's must not wait for the thread of the context. */
    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
