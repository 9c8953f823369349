// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.uring.CompletionHandler;
import io.penstock.engine.host.uring.Ring;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.host.uring.SubmissionQueue;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The ring that Penstock uses, without Penstock: the baseline of its own cost. */
final class BareRing implements Contender {

    private final Workload workload;
    private final Slab memory;
    private final Chains chains;
    private final int fd;
    private final int[] free;
    private int freeCount;

    BareRing(Workload workload) throws IOException {
        this.workload = workload;
        memory = Slabs.shared().allocate((long) workload.depth() * workload.blockBytes());
        ByteBuffer bytes = memory.buffer(0, workload.depth() * workload.blockBytes());
        chains = new Chains(workload, bytes);
        byte[] path = (workload.file() + "\0").getBytes(StandardCharsets.UTF_8);
        fd = LibC.open(path, LibC.O_RDONLY | LibC.O_CLOEXEC, 0);
        if (fd < 0) {
            throw new IOException("cannot open " + workload.file());
        }
        free = new int[workload.depth()];
        for (int chain = 0; chain < free.length; chain++) {
            free[freeCount++] = chain;
        }
    }

    @Override
    public Measure run(long nanos) throws Exception {
        try (Ring ring = Ring.open(LinuxKernel.INSTANCE, RingOptions.ofEntries(workload.depth()))) {
            ring.registration().makeFileTable(1);
            ring.registration().updateFile(0, fd);
            ring.registration().makeBufferTable(1);
            ring.registration().updateBuffer(0, memory.hostAddress(), memory.bytes());
            return Measure.of(() -> turns(ring, nanos));
        }
    }

    private long turns(Ring ring, long nanos) throws Exception {
        CompletionHandler handler = (chain, result, flags) -> ended((int) chain, result);
        long end = System.nanoTime() + nanos;
        long count = 0;
        while (System.nanoTime() < end) {
            while (freeCount > 0) {
                int chain = free[--freeCount];
                long address = memory.hostAddress() + (long) chain * workload.blockBytes();
                ring.submissions()
                        .readFixed(
                                SubmissionQueue.FIXED_FILE,
                                0,
                                chains.next(chain),
                                address,
                                workload.blockBytes(),
                                0,
                                chain);
            }
            ring.submitAndWait();
            count += ring.reap(handler);
        }
        while (freeCount < workload.depth()) {
            ring.submitAndWait();
            count += ring.reap(handler);
        }
        return count;
    }

    private void ended(int chain, int result) {
        if (result != workload.blockBytes()) {
            throw new IllegalStateException("a read of " + workload.blockBytes() + " bytes returned " + result);
        }
        free[freeCount++] = chain;
    }

    @Override
    public void verify() throws IOException {
        chains.verify();
    }

    @Override
    public void close() {
        LibC.close(fd);
        memory.free();
    }
}
