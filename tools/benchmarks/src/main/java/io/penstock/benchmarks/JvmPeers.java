// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.OpenOptions;
import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import one.jasyncfio.AsyncFile;
import one.jasyncfio.EventExecutor;
import one.jasyncfio.OpenOption;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What a JVM has for random reads of a file, without Penstock. */
final class JvmPeers {

    private JvmPeers() {}

    /** The JDK's asynchronous channel, with its own pool. */
    static final class Channel extends ChainLoop implements CompletionHandler<Integer, Integer> {

        private final AsynchronousFileChannel channel;

        Channel(Workload workload) throws IOException {
            super(workload, Chains.allocate(workload));
            channel = AsynchronousFileChannel.open(workload.file(), StandardOpenOption.READ);
        }

        @Override
        void begin(int chain, long offset) {
            channel.read(chains.block(chain).clear(), offset, chain, this);
        }

        @Override
        public void completed(Integer bytes, Integer chain) {
            completed((int) chain, (int) bytes);
        }

        @Override
        public void failed(Throwable cause, Integer chain) {
            failed(cause);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Blocking reads of a FileChannel. */
    private abstract static class Blocking implements Contender {

        final Workload workload;
        private final Chains chains;
        private final FileChannel file;

        Blocking(Workload workload) throws IOException {
            this.workload = workload;
            chains = Chains.allocate(workload);
            file = FileChannel.open(workload.file());
        }

        int read(int chain) throws IOException {
            int bytes = file.read(chains.block(chain).clear(), chains.next(chain));
            if (bytes != workload.blockBytes()) {
                throw new IOException("a read of " + bytes + " bytes");
            }
            return bytes;
        }

        @Override
        public void verify() throws IOException {
            chains.verify();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /** One after another on the caller's thread. */
    static final class Caller extends Blocking {

        Caller(Workload workload) throws IOException {
            super(workload);
        }

        @Override
        public Measure run(long nanos) throws Exception {
            return run(nanos, null);
        }

        @Override
        public Latency latency(long nanos) throws Exception {
            Stopwatch stopwatch = new Stopwatch(workload.depth());
            run(nanos, stopwatch);
            return stopwatch.latency();
        }

        private Measure run(long nanos, @Nullable Stopwatch stopwatch) throws Exception {
            long end = System.nanoTime() + nanos;
            return Measure.of(() -> {
                long count = 0;
                for (int chain = 0; System.nanoTime() < end; chain = (chain + 1) % workload.depth()) {
                    if (stopwatch != null) {
                        stopwatch.begin(chain);
                    }
                    read(chain);
                    if (stopwatch != null) {
                        stopwatch.end(chain);
                    }
                    count++;
                }
                return count;
            });
        }
    }

    /** The usual code: on Reactor's boundedElastic. */
    static final class Elastic extends Blocking {

        private final Queue<Integer> free;

        Elastic(Workload workload) throws IOException {
            super(workload);
            free = new ArrayBlockingQueue<>(workload.depth());
            for (int chain = 0; chain < workload.depth(); chain++) {
                free.add(chain);
            }
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
    }

    /**
     * jasyncfio: io_uring behind futures. It pools 50 results for each thread that submits, and a thread that needs
     * more waits, its own event loop included; so the chains are divided among a few threads, and each starts the
     * next read of a chain once the event loop has returned it.
     */
    static final class Jasyncfio extends ChainLoop {

        private static final int MOST_PER_THREAD = 43;
        private static final int END = -1;

        private final EventExecutor executor =
                EventExecutor.builder().entries(1024).build();
        private final AsyncFile file;
        private final BlockingQueue<Integer>[] free; // chains to start, by thread

        @SuppressWarnings("unchecked") // an array of queues
        Jasyncfio(Workload workload) {
            super(workload, Chains.allocate(workload));
            file = AsyncFile.open(workload.file(), executor, OpenOption.READ_ONLY)
                    .join();
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
        void begin(int chain, long offset) {
            free[chain % free.length].add(chain); // whose offset is the chain's last
        }

        @SuppressWarnings("unchecked") // its futures are raw
        private void submit(BlockingQueue<Integer> mine) {
            try {
                for (int chain = mine.take(); chain != END; chain = mine.take()) {
                    int begun = chain;
                    CompletableFuture<Integer> read =
                            file.read(chains.block(chain).clear(), chains.offset(chain));
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

    /** Vert.x: reads on its worker pool, results on an event loop. Its buffers are its own. */
    static final class Vertx4 extends ChainLoop {

        private static final int CLOSE_SECONDS = 30;

        private final Vertx vertx = Vertx.vertx();
        private final Context context = vertx.getOrCreateContext();
        private final io.vertx.core.file.AsyncFile file;
        private final Buffer[] buffers;

        Vertx4(Workload workload) {
            super(workload, Chains.allocate(workload));
            buffers = new Buffer[workload.depth()];
            for (int chain = 0; chain < buffers.length; chain++) {
                buffers[chain] = Buffer.buffer(new byte[workload.blockBytes()]);
            }
            file = vertx.fileSystem().openBlocking(workload.file().toString(), new OpenOptions().setWrite(false));
        }

        @Override
        void beginAll() {
            context.runOnContext(nothing -> super.beginAll());
        }

        @Override
        void begin(int chain, long offset) {
            file.read(buffers[chain], 0, offset, workload.blockBytes()).onComplete(read -> {
                if (read.failed()) {
                    failed(read.cause());
                } else {
                    completed(chain, read.result().length());
                }
            });
        }

        @Override
        public void verify() throws IOException {
            for (int chain = 0; chain < buffers.length; chain++) {
                chains.block(chain).clear().put(buffers[chain].getBytes());
            }
            super.verify();
        }

        @Override
        public void close() throws Exception {
            // Bounded, since it may wait for a read that does not complete.
            file.close().toCompletionStage().toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
            vertx.close().toCompletionStage().toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
        }
    }
}
