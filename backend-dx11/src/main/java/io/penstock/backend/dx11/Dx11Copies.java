// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.staging.ImageBoxes;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import org.jspecify.annotations.Nullable;

/** Copies between slots and buffers, and from slots to textures, on the device's executor. */
final class Dx11Copies implements StagingDevice {

    private final Dx11Device device;
    private final long updateBytes;

    /**
     * Makes one.
     *
     * @param updateBytes up to how many bytes the driver copies away from a slot at once
     */
    Dx11Copies(Dx11Device device, long updateBytes) {
        this.device = device;
        this.updateBytes = updateBytes;
    }

    @Override
    public ThreadRule threads() {
        return ThreadRule.ONE;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return device.slots().take(bytes);
    }

    @Override
    public void copy(Request copy) {
        Dx11Slot slot = (Dx11Slot) copy.slot();
        if (copy.memory() instanceof Dx11Image image) {
            fill(copy, slot, image);
        } else if (!copy.isInward()) {
            copyOut(copy, slot, (Dx11Memory) copy.memory());
        } else if (((Dx11Memory) copy.memory()).isDynamic()) {
            write(copy, slot, (Dx11Memory) copy.memory());
        } else {
            copyIn(copy, slot, (Dx11Memory) copy.memory());
        }
    }

    private void copyIn(Request copy, Dx11Slot slot, Dx11Memory memory) {
        take(slot, memory);
        long context = device.context();
        long to = copy.memoryOffset();
        if (memory.isUpdatable() && copy.bytes() <= updateBytes) {
            long box = slot.box(to, to + copy.bytes());
            long from = slot.hostAddress() + copy.slotOffset();
            // The driver has the bytes when this returns, so that the slot stays mapped.
            D3d11Context.UpdateSubresource(context, memory.nativeHandle(), 0, box, from, 0, 0);
        } else {
            int from = slot.inBuffer(copy.slotOffset());
            slot.unmap();
            long box = slot.box(from, from + copy.bytes());
            D3d11Context.CopySubresourceRegion(
                    context, memory.nativeHandle(), 0, (int) to, 0, 0, slot.buffer(), 0, box);
        }
        mark(copy, slot);
    }

    /** Direct3D copies from no buffer to a texture: the driver takes the texels, and the slot stays mapped. */
    private void fill(Request copy, Dx11Slot slot, Dx11Image image) {
        long first = slot.hostAddress() + copy.slotOffset() - copy.memoryOffset();
        ImageRegion.Layout layout = image.layout();
        ImageBoxes boxes = image.boxes();
        boxes.cut(copy.memoryOffset(), copy.bytes());
        while (boxes.next()) {
            long box = slot.box(image);
            // Pitches between rows and slices that the slot has are smaller than it; others may be longer than a UINT.
            int rowPitch = boxes.rows() > 1 || boxes.slices() > 1 ? (int) layout.rowPitch() : rowBytes(layout, boxes);
            int depthPitch = boxes.slices() > 1 ? (int) layout.slicePitch() : 0;
            D3d11Context.UpdateSubresource(
                    device.context(),
                    image.nativeHandle(),
                    image.subresource(),
                    box,
                    first + boxes.offset(),
                    rowPitch,
                    depthPitch);
        }
        mark(copy, slot);
    }

    private static int rowBytes(ImageRegion.Layout layout, ImageBoxes boxes) {
        return boxes.columns() * layout.texelBytes();
    }

    /** A dynamic buffer is never a copy's target: only the processor writes it, and the copy ends at once. */
    private void write(Request copy, Dx11Slot slot, Dx11Memory memory) {
        boolean whole = copy.bytes() == memory.bytes();
        // What the device still reads of the buffer is the caller's business, as with every transfer, so that no other
        // memory is needed for it; but buffers that are not for vertices may know nothing but that.
        int kind = whole ? D3d11Context.MAP_WRITE_DISCARD : D3d11Context.MAP_WRITE_NO_OVERWRITE;
        long buffer = memory.nativeHandle();
        int result = D3d11Context.Map(device.context(), buffer, 0, kind, 0, slot.mappedCell());
        if (Hresult.failed(result)) {
            copy.fail(Dx11Call.MAP.failure(result, device));
            return;
        }
        long from = slot.hostAddress() + copy.slotOffset();
        NativeMemory.copy(slot.mappedElsewhere() + copy.memoryOffset(), from, copy.bytes());
        D3d11Context.Unmap(device.context(), buffer, 0);
        copy.complete(copy.bytes());
    }

    private void copyOut(Request copy, Dx11Slot slot, Dx11Memory memory) {
        take(slot, memory);
        int to = slot.inBuffer(copy.slotOffset());
        slot.unmap();
        long box = slot.box(copy.memoryOffset(), copy.memoryOffset() + copy.bytes());
        D3d11Context.CopySubresourceRegion(device.context(), slot.buffer(), 0, to, 0, 0, memory.nativeHandle(), 0, box);
        mark(copy, slot);
    }

    /** Waits for transfers of AMD's that have the buffer: they end without this thread. */
    private static void take(Dx11Slot slot, Dx11Memory memory) {
        memory.turns().copy();
        slot.copied = memory;
    }

    private static void giveBack(Dx11Slot slot) {
        Dx11Memory memory = slot.copied;
        slot.copied = null;
        if (memory != null) {
            memory.turns().endCopy();
        }
    }

    private void mark(Request copy, Dx11Slot slot) {
        NativeFailure failure = device.ends().mark(slot.mark());
        if (failure != null) {
            giveBack(slot);
            mapAgain(slot); // which waits for the copy: nothing else will tell when it has ended
            copy.fail(failure);
        }
    }

    @Override
    public void poll(Request copy) {
        Dx11Slot slot = (Dx11Slot) copy.slot();
        if (!device.ends().look(slot.mark())) {
            return;
        }
        giveBack(slot);
        // After a failure too: the slot may go on to another piece, and no copy may be under way then.
        NativeFailure notMapped = mapAgain(slot);
        NativeFailure failure = slot.mark().failure;
        copy.end(copy.bytes(), failure != null ? failure : notMapped);
    }

    private @Nullable NativeFailure mapAgain(Dx11Slot slot) {
        int result = slot.isMapped() ? Hresult.S_OK : slot.map();
        return Hresult.failed(result) ? Dx11Call.MAP_AGAIN.failure(result, device) : null;
    }

    @Override
    public void await(Request copy, long nanos) {
        throw new UnsupportedOperationException("the immediate context has one thread, which waits for nothing");
    }
}
