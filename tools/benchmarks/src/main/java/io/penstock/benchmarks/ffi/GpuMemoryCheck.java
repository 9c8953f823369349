// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Path;

/** Creates and checks the bytes of the test file in GPU memory, by the code of the C peers. */
public final class GpuMemoryCheck {

    private GpuMemoryCheck() {}

    /** Loads the library and makes it use the device's primary context. */
    public static synchronized void open(Path library) throws IOException {
        Native.register(GpuMemoryCheck.class, NativeLibrary.getInstance(library.toString()));
        attend_open();
        check();
    }

    /** Returns how many GPUs the host has. */
    public static int devices() throws IOException {
        return (int) checked(attend_devices());
    }

    /** Fills memory of one of the host's GPUs with the contents of the test file from a base offset on. */
    public static void fill(int device, long memory, long bytes, long base) throws IOException {
        attend_fill(device, memory, bytes, base);
        check();
    }

    /** Counts the words in memory of one of the host's GPUs that differ from the words of the test file. */
    public static long differences(int device, long memory, long bytes, long base) throws IOException {
        return checked(attend_differences(device, memory, bytes, base));
    }

    /** Counts the words that differ from the words of blocks of the test file. */
    public static long gatherDifferences(long memory, int blockBytes, long[] offsets) throws IOException {
        return checked(attend_gather_differences(memory, offsets.length, blockBytes, offsets));
    }

    /** Creates a gate: a stream that waits for a word in host memory. */
    public static long gate() throws IOException {
        return checked(attend_gate());
    }

    /** Closes the gate and returns an event that is reached once it opens. */
    public static long closeGate(long gate) throws IOException {
        return checked(attend_gate_close(gate));
    }

    /** Returns the stream of a gate: work enqueued in it while the gate is closed waits. */
    public static long gateStream(long gate) throws IOException {
        return checked(attend_gate_stream(gate));
    }

    /** Opens the gate and returns when, on the clock of {@link System#nanoTime()}. */
    public static long openGate(long gate) throws IOException {
        return checked(attend_gate_open(gate));
    }

    /** Frees an open gate. */
    public static void freeGate(long gate) throws IOException {
        attend_gate_free(gate);
        check();
    }

    /** Returns the processor time of this process, finer than the clock ticks in which the JVM counts it. */
    public static long cpuNanos() {
        return attend_cpu_nanos();
    }

    private static long checked(long result) throws IOException {
        check();
        return result;
    }

    private static void check() throws IOException {
        String failure = attend_failure();
        if (!failure.isEmpty()) {
            throw new IOException("the check of GPU memory failed: " + failure);
        }
    }

    private static native String attend_failure();

    private static native void attend_open();

    private static native long attend_cpu_nanos();

    private static native int attend_devices();

    private static native void attend_fill(int device, long memory, long bytes, long base);

    private static native long attend_differences(int device, long memory, long bytes, long base);

    private static native long attend_gather_differences(long memory, long blocks, long blockBytes, long[] offsets);

    private static native long attend_gate();

    private static native long attend_gate_close(long gate);

    private static native long attend_gate_stream(long gate);

    private static native long attend_gate_open(long gate);

    private static native void attend_gate_free(long gate);
}
