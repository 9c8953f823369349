// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import one.jasyncfio.AsyncFile;
import one.jasyncfio.EventExecutor;
import one.jasyncfio.OpenOption;

/**
 * jasyncfio: io_uring behind futures. It pools 50 results for each thread that submits, and a thread that needs more
 * waits, its own event loop included; so the chains are divided among a few threads, and each starts the next read of a
 * chain once the event loop has returned it.
 */
final class JasyncfioPeer extends ChainLoop {

    private static final int MOST_PER_THREAD = 43;
    private static final int END = -1;

    private final EventExecutor executor = EventExecutor.builder().entries(1024).build();
    private final AsyncFile file;
    private final BlockingQueue<Integer>[] free; // chains to start, by thread

    @SuppressWarnings("unchecked") // an array of queues
    JasyncfioPeer(Workload workload) {
        super(workload, Chains.allocate(workload));
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
    void begin(int chain, long offset) {
        free[chain % free.length].add(chain); // whose offset is the chain's last
    }

    @SuppressWarnings("unchecked") // its futures are raw
    private void submit(BlockingQueue<Integer> mine) {
        try {
            for (int chain = mine.take(); chain != END; chain = mine.take()) {
                int begun = chain;
                CompletableFuture<Integer> read = file.read(chains.block(chain).clear(), chains.offset(chain));
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
