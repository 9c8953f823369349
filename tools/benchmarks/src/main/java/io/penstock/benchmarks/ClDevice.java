// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.Options;
import io.penstock.backend.opencl.OpenClQueue;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.benchmarks.ffi.OpenClProgram;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * OpenCL by queues and memory of an application, in the context of the backends; and a kernel that checks whether
 * memory holds the contents of the test file.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class ClDevice implements Device.Application {

    /** A word that the test file does not contain; fills the targets of reads beforehand. */
    private static final long POISON = -1;

    private static final long ITEMS = 8192;
    private static final int BLOCK = 4096;
    private static final long SETTLE_NANOS = 500_000; // until the waiters are idle

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

    private final ClContext context; // of all backends
    private final long queue; // in order
    private final OpenClProgram differences;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(4 * Long.BYTES).order(ByteOrder.nativeOrder());
    private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
    private final long count;
    private final long target;

    ClDevice() {
        context = ClContext.open(Options.none().resolve(Backends.options()));
        queue = context.createQueue(0);
        differences = new OpenClProgram(context.handle(), SOURCE, "differences");
        count = buffer(Integer.BYTES, OpenCl.CL_MEM_READ_WRITE);
        target = buffer(BLOCK, OpenCl.CL_MEM_READ_WRITE);
    }

    private long buffer(long bytes, long flags) {
        int[] error = new int[1];
        long made = OpenCl.clCreateBuffer(context.handle(), flags, bytes, 0, error);
        check("clCreateBuffer", error[0]);
        return made;
    }

    private static void check(String call, int answer) {
        OpenClProgram.check(call, answer);
    }

    @Override
    public Backend open(Options options) {
        return Backends.open("opencl-ssg", options);
    }

    @Override
    public void poison(long memory, long bytes) {
        cells.putLong(0, POISON);
        long pattern = NativeMemory.address(cells);
        check("clEnqueueFillBuffer", OpenCl.clEnqueueFillBuffer(queue, memory, pattern, 8, 0, bytes, 0, 0, 0));
        finish();
    }

    @Override
    public void verify(long memory, long at, long bytes, long fileOffset) throws IOException {
        cells.putLong(0, 0);
        long cell = NativeMemory.address(cells);
        check("clEnqueueWriteBuffer", OpenCl.clEnqueueWriteBuffer(queue, count, 1, 0, 4, cell, 0, 0, 0));
        differences.run(queue, ITEMS, memory, at / Long.BYTES, bytes / Long.BYTES, fileOffset, count);
        check("clEnqueueReadBuffer", OpenCl.clEnqueueReadBuffer(queue, count, 1, 0, 4, cell, 0, 0, 0));
        Device.none(cells.getInt(0));
    }

    @Override
    public long buffer(long bytes, DevicePeer.Way way) {
        return buffer(bytes, OpenCl.CL_MEM_READ_WRITE);
    }

    @Override
    public void free(long buffer) {
        OpenCl.clReleaseMemObject(buffer);
    }

    /** Pinned in either case. */
    @Override
    public Host host(long bytes, boolean pinned) {
        long buffer = buffer(bytes, OpenCl.CL_MEM_READ_WRITE | OpenCl.CL_MEM_ALLOC_HOST_PTR);
        long address = map(buffer, 0, bytes);
        return new Host(buffer, address, () -> {
            unmap(buffer, address);
            free(buffer);
        });
    }

    @Override
    public void write(long buffer, long at, Host from, long bytes) {
        write(buffer, 1, at, bytes, from.address());
    }

    @Override
    public void copy(Host from, long buffer, long at, long bytes) {
        write(buffer, 0, at, bytes, from.address());
    }

    private void write(long buffer, int blocking, long at, long bytes, long from) {
        check("clEnqueueWriteBuffer", OpenCl.clEnqueueWriteBuffer(queue, buffer, blocking, at, bytes, from, 0, 0, 0));
    }

    @Override
    public long mapBytes(long bytes, long segmentBytes) {
        return bytes;
    }

    @Override
    public long map(long buffer, long at, long bytes) {
        long error = NativeMemory.address(cells);
        long flags = OpenCl.CL_MAP_READ | OpenCl.CL_MAP_WRITE;
        long mapped = OpenCl.clEnqueueMapBuffer(queue, buffer, 1, flags, at, bytes, 0, 0, 0, error);
        check("clEnqueueMapBuffer", cells.getInt(0));
        return mapped;
    }

    @Override
    public void unmap(long buffer, long address) {
        check("clEnqueueUnmapMemObject", OpenCl.clEnqueueUnmapMemObject(queue, buffer, address, 0, 0, 0));
        finish();
    }

    @Override
    public void finish() {
        check("clFinish", OpenCl.clFinish(queue));
    }

    @Override
    public AutoCloseable enter() {
        return () -> {};
    }

    /** A small copy, which is already enqueued. */
    @Override
    public Measure.Work waiting(long shut, boolean copies) {
        long copied = NativeMemory.address(cells);
        check(
                "clEnqueueWriteBuffer",
                OpenCl.clEnqueueWriteBuffer(shut, target, 0, 0, BLOCK, NativeMemory.address(block), 0, 0, copied));
        check("clFlush", OpenCl.clFlush(shut));
        return () -> {
            check("clWaitForEvents", OpenCl.clWaitForEvents(1, copied));
            long at = System.nanoTime();
            OpenCl.clReleaseEvent(cells.getLong(0));
            return at;
        };
    }

    @Override
    public Gate gate() {
        return new UserEvent();
    }

    @Override
    public void close() {
        finish();
        differences.close();
        free(count);
        free(target);
        OpenCl.clReleaseCommandQueue(queue);
        context.leave();
    }

    /** A command queue gated by a user event: commands behind the event complete at a known time. */
    private final class UserEvent implements Gate {

        private final ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        private final long gated = context.createQueue(0);
        private long event; // while the gate is shut
        private long opened;

        @Override
        public long shut() {
            int[] error = new int[1];
            event = OpenCl.clCreateUserEvent(context.handle(), error);
            check("clCreateUserEvent", error[0]);
            cell.putLong(0, event);
            check(
                    "clEnqueueBarrierWithWaitList",
                    OpenCl.clEnqueueBarrierWithWaitList(gated, 1, NativeMemory.address(cell), 0));
            return gated;
        }

        @Override
        public void open() throws IOException {
            try {
                TimeUnit.NANOSECONDS.sleep(SETTLE_NANOS);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            opened = System.nanoTime();
            check("clSetUserEventStatus", OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE));
        }

        @Override
        public long opened() {
            return opened;
        }

        @Override
        public DeviceFence fence(Backend of, long shut) {
            return OpenClQueue.of(gated).fence();
        }

        @Override
        public DeviceQueue queue() {
            return OpenClQueue.of(gated);
        }

        @Override
        public void done() {
            OpenCl.clReleaseEvent(event);
        }

        @Override
        public void close() {
            OpenCl.clFinish(gated);
            OpenCl.clReleaseCommandQueue(gated);
        }
    }
}
