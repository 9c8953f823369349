// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Options;
import io.penstock.backend.dx11.ffi.AmdSsg;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgSizes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One transfer of AMD's: regions of one file and one buffer, in one direction, with an event of its own. Filled again and
 * again, with native cells of its own.
 *
 * <p><b>Threading:</b> the lane fills and submits it, a waiter waits for it, and gives it back to the lane.
 */
final class SsgCall {

    private static final int USUAL_REGIONS = 64;

    private final Dx11Ssg ssg;
    private final long regionBytes;
    private final int mostRegions;
    private final SsgLayout.Shape shape;
    private final SsgLayout.Field ofFile;
    private final SsgLayout.Field ofBuffer;
    private final SsgLayout.Field ofSize;
    private final ByteBuffer cells; // an event, and the regions
    private final long address;
    private final List<Dx11SsgCommand> commands = new ArrayList<>();
    private @Nullable SsgFileObject object;
    private @Nullable DeviceMemory memory;
    private boolean write;
    private int regions;
    private long event;
    private boolean submitted;

    /** Why it failed; null if it has not. */
    @Nullable
    NativeFailure failure;

    SsgCall(Dx11Ssg ssg, Options options) {
        this.ssg = ssg;
        this.regionBytes = options.get(Dx11Options.SSG_REGION_BYTES) & -SsgSizes.PAGE_BYTES;
        this.mostRegions = (int) Math.max(USUAL_REGIONS, (ssg.sizes().pieceBytes() + regionBytes - 1) / regionBytes);
        this.shape = ssg.layout().region();
        this.ofFile = shape.field("file");
        this.ofBuffer = shape.field("buffer");
        this.ofSize = shape.field("size");
        this.cells = ByteBuffer.allocateDirect(Long.BYTES + mostRegions * shape.bytes())
                .order(ByteOrder.nativeOrder());
        this.address = NativeMemory.address(cells);
    }

    /** Begins one. */
    void begin(Dx11SsgCommand command) {
        object = command.object();
        memory = command.memory();
        write = command.isWrite();
        regions = 0;
        failure = null;
        submitted = false;
        add(command);
    }

    /** Returns whether a command may go with those that are in it. */
    boolean takes(Dx11SsgCommand command) {
        long bytes = regionBytes(command);
        return object == command.object()
                && memory == command.memory()
                && write == command.isWrite()
                && !command.alone
                && !commands.get(0).alone
                && regions + (command.wholeBlocks() + bytes - 1) / bytes <= mostRegions;
    }

    /** Returns the bytes of a region of a command: whole blocks of its file. */
    private long regionBytes(Dx11SsgCommand command) {
        long block = command.file().blockBytes();
        return Math.max(block, regionBytes & -block);
    }

    /** Adds a command, split into regions: the manual says that several small ones can be faster. */
    void add(Dx11SsgCommand command) {
        commands.add(command);
        long left = command.wholeBlocks();
        long most = regionBytes(command);
        long moved = 0;
        while (left > 0) {
            long bytes = Math.min(left, most);
            int start = Long.BYTES + regions++ * shape.bytes();
            shape.put(cells, start, ofFile, command.fileOffset() + moved);
            shape.put(cells, start, ofBuffer, command.memoryOffset() + moved);
            shape.put(cells, start, ofSize, bytes);
            moved += bytes;
            left -= bytes;
        }
    }

    /** Begins the transfer; false if it is refused. */
    boolean submit() {
        cells.putLong(0, 0);
        int made = AmdSsg.CreateEvent(ssg.handle(), address);
        if (Hresult.failed(made)) {
            failure = Dx11Call.SSG_CREATE_EVENT.failure(made, ssg.device());
            return false;
        }
        event = ssg.layout().handleBytes() == Long.BYTES ? cells.getLong(0) : Integer.toUnsignedLong(cells.getInt(0));
        submitted = transfer(event);
        if (!submitted) {
            destroyEvent();
        }
        return submitted;
    }

    /** Makes the transfer: waits for it where it has no event. */
    private boolean transfer(long event) {
        long buffer = Objects.requireNonNull(memory).nativeHandle();
        long file = Objects.requireNonNull(object).handle();
        long first = address + Long.BYTES;
        int answer = write
                ? AmdSsg.WriteBufferToFile(ssg.handle(), buffer, file, regions, first, event)
                : AmdSsg.ReadBufferFromFile(ssg.handle(), buffer, file, regions, first, event);
        if (Hresult.failed(answer)) {
            failure = (write ? Dx11Call.SSG_WRITE : Dx11Call.SSG_READ).failure(answer, ssg.device());
        }
        return failure == null;
    }

    /** Waits for the end of what was submitted, or makes the transfer where nothing was; a waiter's. */
    void await() {
        if (!submitted) {
            transfer(0);
            return;
        }
        waitForEvent();
        int reason = ssg.device().removedReason();
        if (failure == null && Hresult.failed(reason)) {
            // An event says nothing of how a transfer ended.
            failure = Dx11Call.GET_REMOVED_REASON.failure(reason, ssg.device());
        }
    }

    private void waitForEvent() {
        int waited = AmdSsg.WaitEvent(ssg.handle(), event);
        if (Hresult.failed(waited)) {
            failure = Dx11Call.SSG_WAIT.failure(waited, ssg.device());
            keepForEver();
        }
        destroyEvent();
    }

    private void destroyEvent() {
        AmdSsg.DestroyEvent(ssg.handle(), event); // what it says changes nothing: the event is not used again
    }

    /** The device may still have file and buffer, and nothing will tell when not: neither is released any more. */
    private void keepForEver() {
        Unknown.AddRef(Objects.requireNonNull(memory).nativeHandle());
        Objects.requireNonNull(object).keepForGood();
    }

    /** Returns the commands that are in it; each is a user of the file until it is taken back. */
    List<Dx11SsgCommand> commands() {
        return commands;
    }

    /** Gives back the buffer. */
    void end() {
        if (memory instanceof Dx11Memory buffer) {
            buffer.turns().endTransfer();
        }
        object = null;
        memory = null;
        commands.clear();
    }
}
