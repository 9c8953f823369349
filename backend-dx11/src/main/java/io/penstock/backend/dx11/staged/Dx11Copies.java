// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.staged;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.device.Dx11Failure;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.memory.Dx11Image;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.staging.ImageBoxes;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import org.jspecify.annotations.Nullable;

/** Copies between staging buffers and buffers, and from staging buffers to textures, on the device's executor. */
final class Dx11Copies implements StagingDevice {

    private final Dx11Device device;
    private final long updateBytes;

    /**
     * Creates an instance.
     *
     * @param updateBytes the most bytes that the driver copies out of a staging buffer at once
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
    public DeviceMemory allocateStagingBuffer(long bytes) {
        return Dx11StagingBuffer.Pool.of(device).take(bytes);
    }

    @Override
    public void copy(Request copy) {
        Dx11StagingBuffer staging = (Dx11StagingBuffer) copy.staging();
        if (copy.source() instanceof Dx11Memory source) {
            copyBetween(copy, staging, source, (Dx11Memory) copy.memory());
        } else if (copy.memory() instanceof Dx11Image image) {
            fill(copy, staging, image);
        } else if (!copy.isInward()) {
            copyOut(copy, staging, (Dx11Memory) copy.memory());
        } else if (((Dx11Memory) copy.memory()).isDynamic()) {
            write(copy, staging, (Dx11Memory) copy.memory());
        } else {
            copyIn(copy, staging, (Dx11Memory) copy.memory());
        }
    }

    private void copyBetween(Request copy, Dx11StagingBuffer staging, Dx11Memory source, Dx11Memory memory) {
        take(staging, memory);
        source.turns().copy();
        staging.copiedFrom = source;
        device.copy(
                staging.mark(),
                memory.nativeHandle(),
                copy.memoryOffset(),
                source.nativeHandle(),
                copy.sourceOffset(),
                copy.bytes());
        mark(copy, staging);
    }

    private void copyIn(Request copy, Dx11StagingBuffer staging, Dx11Memory memory) {
        take(staging, memory);
        long to = copy.memoryOffset();
        if (memory.isUpdatable() && copy.bytes() <= updateBytes) {
            long box = staging.mark().box(to, to + copy.bytes());
            long from = staging.hostAddress() + copy.stagingOffset();
            // The driver has copied the bytes when this returns, so the staging buffer stays mapped.
            D3d11.UpdateSubresource(device.context(), memory.nativeHandle(), 0, box, from, 0, 0);
        } else {
            int from = staging.inBuffer(copy.stagingOffset());
            staging.unmap();
            device.copy(staging.mark(), memory.nativeHandle(), to, staging.nativeHandle(), from, copy.bytes());
        }
        mark(copy, staging);
    }

    /**
     * Direct3D cannot copy from a buffer to a texture: the driver copies the texels, and the staging buffer stays
     * mapped.
     */
    private void fill(Request copy, Dx11StagingBuffer staging, Dx11Image image) {
        long first = staging.hostAddress() + copy.stagingOffset() - copy.memoryOffset();
        ImageRegion.Layout layout = image.layout();
        ImageBoxes boxes = image.boxes();
        boxes.cut(copy.memoryOffset(), copy.bytes());
        while (boxes.next()) {
            long box = image.box(staging.mark());
            // Row and slice pitches that the segment contains are smaller than the staging buffer; others may exceed a
            // UINT.
            int rowPitch = boxes.rows() > 1 || boxes.slices() > 1 ? (int) layout.rowPitch() : rowBytes(layout, boxes);
            int depthPitch = boxes.slices() > 1 ? (int) layout.slicePitch() : 0;
            D3d11.UpdateSubresource(
                    device.context(),
                    image.nativeHandle(),
                    image.subresource(),
                    box,
                    first + boxes.offset(),
                    rowPitch,
                    depthPitch);
        }
        mark(copy, staging);
    }

    private static int rowBytes(ImageRegion.Layout layout, ImageBoxes boxes) {
        return boxes.columns() * layout.texelBytes();
    }

