// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.StreamPlan;
import io.penstock.engine.stream.LiveLeases;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.server.WebHandler;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Clients that hang up while a chain sends a file that changes threads, as the page on Spring describes it. */
class HangUpTest {

    private static final int CLIENTS = 500;
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private static void hangUp(int port, int number) throws IOException {
        try (Socket client = new Socket("localhost", port)) {
            client.getOutputStream().write(REQUEST);
            if (number % 3 != 2) {
                client.getInputStream().readNBytes(200);
            }
            if (number % 2 == 1) {
                client.setSoLinger(true, 0); // by a reset
            }
        }
    }

    @Test
    void aChainThatChangesThreadsDropsNoLease() throws IOException {
        Scheduler other = Schedulers.newBoundedElastic(8, 10_000, "other");
        assertThat(served(false, buffers -> buffers.publishOn(other, 4))).doesNotContain("LEAK");
        other.dispose();
    }

    /** Chains that the page calls unsafe: what they drop is found, and nothing of it is left. */
    @ParameterizedTest
    @ValueSource(strings = {"map", "filter", "doOnNext", "filterWhen", "all"})
    void aLeaseThatAChainHasDroppedGivesItsMemoryBack(String way) throws IOException {
        Scheduler other = Schedulers.newBoundedElastic(8, 10_000, "other");
        served(true, buffers -> switch (way) {
            case "map" -> buffers.map(buffer -> buffer).publishOn(other, 4);
            case "filter" -> buffers.filter(buffer -> true).publishOn(other, 4);
            case "doOnNext" -> buffers.doOnNext(buffer -> {}).publishOn(other, 4);
            case "filterWhen" -> buffers.filterWhen(buffer -> Mono.just(true).publishOn(other));
            default ->
                buffers.publishOn(other, 4)
                        .filterWhen(buffer -> Mono.just(true).publishOn(other))
                        .map(buffer -> buffer)
                        .publishOn(other, 4);
        });
        other.dispose();
    }

    /**
     * Returns what was logged while clients hung up, once no lease is left and no buffer is in use.
     *
     * @param collects whether garbage is collected until then
     */
    private String served(boolean collects, UnaryOperator<Flux<DataBuffer>> chain) throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[8 << 20]);
        PrintStream before = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        try (Backend host = Backends.open("host")) {
            StreamPlan plan = StreamPlan.of(file).chunkBytes(65536).depth(4);
            WebHandler handler = exchange -> {
                var response = exchange.getResponse();
                return response.writeAndFlushWith(
                        Mono.just(chain.apply(DataBuffers.stream(host, plan, response.bufferFactory()))
                                .doOnDiscard(DataBuffer.class, DataBufferUtils::release)));
            };
            DisposableServer server = HttpServer.create()
                    .host("localhost")
                    .port(0)
                    .handle(new ReactorHttpHandlerAdapter(
                            WebHttpHandlerBuilder.webHandler(handler).build()))
                    .bindNow();
            for (int i = 0; i < CLIENTS; i++) {
                hangUp(server.port(), i);
            }
            server.disposeNow();
            long patience = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while ((LiveLeases.count() > 0
                            || host.counters().buffers() > 0
                            || host.counters().pins() > 0)
                    && System.nanoTime() < patience) {
                if (collects) {
                    System.gc();
                }
                LockSupport.parkNanos(10_000_000);
            }
            assertThat(LiveLeases.count()).as("leases").isZero();
            assertThat(host.counters().buffers()).as("buffers in use").isZero();
            assertThat(host.counters().pins()).isZero();
        } finally {
            System.setErr(before);
        }
        return logged.toString(StandardCharsets.UTF_8);
    }
}
