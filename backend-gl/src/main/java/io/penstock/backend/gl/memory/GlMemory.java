// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.memory;

import io.penstock.backend.gl.context.BufferCalls;
import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.memory.MappedMemory;
import io.penstock.engine.kit.memory.MemoryMapping;
import io.penstock.engine.kit.ssg.SsgHeap;
import io.penstock.engine.kit.ssg.SsgSizes;
import org.jspecify.annotations.Nullable;

/** A GL buffer, of the backend or of the application. */
public final class GlMemory implements MappedMemory {

    /** The flags for buffers that the processor can access. */
    private static final int MAPPED =
            Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    /** The flags for buffers in local visible memory, from the manual of AMD's extension. */
    private static final int VISIBLE = Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT;

    /**
     * The local visible memory of this process: the card has some 100 MB of it for applications (the manual, chapter
     * 7); allocations beyond that fail, including allocations of the application.
     */
    private static final SsgHeap HEAP = new SsgHeap();

    /** The buffer tables of rings are small. */
    private static final long LEAST_REGISTERED_BYTES = 64 << 10;

    private final GlContext context;
    private final int name;
    private final long bytes;
    private final long hostAddress;
    private final Kind kind;
    private final @Nullable MemoryMapping mapping;
    private boolean refusesSyncs; // the context's thread

    /**
     * The kind of a buffer.
     *
     * @param owned true if the backend deletes it
     * @param visible true if AMD's extension transfers to and from it asynchronously
     * @param storageBytes actual size of its storage
     */
    private record Kind(boolean owned, boolean visible, long storageBytes) {}

    private GlMemory(GlContext context, int name, long bytes, long hostAddress, Kind kind) {
        this.context = context;
        this.name = name;
        this.bytes = bytes;
        this.hostAddress = hostAddress;
        this.kind = kind;
        this.mapping =
                hostAddress != 0 && bytes >= LEAST_REGISTERED_BYTES ? new MemoryMapping(hostAddress, bytes) : null;
        context.join();
        LiveObjects.add(GlMemory.class);
    }

    /**
     * Allocates a buffer; on the context's thread.
     *
     * @param mapped true if the processor must be able to access it
     */
    public static GlMemory allocate(GlContext context, long bytes, boolean mapped) {
        String request = "allocation of a GL buffer of " + bytes + " bytes";
        long address = 0;
        int name = context.buffers().make(bytes, mapped ? MAPPED : 0);
        try {
            GlCall.ALLOCATE.check(request);
            if (mapped) {
                address = context.buffers().map(name, bytes, MAPPED);
                GlCall.MAP.check(request);
            }
            return new GlMemory(context, name, bytes, address, new Kind(true, false, bytes));
        } catch (RuntimeException | Error e) {
            BufferCalls.delete(name);
            throw e;
        }
    }

    /**
     * Allocates a buffer in the local visible memory, of whole pages; on the context's thread.
     *
     * @param most bytes of that memory that may be in use in this process
     * @return null if there is none left
     */
    public static @Nullable GlMemory allocateVisible(GlContext context, long bytes, long most) {
        long rounded = SsgSizes.wholePages(bytes);
        if (!HEAP.take(rounded, most)) {
            return null;
        }
        GlFailure.takeError();
        int name = context.buffers().make(rounded, VISIBLE);
        int refused = GlFailure.takeError();
        if (refused != GlError.NO_ERROR) {
            BufferCalls.delete(name);
            HEAP.give(rounded);
            if (refused == GlError.OUT_OF_MEMORY) {
                return null; // other processes have it
            }
            throw GlCall.ALLOCATE.exception("allocation of " + bytes + " bytes of visible memory", refused);
        }
        return new GlMemory(context, name, bytes, 0, new Kind(true, true, rounded));
    }

    /**
     * Wraps a buffer of the application; on the context's thread.
     *
     * @throws IllegalArgumentException if it is not known to GL, or it is shorter
     */
    public static GlMemory wrap(GlContext context, long handle, long bytes) {
        String buffer = "the GL buffer " + handle;
        if (handle != (int) handle || Gl.glIsBuffer((int) handle) == 0) {
            throw new IllegalArgumentException(
                    buffer + " is not valid in " + context + " or a context that shares with it");
        }
        long size = context.buffers().parameter((int) handle, Gl.GL_BUFFER_SIZE);
        long flags = context.buffers().parameter((int) handle, Gl.GL_BUFFER_STORAGE_FLAGS);
        GlCall.SIZE.check("wrapping of " + buffer);
        if (bytes > size) {
            throw new IllegalArgumentException(buffer + " has " + size + " bytes, not " + bytes);
        }
        boolean visible = (flags & (VISIBLE | Gl.GL_CLIENT_STORAGE_BIT)) == VISIBLE;
        return new GlMemory(context, (int) handle, bytes, 0, new Kind(false, visible, bytes));
    }

    /** Returns true if AMD's extension transfers to and from it asynchronously: the manual, chapter 7. */
    public boolean isVisible() {
        return kind.visible;
    }

    /** Returns true if the driver has refused a sync for it; on the context's thread. */
    public boolean refusesSyncs() {
        return refusesSyncs;
    }

    /** Records that the driver has refused a sync. */
    public void refuseSyncs() {
        refusesSyncs = true;
    }

    /** Returns the GL name of the buffer. */
    public int name() {
        return name;
    }

    public GlContext context() {
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
    public @Nullable MemoryMapping mapping() {
        return mapping;
    }

    @Override
    public void free() {
        if (mapping != null) {
            mapping.retire();
        }
        LiveObjects.remove(GlMemory.class);
        if (kind.owned && !context.postOrRun(this::delete)) {
            giveBack(); // freed with the context
        }
        context.leave();
    }

    private void delete() {
        BufferCalls.delete(name);
        giveBack();
    }

    private void giveBack() {
        if (kind.owned && kind.visible) {
            HEAP.give(kind.storageBytes);
        }
    }
}
