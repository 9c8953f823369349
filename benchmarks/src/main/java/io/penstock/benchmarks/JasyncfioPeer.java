// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import one.jasyncfio.AsyncFile;
import one.jasyncfio.EventExecutor;
import one.jasyncfio.OpenOption;

/**
 * jasyncfio: io_uring behind futures. It pools 50 results for each thread that submits, and one that needs more waits,
 * its own event loop included; so the slots are shared out to a few threads, and each begins the next read of a slot
 * when the event loop has given it back.
 */
final class JasyncfioPeer extends SlotLoop {

    private static final int MOST_PER_THREAD = 43;
    private static final int END = -1;

    private final EventExecutor executor = EventExecutor.builder().entries(1024).build();
    private final AsyncFile file;
    private final BlockingQueue<Integer>[] free; // slots to begin, by thread

    @SuppressWarnings("unchecked") // an array of queues
    JasyncfioPeer(Workload workload) {
        super(workload, Slots.allocate(workload));
        file = AsyncFile.open(workload.file(), executor, OpenOption.READ_ONLY).join();
        free = new BlockingQueue[(workload.depth() + MOST_PER_THREAD - 1) / MOST_PER_THREAD];
        for (int i = 0; i < free.length; i++) {
            BlockingQueue<Integer> mine = new ArrayBlockingQueue<>(workload.depth());
            free[i] = mine;
            Thread submitter = new Thread(() -> submit(mine), "jasyncfio-submitter-" + i);
            submitter.setDaemon(true);
            submitter.start();
        }
    }

    @Override
    public String name() {
        return "jasyncfio";
    }

    @Override
    void begin(int slot, long offset) {
        free[slot % free.length].add(slot); // whose offset is the slot's last
    }

    @SuppressWarnings("unchecked") // its futures are raw
    private void submit(BlockingQueue<Integer> mine) {
        try {
            for (int slot = mine.take(); slot != END; slot = mine.take()) {
                int begun = slot;
                CompletableFuture<Integer> read = file.read(slots.block(slot).clear(), slots.offset(slot));
                read.whenComplete((bytes, cause) -> {
                    if (cause != null) {
                        failed(cause);
                    } else {
                        completed(begun, bytes);
                    }
                });
            }
        } catch (InterruptedException | RuntimeException e) {
            failed(e);
        }
    }

    @Override
    public void close() throws Exception {
        for (BlockingQueue<Integer> queue : free) {
            queue.add(END);
        }
        file.close().join();
        executor.close();
    }
}
