// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What an application does with a GPU beside the backend, in its primary context: a stream, events, and kernels that
 * run until the test lets them go on.
 */
public final class Application implements AutoCloseable {

    private static final byte[] PTX = """
            .version 7.0
            .target sm_70
            .address_size 64
            .visible .entry spin(.param .u64 f) { ret; }
            .visible .entry copy(.param .u64 t, .param .u64 s, .param .u64 n) { ret; }
            .visible .entry spin_copy(.param .u64 f, .param .u64 t, .param .u64 s, .param .u64 n) { ret; }
            \0""".getBytes(StandardCharsets.US_ASCII);

    private final int device;
    private final long context;
    private final long stream;
    private final long module;
    private final Pointer flag;
    private final List<Long> events = new ArrayList<>();
    private final List<Memory> parameters = new ArrayList<>(); // until the kernels have run

    /** Starts one on a GPU. */
    public Application(int device) {
        this.device = device;
        ok(CudaAbi.cuInit(0));
        long[] cell = new long[1];
        ok(CudaAbi.cuDevicePrimaryCtxRetain(cell, device));
        context = cell[0];
        ok(CudaAbi.cuCtxSetCurrent(context));
        ok(CudaAbi.cuStreamCreate(cell, Gpu.NON_BLOCKING));
        stream = cell[0];
        ok(CudaAbi.cuMemHostAlloc(cell, 4096, 0));
        flag = new Pointer(cell[0]);
        flag.setInt(0, 0);
        ok(CudaAbi.cuModuleLoadData(cell, PTX));
        module = cell[0];
        ok(CudaAbi.cuCtxSetCurrent(0));
    }

    /** Returns its CUstream. */
    public long stream() {
        return stream;
    }

    /** Puts a kernel into the stream that runs until {@link #letKernelsEnd}. */
    public void spin() {
        launch("spin", Pointer.nativeValue(flag));
    }

    /** Puts a kernel into the stream that copies device memory. */
    public void copy(long to, long from, long bytes) {
        launch("copy", to, from, bytes);
    }

    /** Puts a kernel into the stream that copies device memory, but late: when {@link #letKernelsEnd} is called. */
    public void copyLate(long to, long from, long bytes) {
        launch("spin_copy", Pointer.nativeValue(flag), to, from, bytes);
    }

    /** Lets running kernels and later ones end. */
    public void letKernelsEnd() {
        flag.setInt(0, 1);
    }

    /** Returns an event behind what is in the stream. */
    public long record() {
        ok(CudaAbi.cuCtxSetCurrent(context));
        long[] cell = new long[1];
        ok(CudaAbi.cuEventCreate(cell, 2));
        events.add(cell[0]);
        ok(CudaAbi.cuEventRecord(cell[0], stream));
        ok(CudaAbi.cuCtxSetCurrent(0));
        return cell[0];
    }

    /** Waits for the stream. */
    public void synchronize() {
        ok(CudaAbi.cuCtxSetCurrent(context));
        ok(CudaAbi.cuStreamSynchronize(stream));
        ok(CudaAbi.cuCtxSetCurrent(0));
    }

    private void launch(String kernel, long... values) {
        ok(CudaAbi.cuCtxSetCurrent(context));
        long[] function = new long[1];
        ok(CudaAbi.cuModuleGetFunction(function, module, kernel));
        Memory cells = new Memory(16L * values.length);
        for (int i = 0; i < values.length; i++) {
            cells.setLong(8L * i, values[i]);
            cells.setPointer(8L * (values.length + i), cells.share(8L * i));
        }
        parameters.add(cells);
        ok(CudaAbi.cuLaunchKernel(
                function[0], 1, 1, 1, 1, 1, 1, 0, stream, cells.share(8L * values.length), Pointer.NULL));
        ok(CudaAbi.cuCtxSetCurrent(0));
    }

    @Override
    public void close() {
        letKernelsEnd();
        synchronize();
        ok(CudaAbi.cuCtxSetCurrent(context));
        events.forEach(event -> ok(CudaAbi.cuEventDestroy_v2(event)));
        ok(CudaAbi.cuStreamDestroy_v2(stream));
        ok(CudaAbi.cuMemFreeHost(flag));
        ok(CudaAbi.cuCtxSetCurrent(0));
        ok(CudaAbi.cuDevicePrimaryCtxRelease_v2(device));
        parameters.forEach(Memory::close);
    }
}
