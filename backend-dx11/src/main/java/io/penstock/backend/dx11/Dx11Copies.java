// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import io.penstock.engine.staging.ImageBoxes;

/** Copies between slots and buffers, and from slots to textures, on the device's executor. A ticket is the slot's number. */
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
    public long copyIn(Command command) {
        Dx11Slot slot = (Dx11Slot) command.slot();
        if (command.memory() instanceof Dx11Image image) {
            return fill(command, slot, image);
        }
        Dx11Memory memory = (Dx11Memory) command.memory();
        slot.copiedAtOnce = memory.isDynamic();
        if (slot.copiedAtOnce) {
            return write(command, slot, memory);
        }
        take(slot, memory);
        long context = device.context();
        long to = command.memoryOffset();
        if (memory.isUpdatable() && command.bytes() <= updateBytes) {
            long box = slot.box(to, to + command.bytes());
            long from = slot.hostAddress() + command.slotOffset();
            // The driver has the bytes when this returns, so that the slot stays mapped.
            D3d11Context.UpdateSubresource(context, memory.nativeHandle(), 0, box, from, 0, 0);
        } else {
            int from = slot.inBuffer(command.slotOffset());
            slot.unmap();
            long box = slot.box(from, from + command.bytes());
            D3d11Context.CopySubresourceRegion(
                    context, memory.nativeHandle(), 0, (int) to, 0, 0, slot.buffer(), 0, box);
        }
        return marked(slot);
    }

    /** Direct3D copies from no buffer to a texture: the driver takes the texels, and the slot stays mapped. */
    private long fill(Command command, Dx11Slot slot, Dx11Image image) {
        slot.copiedAtOnce = false;
        long first = slot.hostAddress() + command.slotOffset() - command.memoryOffset();
        ImageRegion.Layout layout = image.layout();
        ImageBoxes boxes = image.boxes();
        boxes.cut(command.memoryOffset(), command.bytes());
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
        return marked(slot);
    }

    private static int rowBytes(ImageRegion.Layout layout, ImageBoxes boxes) {
        return boxes.columns() * layout.texelBytes();
    }

    /** A dynamic buffer is never a copy's target: only the processor writes it. */
    private long write(Command command, Dx11Slot slot, Dx11Memory memory) {
        boolean whole = command.bytes() == memory.bytes();
        // What the device still reads of the buffer is the caller's business, as with every transfer, so that no other
        // memory is needed for it; but buffers that are not for vertices may know nothing but that.
        int kind = whole ? D3d11Context.MAP_WRITE_DISCARD : D3d11Context.MAP_WRITE_NO_OVERWRITE;
        long buffer = memory.nativeHandle();
        int result = D3d11Context.Map(device.context(), buffer, 0, kind, 0, slot.mappedCell());
        if (Hresult.failed(result)) {
            return Dx11Call.MAP.failed(result);
        }
        long from = slot.hostAddress() + command.slotOffset();
        NativeMemory.copy(slot.mappedElsewhere() + command.memoryOffset(), from, command.bytes());
        D3d11Context.Unmap(device.context(), buffer, 0);
        return slot.number();
    }

    @Override
    public long copyOut(Command command) {
        Dx11Slot slot = (Dx11Slot) command.slot();
        slot.copiedAtOnce = false;
        take(slot, (Dx11Memory) command.memory());
        int to = slot.inBuffer(command.slotOffset());
        slot.unmap();
        long box = slot.box(command.memoryOffset(), command.memoryOffset() + command.bytes());
        D3d11Context.CopySubresourceRegion(
                device.context(), slot.buffer(), 0, to, 0, 0, command.memory().nativeHandle(), 0, box);
        return marked(slot);
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

    private long marked(Dx11Slot slot) {
        long marked = device.ends().mark(slot.mark());
        if (marked < 0) {
            giveBack(slot);
            mapAgain(slot); // which waits for the copy: nothing else will tell when it has ended
            return marked;
        }
        return slot.number();
    }

    @Override
    public long poll(long ticket) {
        Dx11Slot slot = device.slots().at(ticket);
        long answer = slot.copiedAtOnce ? 1 : device.ends().look(slot.mark());
        if (answer == 0) {
            return 0;
        }
        giveBack(slot);
        // After a failure too: the slot may go on to another piece, and no copy may be under way then.
        long mapped = mapAgain(slot);
        return answer < 0 ? answer : mapped;
    }

    /** Answers 1, or a negative number. */
    private static long mapAgain(Dx11Slot slot) {
        int result = slot.isMapped() ? Hresult.S_OK : slot.map();
        return Hresult.failed(result) ? Dx11Call.MAP_AGAIN.failed(result) : 1;
    }

    @Override
    public long await(long ticket, long nanos) {
        throw new UnsupportedOperationException("the immediate context has one thread, which waits for nothing");
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return Dx11Call.failure(result, device.removedReason());
    }
}
