// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The usual code without Penstock: blocking reads of a FileChannel on Reactor's boundedElastic. */
final class ElasticPeer implements Contender {

    private final Workload workload;
    private final Chains chains;
    private final FileChannel file;
    private final Queue<Integer> free;

    ElasticPeer(Workload workload) throws IOException {
        this.workload = workload;
        chains = Chains.allocate(workload);
        file = FileChannel.open(workload.file());
        free = new ArrayBlockingQueue<>(workload.depth());
        for (int chain = 0; chain < workload.depth(); chain++) {
            free.add(chain);
        }
    }

    @Override
    public String name() {
        return "FileChannel on boundedElastic";
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return run(
                nanos,
                Mono.fromCallable(() -> {
                            int chain = free.remove();
                            int bytes = read(chain);
                            free.add(chain);
                            return bytes;
                        })
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    /** From the subscription on: most of it is the wait for a thread. */
    @Override
    public Latency latency(long nanos) throws Exception {
        Stopwatch stopwatch = new Stopwatch(workload.depth());
        run(nanos, Mono.defer(() -> {
            int chain = free.remove();
            stopwatch.begin(chain);
            return Mono.fromCallable(() -> read(chain))
                    .subscribeOn(Schedulers.boundedElastic())
                    .doOnNext(bytes -> {
                        stopwatch.end(chain);
                        free.add(chain);
                    });
        }));
        return stopwatch.latency();
    }

    private Measure run(long nanos, Mono<Integer> read) throws Exception {
        long end = System.nanoTime() + nanos;
        return Measure.of(() -> Flux.<Integer>generate(sink -> {
                    if (System.nanoTime() < end) {
                        sink.next(1);
                    } else {
                        sink.complete();
                    }
                })
                .flatMap(any -> read, workload.depth())
                .count()
                .block());
    }

    private int read(int chain) throws IOException {
        int bytes = file.read(chains.block(chain).clear(), chains.next(chain));
        if (bytes != workload.blockBytes()) {
            throw new IOException(name() + ": " + bytes + " bytes");
        }
        return bytes;
    }

    @Override
    public void verify() throws IOException {
        chains.verify(name());
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
