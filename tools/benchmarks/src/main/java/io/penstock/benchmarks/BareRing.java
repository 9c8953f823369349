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
import java.nio.file.Path;

/**
 * The ring that Penstock uses, without Penstock: the baseline of its own cost. Files are registered in the ring's table
 * and need no descriptors, of which a process does not have enough for all contenders of a row of many files; with
 * descriptors there is no measurable difference.
 */
final class BareRing implements Contender {

    private final Workload workload;
    private final Slab memory;
    private final Chains chains;
    private final Ring ring;
    private final int[] free;
    private int freeCount;

    BareRing(Workload workload) throws IOException {
        this.workload = workload;
        memory = Slabs.shared().allocate((long) workload.depth() * workload.blockBytes());
        ByteBuffer bytes = memory.buffer(0, workload.depth() * workload.blockBytes());
        chains = new Chains(workload, bytes);
        ring = Ring.open(LinuxKernel.INSTANCE, RingOptions.ofEntries(workload.depth()));
        ring.registration().makeBufferTable(1);
        ring.registration().updateBuffer(0, memory.hostAddress(), memory.bytes());
        ring.registration().makeFileTable(workload.files().size());
        for (int i = 0; i < workload.files().size(); i++) {
            register(i, workload.files().get(i));
        }
        free = new int[workload.depth()];
        for (int chain = 0; chain < free.length; chain++) {
            free[freeCount++] = chain;
        }
    }

    private void register(int index, Path path) throws IOException {
        int descriptor = LibC.open((path + "\0").getBytes(StandardCharsets.UTF_8), LibC.O_RDONLY | LibC.O_CLOEXEC, 0);
        int answer = descriptor < 0 ? descriptor : ring.registration().updateFile(index, descriptor);
        if (descriptor >= 0) {
            LibC.close(descriptor);
        }
        if (answer < 0) {
            throw new IOException("cannot open or register " + path + ": " + answer);
        }
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return Measure.of(() -> turns(nanos));
    }

    private long turns(long nanos) throws Exception {
        CompletionHandler handler = (chain, result, flags) -> ended((int) chain, result);
        long end = System.nanoTime() + nanos;
        long count = 0;
        while (System.nanoTime() < end) {
            while (freeCount > 0) {
                begin(free[--freeCount]);
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

    private void begin(int chain) {
        long offset = chains.next(chain);
        long address = memory.hostAddress() + (long) chain * workload.blockBytes();
        ring.submissions()
                .readFixed(
                        SubmissionQueue.FIXED_FILE,
                        workload.number(offset),
                        workload.at(offset),
                        address,
                        workload.blockBytes(),
                        0,
                        chain);
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
        ring.close();
        memory.free();
    }
}
