// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.Dx11Failure;
import io.penstock.backend.dx11.ffi.AmdDx;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One transfer by AMD's interface: regions of one file and one buffer, in one direction, with its own event and native
 * cells. Reused.
 *
 * <p><b>Threading:</b> the I/O queue fills and submits it, a waiter waits for it and returns it to the I/O queue.
 */
final class SsgCall {

    private static final int USUAL_REGIONS = 64;

    private final long ssg;
    private final long device;
    private final long regionBytes;
    private final int mostRegions;
    private final int stride;
    private final SsgHeader.Field handle;
    private final SsgHeader.Field ofFile;
    private final SsgHeader.Field ofBuffer;
    private final SsgHeader.Field ofSize;
    private final ByteBuffer cells; // an event, and the regions
    private final long address;
    private final List<Dx11SsgCommand> commands = new ArrayList<>();
    private int regions;
    private long event;
    private boolean submitted;

    /** The failure; null if it has not failed. */
    @Nullable
    NativeFailure failure;

    SsgCall(SsgInterface ssg, long device, long segmentBytes, Options options) {
        SsgHeader header = ssg.header();
        this.ssg = ssg.handle();
        this.device = device;
        this.regionBytes =
                Long.highestOneBit(options.get(Dx11Options.SSG_REGION_BYTES)); // a multiple of smaller blocks
        this.mostRegions = (int) Math.max(USUAL_REGIONS, (segmentBytes + regionBytes - 1) / regionBytes);
        this.stride = header.bytes("region");
        this.handle = header.handle();
        this.ofFile = header.field("region", "file");
        this.ofBuffer = header.field("region", "buffer");
        this.ofSize = header.field("region", "size");
        this.cells =
                ByteBuffer.allocateDirect(Long.BYTES + mostRegions * stride).order(ByteOrder.nativeOrder());
        this.address = NativeMemory.address(cells);
    }

    /** Adds a command, split into regions; returns false if it cannot be combined with those already added. */
    boolean add(Dx11SsgCommand command) {
        long most = Math.max(command.file().blockBytes(), regionBytes);
        long bytes = command.wholeBlocks();
        if (!commands.isEmpty()
                && !(goTogether(commands.get(0), command) && regions + (bytes + most - 1) / most <= mostRegions)) {
            return false;
        }
        commands.add(command);
        for (long moved = 0; moved < bytes; moved += most) {
            int start = Long.BYTES + regions++ * stride;
            ofFile.put(cells, start, command.request.fileOffset() + moved);
            ofBuffer.put(cells, start, command.request.memoryOffset() + moved);
            ofSize.put(cells, start, Math.min(most, bytes - moved));
        }
        return true;
    }

    private static boolean goTogether(Dx11SsgCommand one, Dx11SsgCommand other) {
        return one.object() == other.object()
                && one.request.memory() == other.request.memory()
                && one.isWrite() == other.isWrite()
                && !one.alone
                && !other.alone;
    }

    /** Submits the transfer; returns false if it is refused. */
    boolean submit() {
        cells.putLong(0, 0);
        int made = AmdDx.CreateEvent(ssg, address);
        if (Hresult.failed(made)) {
            failure = Dx11Failure.of("IAmdDxExtSSG::CreateEvent", made, device);
            return false;
        }
        event = handle.get(cells, 0);
        submitted = transfer(event);
        if (!submitted) {
            destroyEvent();
        }
        return submitted;
    }

    /** Makes the transfer: blocks if it does not have an event. */
    private boolean transfer(long event) {
        Dx11SsgCommand any = commands.get(0);
        long buffer = any.request.memory().nativeHandle();
        long file = any.object().handle();
        long first = address + Long.BYTES;
        int answer = any.isWrite()
                ? AmdDx.WriteBufferToFile(ssg, buffer, file, regions, first, event)
                : AmdDx.ReadBufferFromFile(ssg, buffer, file, regions, first, event);
        if (Hresult.failed(answer)) {
            failure = failure(any.isWrite() ? "WriteBufferToFile" : "ReadBufferFromFile", answer);
        }
        return failure == null;
    }

    private NativeFailure failure(String method, int answer) {
        NativeFailure plain = Dx11Failure.of("IAmdDxExtSSG::" + method, answer, device);
        String access = "bounds and alignment were valid: the driver cannot access the file there";
        return answer != Hresult.E_FAIL || plain.kind() == NativeFailure.Kind.LOST
                ? plain
                : new NativeFailure(plain.error(), plain.kind(), access);
    }

    /** Waits for the submitted transfer, or makes it if it was not submitted; called by a waiter. */
    void await() {
        try {
            awaitEnd();
        } catch (RuntimeException | Error e) { // a waiter that is lost would end nothing
            unknownEnd(new NativeError("IAmdDxExtSSG::WaitEvent", 0, e.toString()));
        }
    }

    /**
     * The device may still use file and buffer, and nothing reports when it stops: neither is ever released.
     */
    private void unknownEnd(NativeError error) {
        failure = new NativeFailure(
                error,
                NativeFailure.Kind.LOST,
                "it is unknown whether the transfer has ended, so file and buffer are never released");
        Com.AddRef(commands.get(0).request.memory().nativeHandle());
        commands.get(0).object().retainForever();
    }

    private void awaitEnd() {
        if (!submitted) {
            transfer(0);
            return;
        }
        int waited = AmdDx.WaitEvent(ssg, event);
        if (Hresult.failed(waited)) {
            unknownEnd(Dx11Failure.error("IAmdDxExtSSG::WaitEvent", waited));
        }
        destroyEvent();
        int reason = D3d11.GetDeviceRemovedReason(device);
        if (failure == null && Hresult.failed(reason)) {
            // An event does not report the result of a transfer.
            failure = Dx11Failure.removed(reason, device);
        }
    }

    private void destroyEvent() {
        AmdDx.DestroyEvent(ssg, event); // the result does not matter: the event is not used again
    }

    /** Returns its commands; each holds a reference to the file until it is taken back. */
    List<Dx11SsgCommand> commands() {
        return commands;
    }

    /** Clears it, once its commands are taken back. */
    void clear() {
        commands.clear();
        regions = 0;
        failure = null;
        submitted = false;
    }
}
