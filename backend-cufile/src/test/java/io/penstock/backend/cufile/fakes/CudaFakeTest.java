// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FreshFakes.class)
class CudaFakeTest {

    private static final int INVALID_VALUE = 1;
    private static final int INVALID_CONTEXT = 201;
    private static final int INVALID_HANDLE = 400;
    private static final int NOT_FOUND = 500;
    private static final int NOT_READY = 600;
    private static final int ILLEGAL_ADDRESS = 700;

    @Test
    void bytesComeBackFromTheDevice() {
        byte[] bytes = new byte[100_000];
        new Random(1).nextBytes(bytes);
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(bytes.length);
            gpu.write(pointer, bytes);
            assertThat(gpu.read(pointer, bytes.length)).isEqualTo(bytes);
            ok(CudaAbi.cuMemFree_v2(pointer));
        }
        assertThat(Fakes.cuda().live("allocations")).isZero();
        assertThat(Fakes.cuda().live("contexts")).isZero();
    }

    @Test
    void newMemoryHoldsGarbageAndIsAlignedTo256BytesOnly() {
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(5000);
            assertThat(pointer % 256).isZero();
            assertThat(pointer % 4096).isNotZero();
            assertThat(gpu.read(pointer, 5000)).doesNotContain(0);
            ok(CudaAbi.cuMemFree_v2(pointer));
        }
    }

    @Test
    void theCpuMayNotTouchDeviceMemory() throws IOException {
        try (Gpu gpu = new Gpu();
                Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            long pointer = gpu.allocate(4096);
            String rights = mappings.filter(line -> Long.parseUnsignedLong(line.split("[- ]")[0], 16) <= pointer
                            && pointer < Long.parseUnsignedLong(line.split("[- ]")[1], 16))
                    .map(line -> line.split(" ")[1])
                    .findFirst()
                    .orElse("");
            assertThat(rights).isEqualTo("---p");
            ok(CudaAbi.cuMemFree_v2(pointer));
        }
    }

    @Test
    void anAsynchronousCopyIsNotOverWhenTheCallReturns() {
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(4096);
            Pointer pinned = gpu.pinned(4096);
            long stream = gpu.stream();
            long event = gpu.event();
            Fakes.cuda().hold("cuMemcpyHtoDAsync");
            pinned.setMemory(0, 4096, (byte) 1);
            ok(CudaAbi.cuMemcpyHtoDAsync_v2(pointer, pinned, 4096, stream));
            ok(CudaAbi.cuEventRecord(event, stream));
            assertThat(Fakes.cuda().awaitHeld("cuMemcpyHtoDAsync", 1)).isEqualTo(1);
            assertThat(CudaAbi.cuStreamQuery(stream)).isEqualTo(NOT_READY);
            assertThat(CudaAbi.cuEventQuery(event)).isEqualTo(NOT_READY);
            // The device reads the staging buffer only now: filling it too early corrupts.
            pinned.setMemory(0, 4096, (byte) 2);
            Fakes.cuda().release("cuMemcpyHtoDAsync");
            ok(CudaAbi.cuStreamSynchronize(stream));
            ok(CudaAbi.cuEventQuery(event));
            assertThat(gpu.read(pointer, 4096)).containsOnly(2);
            ok(CudaAbi.cuEventDestroy_v2(event));
            ok(CudaAbi.cuStreamDestroy_v2(stream));
            ok(CudaAbi.cuMemFreeHost(pinned));
            ok(CudaAbi.cuMemFree_v2(pointer));
        }
    }

    @Test
    void aStreamWaitsForAnEventOfAnother() {
        try (Gpu gpu = new Gpu()) {
            Pointer word = gpu.pinned(8);
            word.setLong(0, 0);
            long first = gpu.stream();
            long second = gpu.stream();
            long event = gpu.event();
            long address = Pointer.nativeValue(word);
            Fakes.cuda().hold("cuEventRecord");
            ok(CudaAbi.cuStreamWriteValue32_v2(first, address, 7, 0));
            ok(CudaAbi.cuEventRecord(event, first));
            ok(CudaAbi.cuStreamWaitEvent(second, event, 0));
            ok(CudaAbi.cuStreamWriteValue32_v2(second, address + 4, 8, 0));
            assertThat(Fakes.cuda().awaitHeld("cuEventRecord", 1)).isEqualTo(1);
            assertThat(word.getInt(0)).isEqualTo(7);
            assertThat(word.getInt(4)).isZero();
            Fakes.cuda().release("cuEventRecord");
            ok(CudaAbi.cuStreamSynchronize(second));
            assertThat(word.getInt(4)).isEqualTo(8);
            ok(CudaAbi.cuEventDestroy_v2(event));
            ok(CudaAbi.cuStreamDestroy_v2(first));
            ok(CudaAbi.cuStreamDestroy_v2(second));
            ok(CudaAbi.cuMemFreeHost(word));
        }
    }

    @Test
    void aThreadWithoutContextIsRefused() {
        ok(CudaAbi.cuInit(0));
        CudaAbi.cuCtxSetCurrent(0);
        assertThat(CudaAbi.cuMemAlloc_v2(new long[1], 4096)).isEqualTo(INVALID_CONTEXT);
        complains("cuMemAlloc_v2 called by a thread without a context");
    }

    @Test
    void memoryIsFreedOnceAndByItsOwnPointer() {
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(4096);
            assertThat(CudaAbi.cuMemFree_v2(pointer + 512)).isEqualTo(INVALID_VALUE);
            complains("nothing is allocated");
            ok(CudaAbi.cuMemFree_v2(pointer));
            assertThat(CudaAbi.cuMemFree_v2(pointer)).isEqualTo(INVALID_VALUE);
            complains("nothing is allocated");
        }
    }

    @Test
    void memoryThatAnOperationUsesIsNotToBeFreed() {
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(4096);
            Pointer pinned = gpu.pinned(4096);
            long stream = gpu.stream();
            Fakes.cuda().hold("cuMemcpyHtoDAsync");
            ok(CudaAbi.cuMemcpyHtoDAsync_v2(pointer, pinned, 4096, stream));
            ok(CudaAbi.cuMemFree_v2(pointer));
            complains("1 operations use the memory");
            ok(CudaAbi.cuMemFreeHost(pinned));
            complains("1 operations use the memory");
            Fakes.cuda().release("cuMemcpyHtoDAsync");
            ok(CudaAbi.cuStreamSynchronize(stream));
            ok(CudaAbi.cuStreamDestroy_v2(stream));
        }
    }

    @Test
    void handlesAreNeverTakenForAnotherObject() {
        try (Gpu gpu = new Gpu()) {
            long stream = gpu.stream();
            ok(CudaAbi.cuStreamDestroy_v2(stream));
            long next = gpu.stream();
            assertThat(next).isNotEqualTo(stream);
            assertThat(CudaAbi.cuStreamSynchronize(stream)).isEqualTo(INVALID_HANDLE);
            complains("the stream was destroyed");
            assertThat(CudaAbi.cuEventQuery(next)).isEqualTo(INVALID_HANDLE);
            complains("no such event");
            ok(CudaAbi.cuStreamDestroy_v2(next));
        }
    }

    @Test
    void aContextThatEndsWithLivingMemoryIsAComplaint() {
        try (Gpu gpu = new Gpu()) {
            gpu.allocate(4096);
        }
        complains("1 streams and allocations still live");
    }

    @Test
    void aRangeBeyondAnAllocationIsRefused() {
        try (Gpu gpu = new Gpu();
                Memory memory = new Memory(8192)) {
            long pointer = gpu.allocate(4096);
            gpu.allocate(4096);
            assertThat(CudaAbi.cuMemcpyHtoD_v2(pointer, memory, 4097)).isEqualTo(INVALID_VALUE);
            complains("are not allocated");
            Fakes.reset();
            ok(CudaAbi.cuDevicePrimaryCtxRetain(new long[1], 0));
        }
    }

    @Test
    void anOrderedFailureOfAnOperationBreaksTheContext() {
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(4096);
            long stream = gpu.stream();
            Fakes.cuda().fail("late:cuMemsetD8Async", 1, ILLEGAL_ADDRESS);
            ok(CudaAbi.cuMemsetD8Async(pointer, (byte) 1, 4096, stream));
            assertThat(CudaAbi.cuStreamSynchronize(stream)).isEqualTo(ILLEGAL_ADDRESS);
            assertThat(CudaAbi.cuMemAlloc_v2(new long[1], 4096)).isEqualTo(ILLEGAL_ADDRESS);
            Fakes.reset();
            ok(CudaAbi.cuDevicePrimaryCtxRetain(new long[1], 0));
        }
    }

    @Test
    void anOrderedFailureStrikesTheNthCallOnly() {
        try (Gpu gpu = new Gpu()) {
            Fakes.cuda().fail("cuMemAlloc", 2, 2);
            long first = gpu.allocate(512);
            assertThat(CudaAbi.cuMemAlloc_v2(new long[1], 512)).isEqualTo(2);
            long third = gpu.allocate(512);
            assertThat(Fakes.cuda().calls("cuMemAlloc_v2")).isEqualTo(3);
            ok(CudaAbi.cuMemFree_v2(first));
            ok(CudaAbi.cuMemFree_v2(third));
        }
    }

    @Test
    void allocationsAreLimitedByTheDevice() {
        Fakes.cuda().set("total_mem", 1 << 20);
        try (Gpu gpu = new Gpu()) {
            assertThat(CudaAbi.cuMemAlloc_v2(new long[1], (1 << 20) + 1)).isEqualTo(2);
            ok(CudaAbi.cuMemFree_v2(gpu.allocate(1 << 20)));
        }
    }

    @Test
    void aPointersMemoryIsReported() {
        try (Gpu gpu = new Gpu()) {
            long pointer = gpu.allocate(8192);
            Pointer pinned = gpu.pinned(4096);
            long[] told = new long[1];
            ok(CudaAbi.cuPointerGetAttribute(told, 2, pointer + 4096));
            assertThat((int) told[0]).isEqualTo(2);
            ok(CudaAbi.cuPointerGetAttribute(told, 1, pointer + 4096));
            assertThat(told[0]).isEqualTo(gpu.context());
            ok(CudaAbi.cuPointerGetAttribute(told, 2, Pointer.nativeValue(pinned)));
            assertThat((int) told[0]).isEqualTo(1);
            try (Memory pageable = new Memory(16)) {
                assertThat(CudaAbi.cuPointerGetAttribute(told, 2, Pointer.nativeValue(pageable)))
                        .isEqualTo(INVALID_VALUE);
            }
            long[] base = new long[1];
            ok(CudaAbi.cuMemGetAddressRange_v2(base, told, pointer + 8191));
            assertThat(base[0]).isEqualTo(pointer);
            assertThat(told[0]).isEqualTo(8192);
            assertThat(CudaAbi.cuMemGetAddressRange_v2(base, told, pointer + 8192))
                    .isEqualTo(NOT_FOUND);
            ok(CudaAbi.cuMemFreeHost(pinned));
            ok(CudaAbi.cuMemFree_v2(pointer));
        }
    }

    @Test
    void eachDeviceHasMemoryOfItsOwn() {
        Fakes.cuda().set("device_count", 2);
        try (Gpu gpu = new Gpu()) {
            long here = gpu.allocate(4096);
            long stream = gpu.stream();
            long[] other = new long[1];
            ok(CudaAbi.cuDevicePrimaryCtxRetain(other, 1));
            ok(CudaAbi.cuCtxSetCurrent(other[0]));
            long there = gpu.allocate(4096);
            long[] ordinal = new long[1];
            ok(CudaAbi.cuPointerGetAttribute(ordinal, 9, there));
            assertThat((int) ordinal[0]).isEqualTo(1);
            Pointer pinned = gpu.pinned(4096);
            ok(CudaAbi.cuMemcpyHtoDAsync_v2(there, pinned, 4096, stream));
            complains("a stream of device 0 copies to or from device 1");
            long event = gpu.event();
            assertThat(CudaAbi.cuEventRecord(event, stream)).isEqualTo(INVALID_HANDLE);
            complains("of different contexts");
            ok(CudaAbi.cuStreamSynchronize(stream));
            ok(CudaAbi.cuEventDestroy_v2(event));
            ok(CudaAbi.cuMemFreeHost(pinned));
            ok(CudaAbi.cuMemFree_v2(there));
            ok(CudaAbi.cuMemFree_v2(here));
            ok(CudaAbi.cuStreamDestroy_v2(stream));
            ok(CudaAbi.cuDevicePrimaryCtxRelease_v2(1));
        }
    }

    @Test
    void aBatchOfCopiesIsOneOperation() {
        try (Gpu gpu = new Gpu();
                Memory attributes = new Memory(24)) {
            attributes.clear();
            attributes.setInt(0, 1);
            long memory = gpu.allocate(16384);
            Pointer pinned = gpu.pinned(8192);
            pinned.setMemory(0, 4096, (byte) 1);
            pinned.setMemory(4096, 4096, (byte) 2);
            long stream = gpu.stream();
            long[] from = {Pointer.nativeValue(pinned), Pointer.nativeValue(pinned) + 4096};
            long[] to = {memory + 8192, memory};
            long[] sizes = {4096, 4096};
            assertThat(CudaAbi.cuMemcpyBatchAsync_v2(to, from, sizes, 2, attributes, new long[1], 1, 0))
                    .as("in the legacy stream")
                    .isEqualTo(INVALID_VALUE);
            ok(CudaAbi.cuMemcpyBatchAsync_v2(to, from, sizes, 2, attributes, new long[1], 1, stream));
            ok(CudaAbi.cuStreamSynchronize(stream));
            assertThat(gpu.read(memory, 4096)).containsOnly(2);
            assertThat(gpu.read(memory + 8192, 4096)).containsOnly(1);
            ok(CudaAbi.cuStreamDestroy_v2(stream));
            ok(CudaAbi.cuMemFreeHost(pinned));
            ok(CudaAbi.cuMemFree_v2(memory));
        }
    }

    @Test
    void aKernelThatSpinsReadsLate() {
        String ptx = """
                .version 8.0
                .target sm_70
                .address_size 64
                .visible .entry spin_copy(.param .u64 f, .param .u64 t, .param .u64 s, .param .u64 n) { ret; }
                """;
        try (Gpu gpu = new Gpu();
                Memory values = new Memory(32);
                Memory parameters = new Memory(32)) {
            long[] module = new long[1];
            long[] function = new long[1];
            ok(CudaAbi.cuModuleLoadData(module, (ptx + "\0").getBytes(StandardCharsets.US_ASCII)));
            assertThat(CudaAbi.cuModuleGetFunction(function, module[0], "copy")).isEqualTo(NOT_FOUND);
            ok(CudaAbi.cuModuleGetFunction(function, module[0], "spin_copy"));
            Pointer flag = gpu.pinned(4);
            flag.setInt(0, 0);
            long from = gpu.allocate(4096);
            long to = gpu.allocate(4096);
            long stream = gpu.stream();
            long[] arguments = {Pointer.nativeValue(flag), to, from, 4096};
            for (int i = 0; i < arguments.length; i++) {
                values.setLong(8L * i, arguments[i]);
                parameters.setPointer(8L * i, values.share(8L * i));
            }
            ok(CudaAbi.cuLaunchKernel(function[0], 1, 1, 1, 1, 1, 1, 0, stream, parameters, null));
            gpu.write(from, new byte[4096]);
            assertThat(CudaAbi.cuStreamQuery(stream)).isEqualTo(NOT_READY);
            flag.setInt(0, 1);
            ok(CudaAbi.cuStreamSynchronize(stream));
            assertThat(gpu.read(to, 4096)).containsOnly(0);
            ok(CudaAbi.cuStreamDestroy_v2(stream));
            ok(CudaAbi.cuMemFree_v2(from));
            ok(CudaAbi.cuMemFree_v2(to));
            ok(CudaAbi.cuMemFreeHost(flag));
        }
    }

    @Test
    void functionsAreFoundByTheNameThatTheHeadersUse() {
        long[] function = new long[1];
        ok(CudaAbi.cuGetProcAddress_v2("cuMemAlloc", function, 13000, 0, new int[1]));
        assertThat(function[0]).isNotZero();
        int[] status = new int[1];
        assertThat(CudaAbi.cuGetProcAddress_v2("cuNothing", function, 13000, 0, status))
                .isEqualTo(NOT_FOUND);
        assertThat(status[0]).isEqualTo(1);
    }

    private static void complains(String about) {
        assertThat(Fakes.cuda().complaint())
                .hasValueSatisfying(said -> assertThat(said).contains(about));
        Fakes.cuda().forgive();
    }
}
