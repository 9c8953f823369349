// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Copies between pinned slots and a GPU, on whichever thread has filled or wants the slot. A ticket is the slot's
 * event, whose address is never negative.
 */
final class CudaCopies implements StagingDevice {

    // The calls that a copy makes; a result names one by its place, and has the CUresult below it.
    private static final List<String> CALLS =
            List.of("cuCtxSetCurrent", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuEventRecord", "cuEventQuery");
    private static final long SET_CURRENT = 0;
    private static final long HTOD = 1;
    private static final long DTOH = 2;
    private static final long RECORD = 3;
    private static final long QUERY = 4;

    /** How often a copy is looked at before the thread sleeps between looks: a slot takes the link some 40 us. */
    private static final int SPINS = 256;

    private static final long NAP_NANOS = 20_000;

    private final CudaContext context;

    CudaCopies(CudaContext context) {
        this.context = context;
    }

    @Override
    public ThreadRule threads() {
        return ThreadRule.MANY;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return context.slots().take(bytes);
    }

    @Override
    public long copyIn(Command command) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            return failed(SET_CURRENT, bound);
        }
        PinnedSlot slot = (PinnedSlot) command.slot();
        int started = Cuda.cuMemcpyHtoDAsync_v2(
                gpuAddress(command), slot.hostAddress() + command.slotOffset(), command.bytes(), slot.stream());
        return started == CudaError.SUCCESS ? ticket(slot) : failed(HTOD, started);
    }

    @Override
    public long copyOut(Command command) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            return failed(SET_CURRENT, bound);
        }
        PinnedSlot slot = (PinnedSlot) command.slot();
        int started = Cuda.cuMemcpyDtoHAsync_v2(
                slot.hostAddress() + command.slotOffset(), gpuAddress(command), command.bytes(), slot.stream());
        return started == CudaError.SUCCESS ? ticket(slot) : failed(DTOH, started);
    }

    private static long gpuAddress(Command command) {
        return command.memory().nativeHandle() + command.memoryOffset();
    }

    private static long ticket(PinnedSlot slot) {
        int recorded = Cuda.cuEventRecord(slot.event(), slot.stream());
        if (recorded == CudaError.SUCCESS) {
            return slot.event();
        }
        // The copy is under way, and nothing will tell when it has ended: slot and memory are not to be let go before.
        Cuda.cuStreamSynchronize(slot.stream());
        return failed(RECORD, recorded);
    }

    @Override
    public long poll(long ticket) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            return failed(SET_CURRENT, bound);
        }
        int state = Cuda.cuEventQuery(ticket);
        return switch (state) {
            case CudaError.SUCCESS -> 1;
            case CudaError.NOT_READY -> 0;
            default -> failed(QUERY, state);
        };
    }

    @Override
    public long await(long ticket, long nanos) {
        // Not cuEventSynchronize, which waits for ever behind a kernel that never ends.
        long start = System.nanoTime();
        long answer = poll(ticket);
        for (int looks = 0; answer == 0 && System.nanoTime() - start < nanos; looks++) {
            if (looks < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, NAP_NANOS);
            }
            answer = poll(ticket);
        }
        return answer;
    }

    private static long failed(long call, int result) {
        return -(call << Integer.SIZE | result);
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        long told = -result;
        return CudaFailure.of(CALLS.get((int) (told >>> Integer.SIZE)), (int) told);
    }
}
