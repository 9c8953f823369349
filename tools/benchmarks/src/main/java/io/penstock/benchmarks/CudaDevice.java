// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.Options;
import io.penstock.backend.cufile.CudaStream;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;

/**
 * One of the host's GPUs by CUDA.
 *
 * @param number of the GPU
 */
record CudaDevice(int number) implements Device {

    /** The device of the rows of one GPU, which the options name. */
    static final CudaDevice FIRST = new CudaDevice(0);

    private static final String DEVICE = "penstock.cufile.device";
    private static final long POISON = 1L << 60; // a word that the test file does not contain
    private static final long SETTLE_NANOS = 100_000; // until a gated transfer has reached the device

    @Override
    public Backend open(Options options) {
        return Backends.open("cufile", options);
    }

    /** Opens a backend of this GPU, whatever the options name. */
    Backend openOwn(Options options) {
        return open(options.with(DEVICE, Integer.toString(number)));
    }

    @Override
    public void poison(long memory, long bytes) throws IOException {
        GpuMemoryCheck.fill(number, memory, bytes, POISON);
    }

    @Override
    public void verify(long memory, long at, long bytes, long fileOffset) throws IOException {
        Device.none(GpuMemoryCheck.differences(number, memory + at, bytes, fileOffset));
    }

    @Override
    public long cpuNanos() {
        return GpuMemoryCheck.cpuNanos();
    }

    @Override
    public Gate gate() throws IOException {
        return new StreamGate(GpuMemoryCheck.gate());
    }

    @Override
    public void close() {}

    /** A stream that waits for a word in host memory. */
    private static final class StreamGate implements Gate {

        private final long gate;
        private long opened;

        StreamGate(long gate) {
            this.gate = gate;
        }

        @Override
        public long shut() throws IOException {
            return GpuMemoryCheck.closeGate(gate);
        }

        @Override
        public void open() throws IOException {
            long closed = System.nanoTime();
            while (System.nanoTime() - closed < SETTLE_NANOS) {
                Thread.onSpinWait(); // a sleep would take half as long again, and differ from one to the next
            }
            opened = GpuMemoryCheck.openGate(gate);
        }

        @Override
        public long opened() {
            return opened;
        }

        @Override
        public DeviceFence fence(Backend backend, long event) {
            return backend.fence(event);
        }

        @Override
        public DeviceQueue queue() {
            try {
                return CudaStream.of(GpuMemoryCheck.gateStream(gate));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() throws IOException {
            GpuMemoryCheck.freeGate(gate);
        }
    }
}
