// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.benchmarks.ffi.OpenClProgram;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Queues and memory of an application, in the context of a backend's memory; and a kernel that checks whether memory
 * holds the contents of the test file.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class OpenClMemory implements DeviceCheck {

    /** A word that the test file does not contain; fills the targets of reads beforehand. */
    private static final long POISON = -1;

    private static final long ITEMS = 8192;

    private static final String SOURCE = """
            kernel void differences(global const ulong *memory, long at, long words, ulong base, global uint *bad) {
                uint mine = 0;
                for (long i = get_global_id(0); i < words; i += get_global_size(0)) {
                    ulong mixed = (base + 8 * (ulong) i + 0x9E3779B97F4A7C15UL) * 0xBF58476D1CE4E5B9UL;
                    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBUL;
                    mine += memory[at + i] != (mixed ^ mixed >> 31) ? 1 : 0;
                }
                if (mine != 0) {
                    atomic_add(bad, mine);
                }
            }
            """;

    final long context;
    final long device;
    final long queue; // in order
    private final OpenClProgram differences;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(4 * Long.BYTES).order(ByteOrder.nativeOrder());
    private final long count;

    /** Queries the context and device of a backend's memory. */
    OpenClMemory(Backend backend) {
        try (DeviceBuffer buffer = backend.allocate(1).block()) {
            context = word(OpenCl.CL_MEM_CONTEXT, buffer.nativeHandle());
        }
        byte[] devices = new byte[Long.BYTES];
        check("clGetContextInfo", OpenCl.clGetContextInfo(context, OpenCl.CL_CONTEXT_DEVICES, 8, devices, new long[1]));
        device = ByteBuffer.wrap(devices).order(ByteOrder.nativeOrder()).getLong();
        queue = queue();
        differences = new OpenClProgram(context, SOURCE, "differences");
        count = buffer(OpenCl.CL_MEM_READ_WRITE, Integer.BYTES);
    }

    private static long word(int name, long memory) {
        byte[] value = new byte[Long.BYTES];
        check("clGetMemObjectInfo", OpenCl.clGetMemObjectInfo(memory, name, value.length, value, new long[1]));
        return ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).getLong();
    }

    /** Creates an in-order queue. */
    long queue() {
        int[] error = new int[1];
        long made = OpenCl.clCreateCommandQueue(context, device, 0, error);
        check("clCreateCommandQueue", error[0]);
        return made;
    }

    /** Creates a buffer. */
    long buffer(long flags, long bytes) {
        int[] error = new int[1];
        long made = OpenCl.clCreateBuffer(context, flags, bytes, 0, error);
        check("clCreateBuffer", error[0]);
        return made;
    }

    /** Maps a buffer persistently, and returns its address. */
    long map(long memory, long bytes) {
        long error = NativeMemory.address(cells);
        long flags = OpenCl.CL_MAP_READ | OpenCl.CL_MAP_WRITE;
        long mapped = OpenCl.clEnqueueMapBuffer(queue, memory, 1, flags, 0, bytes, 0, 0, 0, error);
        check("clEnqueueMapBuffer", cells.getInt(0));
        return mapped;
    }

    void unmap(long memory, long mapped) {
        check("clEnqueueUnmapMemObject", OpenCl.clEnqueueUnmapMemObject(queue, memory, mapped, 0, 0, 0));
        finish();
    }

    void finish() {
        check("clFinish", OpenCl.clFinish(queue));
    }

    @Override
    public void poison(long memory, long bytes) {
        cells.putLong(0, POISON);
        long pattern = NativeMemory.address(cells);
        check("clEnqueueFillBuffer", OpenCl.clEnqueueFillBuffer(queue, memory, pattern, 8, 0, bytes, 0, 0, 0));
        finish();
    }

    @Override
    public void verify(String whose, long memory, long at, long bytes, long fileOffset) throws IOException {
        cells.putLong(0, 0);
        long cell = NativeMemory.address(cells);
        check("clEnqueueWriteBuffer", OpenCl.clEnqueueWriteBuffer(queue, count, 1, 0, 4, cell, 0, 0, 0));
        differences.run(queue, ITEMS, memory, at / Long.BYTES, bytes / Long.BYTES, fileOffset, count);
        check("clEnqueueReadBuffer", OpenCl.clEnqueueReadBuffer(queue, count, 1, 0, 4, cell, 0, 0, 0));
        if (cells.getInt(0) != 0) {
            throw new IOException(whose + ": " + cells.getInt(0) + " wrong words");
        }
    }

    static void check(String call, int answer) {
        OpenClProgram.check(call, answer);
    }

    @Override
    public void close() {
        finish();
        differences.close();
        OpenCl.clReleaseMemObject(count);
        OpenCl.clReleaseCommandQueue(queue);
    }
}
