// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.host.ForeignMapping;
import io.penstock.engine.host.ForeignMemory;
import io.penstock.engine.spi.ssg.SsgSizes;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A GL buffer: one of ours, or what the application has. */
final class GlMemory implements ForeignMemory {

    static final AtomicLong LIVE = new AtomicLong();

    /** What a buffer of ours that the processor reaches is made and mapped with. */
    private static final int MAPPED =
            Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    /** What a buffer in the local visible memory is made with, says the manual of AMD's extension. */
    private static final int VISIBLE = Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT;

    /** Places in the tables of rings are few. */
    private static final long LEAST_REGISTERED_BYTES = 64 << 10;

    private final GlContext context;
    private final int name;
    private final long bytes;
    private final long hostAddress;
    private final Kind kind;
    private final @Nullable ForeignMapping mapping;
    private boolean refusesSyncs; // the context's thread

    /**
     * What a buffer is made as.
     *
     * @param owned whether it is ours to delete
     * @param visible whether AMD's extension moves files to and from it beside other work
     * @param storageBytes that it really has
     */
    private record Kind(boolean owned, boolean visible, long storageBytes) {}

    private GlMemory(GlContext context, int name, long bytes, long hostAddress, Kind kind) {
        this.context = context;
        this.name = name;
        this.bytes = bytes;
        this.hostAddress = hostAddress;
        this.kind = kind;
        this.mapping =
                hostAddress != 0 && bytes >= LEAST_REGISTERED_BYTES ? new ForeignMapping(hostAddress, bytes) : null;
        context.join();
        LIVE.incrementAndGet();
    }

    /**
     * Allocates a buffer; on the thread of the context.
     *
     * @param mapped whether the processor is to reach it
     */
    static GlMemory allocate(GlContext context, long bytes, boolean mapped) {
        String request = "allocation of a GL buffer of " + bytes + " bytes";
        long address = 0;
        int name = context.buffers().make(bytes, mapped ? MAPPED : 0);
        try {
            GlFailure.check(request, GlCall.ALLOCATE);
            if (mapped) {
                address = context.buffers().map(name, bytes, MAPPED);
                GlFailure.check(request, GlCall.MAP);
            }
            return new GlMemory(context, name, bytes, address, new Kind(true, false, bytes));
        } catch (RuntimeException e) {
            BufferCalls.delete(name);
            throw e;
        }
    }

    /**
     * Allocates a buffer in the local visible memory, of whole pages; on the thread of the context.
     *
     * @param most bytes of that memory that may be in use in this process
     * @return null if there is none left
     */
    static @Nullable GlMemory allocateVisible(GlContext context, long bytes, long most) {
        long rounded = SsgSizes.wholePages(bytes);
        if (!GlSsg.VISIBLE.take(rounded, most)) {
            return null;
        }
        GlFailure.takeError();
        int name = context.buffers().make(rounded, VISIBLE);
        int refused = GlFailure.takeError();
        if (refused != GlError.NO_ERROR) {
            BufferCalls.delete(name);
            GlSsg.VISIBLE.give(rounded);
            if (refused == GlError.OUT_OF_MEMORY) {
                return null; // other processes have it
            }
            throw GlFailure.exception(
                    "allocation of " + bytes + " bytes of visible memory", GlCall.ALLOCATE.vendorName(), refused);
        }
        return new GlMemory(context, name, bytes, 0, new Kind(true, true, rounded));
    }

    /**
     * Wraps a buffer of the application's; on the thread of the context.
     *
     * @throws IllegalArgumentException if GL does not know it, or it is shorter
     */
    static GlMemory wrap(GlContext context, long handle, long bytes) {
        String buffer = "the GL buffer " + handle;
        if (handle != (int) handle || Gl.glIsBuffer((int) handle) == 0) {
            throw new IllegalArgumentException(
                    buffer + " is none that " + context + " knows, nor of a context that shares with it");
        }
        long size = context.buffers().parameter((int) handle, Gl.GL_BUFFER_SIZE);
        long flags = context.buffers().parameter((int) handle, Gl.GL_BUFFER_STORAGE_FLAGS);
        GlFailure.check("wrapping of " + buffer, GlCall.SIZE);
        if (bytes > size) {
            throw new IllegalArgumentException(buffer + " has " + size + " bytes, not " + bytes);
        }
        boolean visible = (flags & (VISIBLE | Gl.GL_CLIENT_STORAGE_BIT)) == VISIBLE;
        return new GlMemory(context, (int) handle, bytes, 0, new Kind(false, visible, bytes));
    }

    /** Returns whether AMD's extension moves files to and from it beside other work: the manual, chapter 7. */
    boolean isVisible() {
        return kind.visible;
    }

    /** Returns whether the driver has refused a sync for it all the same; on the thread of the context. */
    boolean refusesSyncs() {
        return refusesSyncs;
    }

    /** Says that it has. */
    void refuseSyncs() {
        refusesSyncs = true;
    }

    /** Returns GL's name of the buffer. */
    int name() {
        return name;
    }

    GlContext context() {
        return context;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long slack() {
        return kind.storageBytes - bytes;
    }

    @Override
    public long nativeHandle() {
        return name;
    }

    @Override
    public long hostAddress() {
        return hostAddress;
    }

    @Override
    public @Nullable ForeignMapping mapping() {
        return mapping;
    }

    @Override
    public void free() {
        if (mapping != null) {
            mapping.retire();
        }
        LIVE.decrementAndGet();
        if (kind.owned && !context.postOrRun(this::delete)) {
            giveBack(); // it went with the context
        }
        context.leave();
    }

    private void delete() {
        BufferCalls.delete(name);
        giveBack();
    }

    private void giveBack() {
        if (kind.owned && kind.visible) {
            GlSsg.VISIBLE.give(kind.storageBytes);
        }
    }
}
