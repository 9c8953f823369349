// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import io.penstock.PeerExport;
import io.penstock.StorageFile;
import io.penstock.engine.order.Pins;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Device memory with a use count; freed when it reaches 0 (rules 201, 202). */
public final class EngineBuffer implements DeviceBuffer {

    private static final Logger LOG = LoggerFactory.getLogger(EngineBuffer.class);

    private final Owner owner;
    private final DeviceMemory memory;
    private final long length;
    private final Pins pins;
    private final Sinks.Empty<Void> lost = Sinks.empty();
    private @Nullable BufferFile file; // guarded by this

    public EngineBuffer(Owner owner, DeviceMemory memory, long length) {
        this.owner = owner;
        this.memory = memory;
        this.length = length;
        this.pins = new Pins(this::free);
    }

    /** On the thread of the last user, who could do nothing about memory that a driver fails to free. */
    private void free() {
        try {
            memory.free();
        } catch (RuntimeException | Error e) {
            LOG.error("{} could not be freed, and its memory is lost", this, e);
        }
        owner.resources().remove(this);
    }

    /** Returns the address from which offsets in a region's buffer count for alignment; 0 for an opaque handle. */
    public static long address(BufferRegion region) {
        return ((EngineBuffer) region.buffer()).memory.hostAddress();
    }

    /**
     * Returns the number of bytes past a region that a read of a file may overwrite, since they belong to no other
     * buffer.
     */
    public static long slack(NativeFile file, BufferRegion region) {
        EngineBuffer buffer = (EngineBuffer) region.buffer();
        boolean last = region.offset() + region.length() == buffer.length;
        return last && file.readsIntoSlack() ? buffer.memory.slack() : 0;
    }

    public DeviceMemory memory() {
        return memory;
    }

    public Owner owner() {
        return owner;
    }

    public Pins pins() {
        return pins;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public long nativeHandle() {
        return memory.nativeHandle();
    }

    @Override
    public Optional<HostView> hostView() {
        boolean pinned = pins.tryPin(); // another thread may close it behind the check
        try {
            checkOpen();
            return memory.hostAddress() == 0
                    ? Optional.empty()
                    : Optional.of(new MemoryView(memory, length, this::checkOpen, pins));
        } finally {
            if (pinned) {
                pins.unpin();
            }
        }
    }

    private void checkOpen() {
        if (pins.isClosed()) {
            throw Failures.closed("access to a buffer of " + length + " bytes", "the buffer or its backend");
        }
    }

    @Override
    public Mono<Long> upload(long offset, ByteBuffer source) {
        Objects.checkFromIndexSize(offset, source.remaining(), length);
        return owner.upload(this, offset, source.slice());
    }

    @Override
    public Mono<Long> download(long offset, ByteBuffer target) {
        Objects.checkFromIndexSize(offset, target.remaining(), length);
        return owner.download(this, offset, target.slice());
    }

    @Override
    public synchronized StorageFile asFile() {
        BufferFile known = file;
        if (known == null) {
            boolean open = pins.tryPin();
            known = new BufferFile(this, open);
            file = known;
            if (!open) {
                known.retire();
            }
        }
        return known;
    }

    /** Returns how many transfers, leases and views use it. */
    int uses() {
        BufferFile from;
        synchronized (this) {
            from = file;
        }
        int ofFile = from == null ? 0 : from.count();
        return pins.count() + ofFile - (from == null || (from.isRetired() && ofFile == 0) ? 0 : 1);
    }

    @Override
    public PeerExport exportPeer() {
        return BufferExport.of(this);
    }

    @Override
    public Mono<Void> revoked() {
        return Mono.firstWithSignal(memory.revoked(), lost.asMono()).publishOn(owner.scheduler());
    }

    /** Completes {@link #revoked}: the device is lost. */
    void revoke() {
        lost.tryEmitEmpty();
    }

    @Override
    public void close() {
        ClosedPlaces.add(owner, this);
        BufferFile from;
        synchronized (this) {
            pins.close();
            from = file;
        }
        if (from != null) {
            from.retire();
        }
    }

    @Override
    public String toString() {
        return "buffer of " + length + " bytes on " + owner.name();
    }
}
