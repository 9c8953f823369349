// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import io.penstock.BufferRegion;
import io.penstock.HostView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A kernel as an application's: the sum of the words of a region of a GPU's memory, each times its number from 1,
 * modulo 2^64. So it differs if a word is wrong or in a wrong place, and the sums of parts add up to the sum of the
 * whole.
 */
final class GpuSum {

    private static final String KERNEL = """
            .version 6.0
            .target sm_60
            .address_size 64
            .visible .entry sum(.param .u64 words, .param .u64 count, .param .u64 first, .param .u64 result)
            {
                .reg .pred %done;
                .reg .u32 %r<5>;
                .reg .u64 %w<10>;
                ld.param.u64 %w0, [words];
                ld.param.u64 %w1, [count];
                ld.param.u64 %w2, [first];
                ld.param.u64 %w3, [result];
                mov.u32 %r0, %ctaid.x;
                mov.u32 %r1, %ntid.x;
                mov.u32 %r2, %tid.x;
                mov.u32 %r3, %nctaid.x;
                mad.lo.u32 %r2, %r0, %r1, %r2;
                mul.lo.u32 %r3, %r3, %r1;
                cvt.u64.u32 %w4, %r2;
                cvt.u64.u32 %w5, %r3;
                mov.u64 %w6, 0;
            next:
                setp.ge.u64 %done, %w4, %w1;
                @%done bra end;
                shl.b64 %w7, %w4, 3;
                add.u64 %w7, %w7, %w0;
                ld.global.u64 %w8, [%w7];
                add.u64 %w9, %w4, %w2;
                add.u64 %w9, %w9, 1;
                mad.lo.u64 %w6, %w8, %w9, %w6;
                add.u64 %w4, %w4, %w5;
                bra next;
            end:
                atom.global.add.u64 %w8, [%w3], %w6;
                ret;
            }
            """;

    private static final int BLOCKS = 1024;
    private static final int THREADS = 256;

    private static final GpuSum OF_EXECUTOR = new GpuSum(); // it has one GPU

    private Pointer context = Pointer.NULL;
    private Pointer function = Pointer.NULL;
    private long result; // the address of a word of the GPU's

    private GpuSum() {}

    private static final class Cuda { // loaded with the first kernel
        static final NativeLibrary LIBRARY = NativeLibrary.getInstance("libcuda.so.1");
    }

    /**
     * Returns the sum of a region, whose first word has that number from 0. Blocks until the kernel has ended; memory
     * of the host is summed here.
     */
    static long of(BufferRegion region, long first) {
        Optional<HostView> view = region.buffer().hostView();
        if (view.isPresent()) {
            return of(view.get().buffer(region.offset(), Math.toIntExact(region.length())), first);
        }
        return OF_EXECUTOR.run(region.buffer().nativeHandle() + region.offset(), region.length() / Long.BYTES, first);
    }

    /** Returns the same of bytes of the host. */
    static long of(ByteBuffer bytes, long first) {
        ByteBuffer words = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        long sum = 0;
        for (int i = 0; i < words.limit() / Long.BYTES; i++) {
            sum += words.getLong(Long.BYTES * i) * (first + i + 1);
        }
        return sum;
    }

    private synchronized long run(long address, long words, long first) {
        if (result == 0) {
            open(address);
        }
        call("cuCtxSetCurrent", context);
        call("cuMemsetD8_v2", result, (byte) 0, (long) Long.BYTES);
        long[] values = {address, words, first, result};
        long half = (long) values.length * Long.BYTES;
        Memory parameters =
                new Memory(2 * half); // pointers, and behind them what they point to: one owner until the call returns
        parameters.write(half, values, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            parameters.setPointer((long) i * Long.BYTES, parameters.share(half + (long) i * Long.BYTES));
        }
        call("cuLaunchKernel", function, BLOCKS, 1, 1, THREADS, 1, 1, 0, Pointer.NULL, parameters, Pointer.NULL);
        LongByReference sum = new LongByReference();
        call("cuMemcpyDtoH_v2", sum, result, (long) Long.BYTES); // after the kernel, in the same stream
        return sum.getValue();
    }

    /**
     * In the primary context of the GPU that has this memory, which is where the backend allocates. Module and word
     * live as long as the executor.
     */
    private void open(long address) {
        IntByReference device = new IntByReference();
        call("cuPointerGetAttribute", device, 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */, address);
        PointerByReference made = new PointerByReference();
        call("cuDevicePrimaryCtxRetain", made, device.getValue());
        context = made.getValue();
        call("cuCtxSetCurrent", context);
        call("cuModuleLoadData", made, (KERNEL + "\0").getBytes(StandardCharsets.US_ASCII));
        Pointer module = made.getValue();
        call("cuModuleGetFunction", made, module, "sum");
        function = made.getValue();
        LongByReference word = new LongByReference();
        call("cuMemAlloc_v2", word, (long) Long.BYTES);
        result = word.getValue();
    }

    private static void call(String function, Object... arguments) {
        int error = Cuda.LIBRARY.getFunction(function).invokeInt(arguments);
        if (error != 0) {
            throw new IllegalStateException(function + ": CUDA error " + error);
        }
    }
}
