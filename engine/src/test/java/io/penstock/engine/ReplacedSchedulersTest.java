// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.resource.FileThreads;
import io.penstock.engine.resource.Offload;
import io.penstock.engine.spi.Limits;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Reactor's schedulers are replaced while the process lives: by each test with virtual time, and by applications. Those
 * that were there before are shut down.
 */
class ReplacedSchedulersTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    @AfterEach
    void reset() {
        VirtualTimeScheduler.reset();
    }

    static Stream<Options> options() {
        return Stream.of(CommonOptions.Delivery.values())
                .map(delivery -> Options.none().with(CommonOptions.DELIVERY, delivery))
                .flatMap(options -> Stream.of(
                        options, options.with(CommonOptions.DEBUG, true), options.with(CommonOptions.POLL_MICROS, 20)));
    }

    private static void use(Backend backend, Options options) {
        boolean elastic = options.get(CommonOptions.DELIVERY) == CommonOptions.Delivery.ELASTIC;
        StorageFile file = Objects.requireNonNull(
                backend.openFile(Path.of("file"), FileOption.WRITE).block(LONG));
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        Transfer transfer = Transfer.write(buffer.all(), file.region(0, 100));
        assertThat(backend.submit(transfer)
                        .map(done -> Thread.currentThread().getName())
                        .block(LONG))
                .matches(thread -> !elastic || thread.startsWith("boundedElastic-"));
        assertThat(backend.submit(Flux.just(transfer)).blockLast(LONG)).isNotNull();
        file.sync().block(LONG);
        buffer.close();
        file.close();
    }

    private static Backend open(Options options) {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        return Engine.open("replaced", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    @ParameterizedTest
    @MethodSource("options")
    void aBackendThatWasOpenBeforeIsUsable(Options options) {
        try (Backend backend = open(options)) {
            use(backend, options);
            VirtualTimeScheduler.getOrSet();
            VirtualTimeScheduler.reset();
            use(backend, options);
        }
    }

    @ParameterizedTest
    @MethodSource("options")
    void aBackendThatWasOpenedMeanwhileIsUsable(Options options) {
        VirtualTimeScheduler.getOrSet();
        try (Backend backend = open(options)) {
            VirtualTimeScheduler.reset();
            use(backend, options);
        }
    }

    /** As in a process whose first file is opened in a test with virtual time. */
    @Test
    void threadsOfTheProcessThatWereFirstUsedMeanwhileRunCalls() throws Exception {
        URL[] classes = {Offload.class.getProtectionDomain().getCodeSource().getLocation()};
        try (URLClassLoader fresh = new FreshLoader(classes)) {
            Class<?> files = fresh.loadClass(FileThreads.class.getName());
            Class<?> offload = fresh.loadClass(Offload.class.getName());
            VirtualTimeScheduler.getOrSet();
            Object shared = files.getMethod("shared").invoke(null);
            Scheduler remote =
                    (Scheduler) offload.getMethod("scheduler", boolean.class).invoke(null, true);
            VirtualTimeScheduler.reset();
            CompletableFuture<String> file = new CompletableFuture<>();
            files.getMethod("run", Path.class, Runnable.class)
                    .invoke(shared, Path.of("file"), (Runnable) () -> file.complete(name()));
            CompletableFuture<String> call = new CompletableFuture<>();
            remote.schedule(() -> call.complete(name()));
            assertThat(file.get(10, TimeUnit.SECONDS)).startsWith("penstock-file-");
            assertThat(call.get(10, TimeUnit.SECONDS)).startsWith("penstock-remote-");
        }
    }

    private static String name() {
        assertThat(Thread.currentThread().isDaemon()).isTrue();
        return Thread.currentThread().getName();
    }

    /** Loads the engine's classes anew, so that their threads are not created yet. */
    private static final class FreshLoader extends URLClassLoader {

        FreshLoader(URL[] classes) {
            super(classes, ReplacedSchedulersTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null && name.startsWith("io.penstock.engine.resource.")
                        ? findClass(name)
                        : super.loadClass(name, resolve);
            }
        }
    }
}
