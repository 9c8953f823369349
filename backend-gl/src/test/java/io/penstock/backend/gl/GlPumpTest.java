// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static io.penstock.backend.gl.GlFixture.LONG;
import static io.penstock.backend.gl.GlFixture.filled;
import static io.penstock.backend.gl.GlFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlDrawing;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.options.GlPath;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The application's own context, driven from its render loop. */
class GlPumpTest {

    private static final int BYTES = 5 << 20;

    @TempDir
    Path folder;

    private GlFixture fixture;
    private Application application;

    @BeforeAll
    static void require() {
        GlSubject.require();
    }

    @BeforeEach
    void start() {
        fixture = new GlFixture(folder);
        application = new Application();
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        application.close();
    }

    private void inTheApplication(Runnable calls) {
        application.run(calls);
    }

    private static <T> T run(GlPump pump, Mono<T> mono) {
        return Objects.requireNonNull(pump.runUntil(mono));
    }

    private Mono<StorageFile> data(GlPump pump, byte[] bytes) {
        return pump.backend().openFile(fixture.file("data", bytes), FileOption.READ);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aRenderLoopThatPumpsALittlePerFrameMovesEverything(GlPath path) {
        inTheApplication(() -> {
            try (GlPump pump = GlPump.open(GlFixture.options(path))) {
                byte[] bytes = random(BYTES, 1);
                StorageFile file = run(pump, data(pump, bytes));
                DeviceBuffer buffer = run(pump, pump.backend().allocate(BYTES));
                CompletableFuture<Completion> read = pump.backend()
                        .submit(Transfer.read(file.all(), buffer.all()))
                        .toFuture();
                while (!read.isDone()) {
                    pump.run(Duration.ZERO); // a frame that has no time to spare
                }
                assertThat(read.join().bytes()).isEqualTo(BYTES);
                byte[] seen = new byte[BYTES];
                GlDrawing.glGetNamedBufferSubData((int) buffer.nativeHandle(), 0, BYTES, seen);
                assertThat(seen).isEqualTo(bytes);
                ByteBuffer down = ByteBuffer.allocate(BYTES);
                pump.runUntil(buffer.download(0, down));
                assertThat(down.array()).isEqualTo(bytes);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void toBlockThereThrowsInsteadOfHangingUntilThePumpIsClosed(GlPath path) {
        inTheApplication(() -> {
            GlPump pump = GlPump.open(GlFixture.options(path));
            Backend backend = pump.backend();
            assertThatThrownBy(() -> backend.allocate(4096).block())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("block()");
            assertThatThrownBy(backend::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closeLater()");
            pump.close();
            pump.close();
            assertThat(Mono.just(1).hide().block()).isEqualTo(1);
            assertThatThrownBy(() -> pump.run(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> pump.runUntil(Mono.empty())).isInstanceOf(IllegalStateException.class);
        });
    }

    @Test
    void runUntilGivesTheLastValueNothingOrTheError() {
        inTheApplication(() -> {
            try (GlPump pump = GlPump.open(Options.none())) {
                assertThat(pump.<Integer>runUntil(Flux.range(0, 5).delayElements(Duration.ofMillis(1))))
                        .isEqualTo(4);
                assertThat(pump.<Object>runUntil(Mono.empty())).isNull();
                assertThatThrownBy(() -> pump.runUntil(Mono.error(new NoSuchElementException("none"))))
                        .isInstanceOf(NoSuchElementException.class);
            }
        });
    }

    @Test
    void theApplicationsBindingsAreKeptAndItsErrorsAreCleared() {
        inTheApplication(() -> {
            int[] names = new int[2];
            Gl.glCreateBuffers(2, names);
            try (GlPump pump = GlPump.open(GlFixture.options(GlPath.STAGED))) {
                StorageFile file = run(pump, data(pump, filled(4096, 7)));
                DeviceBuffer buffer = run(pump, pump.backend().allocate(4096));
                Gl.glBindBuffer(Gl.GL_COPY_READ_BUFFER, names[0]);
                Gl.glBindBuffer(Gl.GL_COPY_WRITE_BUFFER, names[1]);
                GlDrawing.glEnable(0x7fff);
                Transfer read = Transfer.read(file.all(), buffer.all());
                assertThat(run(pump, pump.backend().submit(read)).bytes()).isEqualTo(4096);
                assertThat(Gl.glGetError()).isEqualTo(GlError.NO_ERROR);
                int[] bound = new int[1];
                Gl.glGetIntegerv(Gl.GL_COPY_READ_BUFFER, bound);
                assertThat(bound[0]).isEqualTo(names[0]);
                Gl.glGetIntegerv(Gl.GL_COPY_WRITE_BUFFER, bound);
                assertThat(bound[0]).isEqualTo(names[1]);
            }
            Gl.glDeleteBuffers(2, names);
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aFenceOfThePumpIsBehindWhatWasDrawn(GlPath path) {
        AtomicReference<GlPump> opened = new AtomicReference<>();
        inTheApplication(() -> {
            GlPump pump = GlPump.open(GlFixture.options(path));
            opened.set(pump);
        });
        GlPump pump = opened.get();
        DeviceBuffer buffer = application.on(() -> {
            DeviceBuffer made = run(pump, pump.backend().allocate(4096));
            StorageFile old = run(pump, data(pump, filled(4096, 50)));
            run(pump, pump.backend().submit(Transfer.read(old.all(), made.all())));
            return made;
        });
        long drawn = application.drawSlowly(buffer.nativeHandle());
        application.run(() -> {
            DeviceFence fence = pump.fence();
            StorageFile next = run(pump, pump.backend().openFile(fixture.file("next", filled(4096, 200))));
            Transfer read = Transfer.read(next.all(), buffer.all()).after(fence);
            assertThat(run(pump, pump.backend().submit(read)).bytes()).isEqualTo(4096);
            assertThat(fence.isSignalled()).isTrue();
            assertThat(fence.nativeHandle()).isNotZero();
            fence.close();
        });
        assertThat(application.seen(application.picture())).containsExactly(50);
        application.deleteFence(drawn);
        application.run(pump::close);
    }

    @Test
    void anotherThreadMayUseTheBackendButNotThePump() throws Exception {
        AtomicReference<GlPump> opened = new AtomicReference<>();
        inTheApplication(() -> opened.set(GlPump.open(GlFixture.options(GlPath.STAGED))));
        GlPump pump = opened.get();
        assertThatThrownBy(() -> pump.run(Duration.ZERO))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("belongs to application");
        CompletableFuture<Void> loop = CompletableFuture.runAsync(() -> application.run(pump::runUntilClosed));
        fixture.assertWorks(fixture.keep(pump.backend()));
        fixture.close();
        loop.get(LONG.toSeconds(), TimeUnit.SECONDS);
        application.run(pump::close);
    }

    @Test
    void aWaitForAPumpThatIsNotRunCanBeInterrupted() throws Exception {
        AtomicReference<GlPump> opened = new AtomicReference<>();
        inTheApplication(() -> opened.set(GlPump.open(GlFixture.options(GlPath.STAGED))));
        Backend backend = opened.get().backend();
        List<Throwable> seen = new ArrayList<>();
        Thread waiting = new Thread(() -> {
            try {
                backend.wrap(1, 1);
            } catch (TransientStorageException e) {
                seen.add(e);
            }
        });
        waiting.start();
        waiting.interrupt();
        waiting.join(LONG.toMillis());
        assertThat(seen)
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .hasMessageContaining("wrapping of the GL buffer 1 was not started")
                        .hasMessageContaining("a GlPump must be run"));
        application.run(opened.get()::close);
    }

    @Test
    void aThreadHasOnePumpAndAContext() {
        assertThatThrownBy(() -> GlPump.open(Options.none()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no context: no OpenGL context is current on thread");
        inTheApplication(() -> {
            try (GlPump pump = GlPump.open(Options.none())) {
                assertThat(pump.backend().name()).isEqualTo("gl");
                assertThatThrownBy(() -> GlPump.open(Options.none())).isInstanceOf(IllegalStateException.class);
            }
        });
    }
}