    /** A dynamic buffer is never the target of a copy: only the processor writes it, and the copy completes at once. */
    private void write(Request copy, Dx11StagingBuffer staging, Dx11Memory memory) {
        boolean whole = copy.bytes() == memory.bytes();
        // As with every transfer, the caller ensures that the device no longer reads the buffer, so it needs no
        // renaming; but only vertex and index buffers may be mapped without it.
        int kind = whole ? D3d11.MAP_WRITE_DISCARD : D3d11.MAP_WRITE_NO_OVERWRITE;
        long buffer = memory.nativeHandle();
        int result = D3d11.Map(device.context(), buffer, 0, kind, 0, staging.mappedCell());
        if (Hresult.failed(result)) {
            copy.fail(Dx11Failure.of("ID3D11DeviceContext::Map", result, device.handle()));
            return;
        }
        long from = staging.hostAddress() + copy.stagingOffset();
        NativeMemory.copy(staging.mappedElsewhere() + copy.memoryOffset(), from, copy.bytes());
        D3d11.Unmap(device.context(), buffer, 0);
        copy.complete(copy.bytes());
    }

    private void copyOut(Request copy, Dx11StagingBuffer staging, Dx11Memory memory) {
        take(staging, memory);
        int to = staging.inBuffer(copy.stagingOffset());
        staging.unmap();
        device.copy(
                staging.mark(), staging.nativeHandle(), to, memory.nativeHandle(), copy.memoryOffset(), copy.bytes());
        mark(copy, staging);
    }

    /** Waits for transfers by AMD's interface that use the buffer: they complete without this thread. */
    private static void take(Dx11StagingBuffer staging, Dx11Memory memory) {
        memory.turns().copy();
        staging.copied = memory;
    }

    private static void giveBack(Dx11StagingBuffer staging) {
        endCopy(staging.copied);
        endCopy(staging.copiedFrom);
        staging.copied = null;
        staging.copiedFrom = null;
    }

    private static void endCopy(@Nullable Dx11Memory memory) {
        if (memory != null) {
            memory.turns().endCopy();
        }
    }

    private void mark(Request copy, Dx11StagingBuffer staging) {
        NativeFailure failure = device.ends().mark(staging.mark());
        if (failure != null) {
            NativeFailure notMapped = waitForCopy(staging);
            giveBack(staging);
            copy.fail(notMapped != null ? notMapped : failure);
        }
    }

    /**
     * Blocks until the copy has completed, which nothing else reports: a mapping waits for the copies of its buffer.
     */
    private @Nullable NativeFailure waitForCopy(Dx11StagingBuffer staging) {
        Dx11Memory target = staging.copied;
        if (staging.isMapped() && target != null) { // the copy does not use the staging buffer: one behind it does
            staging.unmap();
            device.copy(staging.mark(), staging.nativeHandle(), staging.spareByte(), target.nativeHandle(), 0, 1);
        }
        return mapAgain(staging);
    }

    @Override
    public void poll(Request copy) {
        Dx11StagingBuffer staging = (Dx11StagingBuffer) copy.staging();
        if (!device.ends().poll(staging.mark())) {
            return;
        }
        giveBack(staging);
        // After a failure too: the staging buffer may be reused for another segment, and no copy may be in flight then.
        NativeFailure notMapped = mapAgain(staging);
        NativeFailure failure = staging.mark().failure();
        copy.end(copy.bytes(), failure != null ? failure : notMapped);
    }

    private @Nullable NativeFailure mapAgain(Dx11StagingBuffer staging) {
        int result = staging.isMapped() ? Hresult.S_OK : staging.map();
        if (!Hresult.failed(result)) {
            return null;
        }
        NativeFailure plain = Dx11Failure.of("ID3D11DeviceContext::Map", result, device.handle());
        // Nothing continues without it, whatever the result.
        return new NativeFailure(plain.error(), NativeFailure.Kind.LOST, plain.note());
    }

    @Override
    public void await(Request copy, long nanos) {
        throw new UnsupportedOperationException("the one thread of the immediate context must not block");
    }
}
