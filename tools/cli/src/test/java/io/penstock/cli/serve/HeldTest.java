// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.netty.http.FileParts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Who closes what when a request is cancelled: one owner, at every moment. */
@Tag("slow")
class HeldTest {

    private static final int CANCELS = 20_000;
    private static final int FILES = 40;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final AtomicInteger closed = new AtomicInteger();

    @Test
    void aHeldResourceIsClosedOnce() {
        Held held = new Held();
        assertThat(held.hold(closed::incrementAndGet)).isTrue();
        assertThat(closed).hasValue(0);
        held.close();
        held.close();
        assertThat(closed).hasValue(1);
    }

    @Test
    void aReleasedResourceIsNotClosed() {
        Held held = new Held();
        AutoCloseable thing = closed::incrementAndGet;
        assertThat(held.hold(thing)).isTrue();
        assertThat(held.release(thing)).isTrue();
        held.close();
        assertThat(closed).hasValue(0);
        assertThat(held.release(thing)).as("after the end").isFalse();
    }

    @Test
    void aLateResourceIsClosedAtOnce() {
        Held held = new Held();
        held.close();
        assertThat(held.hold(closed::incrementAndGet)).isFalse();
        assertThat(closed).hasValue(1);
    }

    /** At every point between the look for a file and its last byte. */
    @Test
    void aStormOfCancelsLeavesNothing(@TempDir Path folder) throws IOException {
        ServedDirectory directory = new ServedDirectory(folder);
        List<FoundFile> found = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            Files.write(folder.resolve("f" + i), new byte[200_000]);
            found.add(directory.find(new RequestPath(List.of("f" + i))).orElseThrow());
        }
        Options direct = Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
        try (Backend backend = Backends.open("host", direct);
                OpenFiles files = new OpenFiles(backend, directory, 2)) {
            LeasedContents contents = new LeasedContents(backend, files, 64 << 10, 2, false);
            Random random = new Random(1);
            for (int i = 0; i < CANCELS; i++) {
                Disposable request = request(contents, found.get(random.nextInt(FILES)));
                LockSupport.parkNanos(random.nextInt(200_000));
                request.dispose();
            }
            long end = System.nanoTime() + PATIENCE_NANOS;
            while (files.uses() > 0 || open(folder) > 2) { // as many stay open for the next request
                assertThat(System.nanoTime() - end)
                        .as("%d uses, %d open files", files.uses(), open(folder))
                        .isNegative();
                LockSupport.parkNanos(1_000_000);
            }
            assertThat(files.uses()).isZero();
        }
        assertThat(open(folder)).isZero();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatIsInThePageCacheIsSentByTheKernelIfThatIsWanted(@TempDir Path folder) throws IOException {
        ServedDirectory directory = new ServedDirectory(folder);
        Files.write(folder.resolve("f"), new byte[200_000]);
        FoundFile found = directory.find(new RequestPath(List.of("f"))).orElseThrow();
        try (Backend backend = Backends.open("host");
                OpenFiles files = new OpenFiles(backend, directory, 2)) {
            for (boolean sendfile : new boolean[] {true, false}) {
                LeasedContents contents = new LeasedContents(backend, files, 64 << 10, 2, sendfile);
                List<Boolean> cached = new ArrayList<>();
                contents.use(
                                found,
                                content -> Mono.fromRunnable(() -> content.cached(FileParts.of(5, 100_000))
                                        .ifPresentOrElse(
                                                region -> {
                                                    cached.add(region.position() == 5 && region.count() == 100_000);
                                                    region.release();
                                                },
                                                () -> cached.add(false))))
                        .block();
                assertThat(cached).containsExactly(sendfile && !backend.isFallback());
            }
        }
        assertThat(open(folder)).isZero();
    }

    private static Disposable request(LeasedContents contents, FoundFile file) {
        return contents.use(
                        file,
                        content -> Flux.from(content.bytes(FileParts.of(0, file.size())))
                                .doOnNext(bytes -> bytes.release())
                                .then())
                .onErrorResume(e -> Mono.empty())
                .subscribe();
    }

    /** Returns how many descriptors of this process are of files in {@code folder}. */
    private static long open(Path folder) throws IOException {
        Path real = folder.toRealPath();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(descriptor -> leadsInto(descriptor, real)).count();
        }
    }

    private static boolean leadsInto(Path descriptor, Path folder) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(folder);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}
