// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.CommonOptions.Delivery;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** Clients that leave during a call of the file system, which then fails: nothing is logged. */
class CancelledCallsTest {

    @TempDir
    Path folder;

    private final Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean next = new AtomicBoolean(); // the next task is the call
    private final BaseSubscriber<Object> subscriber = new BaseSubscriber<>() {};
    private Backend backend;
    private HttpFiles files;

    @BeforeEach
    void open() {
        backend = Backends.open("host", Options.none().with(CommonOptions.DELIVERY, Delivery.DIRECT));
        files = new HttpFiles(backend);
        Hooks.onErrorDropped(dropped::add);
    }

    @AfterEach
    void close() {
        Hooks.resetOnErrorDropped();
        Schedulers.resetOnScheduleHook("call");
        backend.close();
    }

    /** Subscribes, and awaits the call, on whose thread {@code before} runs first. */
    private void await(Mono<?> use, Runnable before) throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        Schedulers.onScheduleHook("call", task -> {
            if (!next.compareAndSet(true, false)) {
                return task;
            }
            return () -> {
                before.run();
                task.run();
                ended.countDown();
            };
        });
        use.subscribe(subscriber);
        ended.await();
        assertThat(dropped).isEmpty();
    }

    private static MockServerWebExchange exchange() {
        return MockServerWebExchange.from(MockServerHttpRequest.get("/").build());
    }

    @Test
    void ofAFileThatIsOpened() throws InterruptedException {
        next.set(true);
        await(files.send(folder.resolve("none"), exchange()), subscriber::cancel);
    }

    @Test
    void ofAPathThatIsLookedAtSinceItCannotBeOpened() throws InterruptedException {
        ServerWebExchange exchange = Watched.like(ServerWebExchange.class, exchange(), (method, arguments) -> {
            if (method.equals("getResponse")) {
                next.set(true);
            }
        });
        await(files.send(folder, exchange), subscriber::cancel);
    }

    /** As Reactor Netty's {@code AbortedException}: the connection was closed before the bytes were sent. */
    @Test
    void ofAResponseThatCannotBeWritten() throws InterruptedException, IOException {
        Path file = Files.writeString(folder.resolve("file"), "bytes");
        MockServerWebExchange exchange = exchange();
        exchange.getResponse()
                .setWriteHandler(body -> Mono.error(() -> {
                    subscriber.cancel();
                    return new IOException("the connection is closed");
                }));
        next.set(true);
        await(files.send(file, exchange), () -> {});
        assertThat(subscriber.isDisposed()).isTrue();
    }

    @Test
    void ofAFileThatCannotBeReceived() throws InterruptedException {
        next.set(true);
        await(files.receive(Flux.never(), folder.resolve("none").resolve("file")), subscriber::cancel);
    }

    /** As where the client leaves between a failure and its delivery on another thread. */
    @Test
    void ofWhatIsDeliveredBehindTheEnd() {
        HttpFiles late = new HttpFiles((Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("capabilities")) {
                        return backend.capabilities();
                    }
                    return Mono.deferContextual(context -> {
                        Operators.onErrorDropped(new IOException("late"), Context.of(context));
                        return Mono.error(new IOException("in time"));
                    });
                }));
        assertThatThrownBy(() -> late.send(folder.resolve("none"), exchange()).block())
                .hasMessageContaining("in time");
        assertThatThrownBy(
                        () -> late.receive(Flux.empty(), folder.resolve("new")).block())
                .hasMessageContaining("in time");
        assertThat(dropped).isEmpty();
    }

    private Mono<Long> cancelled(CountDownLatch asked, Callable<Long> size) {
        return Mono.fromCallable(() -> {
            try {
                subscriber.cancel();
                return size.call();
            } finally {
                asked.countDown();
            }
        });
    }

    /** User code that asks a file, a buffer or a chunk which its own cancel has closed. */
    @ParameterizedTest
    @ValueSource(strings = {"file", "transfers", "buffer", "stream", "write"})
    void ofUserCodeThatAsksForWhatTheCancelHasClosed(String use) throws Exception {
        Path path = Files.write(folder.resolve("file"), new byte[100]);
        CountDownLatch asked = new CountDownLatch(1);
        Publisher<?> used = switch (use) {
            case "file" -> backend.withFile(path, FileOption.READ, file -> cancelled(asked, file::size));
            case "transfers" ->
                backend.withFile(
                        path,
                        FileOption.READ,
                        file -> backend.submit(
                                        cancelled(asked, file::size).flux().cast(Transfer.class))
                                .then());
            case "buffer" ->
                backend.withBuffer(
                        10,
                        buffer -> cancelled(asked, () -> (long)
                                buffer.hostView().orElseThrow().buffer(0, 1).get(0)));
            case "stream" ->
                backend.stream(
                        StreamPlan.of(path),
                        chunk -> cancelled(asked, () -> (long) chunk.view().get(0)));
            default ->
                backend.write(
                        WritePlan.to(path),
                        chunk -> cancelled(asked, () -> (long) chunk.view().get(0)));
        };
        Flux.from(used).subscribe(subscriber);
        asked.await();
        backend.close();
        assertThat(dropped).isEmpty();
    }
}
