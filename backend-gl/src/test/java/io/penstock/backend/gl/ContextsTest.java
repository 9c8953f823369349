// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static io.penstock.backend.gl.GlFixture.get;
import static io.penstock.backend.gl.GlFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.GlDrawing;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.backend.gl.platform.EglDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whose context a backend works in. */
class ContextsTest {

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

    @Test
    void contextsAreCreatedOnEveryDeviceThatEglLists() {
        List<String> devices = new ArrayList<>(List.of("auto", "surfaceless"));
        EglDevice.all().forEach(device -> devices.add(Integer.toString(device.index())));
        assertThat(devices).hasSizeGreaterThan(2);
        for (String device : devices) {
            Backend backend = fixture.keep(Backends.open("gl", Options.none().with(GlOptions.DEVICE, device)));
            fixture.assertWorks(backend);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void bytesReadInASharingContextAreVisibleToTheApplicationAfterTheFence(GlPath path) {
        Backend backend =
                fixture.keep(GlBackends.sharing(application.display(), application.context(), GlFixture.options(path)));
        assertSeenByTheApplication(backend, path);
    }

    private void assertSeenByTheApplication(Backend backend, GlPath path) {
        byte[] bytes = random(5 << 20, 1);
        StorageFile file = fixture.open(backend, "data", bytes);
        DeviceBuffer buffer = fixture.buffer(backend, bytes.length);
        DeviceFence fence = fixture.keep(get(backend.enqueue(Transfer.read(file.all(), buffer.all()))));
        assertThat(fence.nativeHandle()).isNotZero();
        assertThat(application.content(fence.nativeHandle(), buffer.nativeHandle(), bytes.length))
                .isEqualTo(bytes);
        assertThat(get(fence.outcome()).path()).isEqualTo(TransferPath.valueOf(path.name()));
    }

    @Test
    void theContextThatIsCurrentWhereTheBackendIsOpenedIsSharedWith() {
        Options current = GlFixture.options(GlPath.STAGED).with(GlOptions.CONTEXT, "current");
        Backend backend = fixture.keep(application.on(() -> Backends.open("gl", current)));
        assertSeenByTheApplication(backend, GlPath.STAGED);
        assertThat(application.on(Egl::eglGetCurrentContext))
                .as("still current")
                .isEqualTo(application.context());
    }

    @Test
    void aContextThatIsHandedOverIsUsedByOneThreadAndGivenBackAtTheEnd() {
        long handed = application.anotherContext();
        List<String> said = new CopyOnWriteArrayList<>();
        SharedContext context = new SharedContext() {
            @Override
            public void makeCurrent() {
                said.add("current on " + Thread.currentThread().getName());
                Egl.eglBindAPI(Egl.EGL_OPENGL_API);
                Egl.eglMakeCurrent(application.display(), 0, 0, handed);
            }

            @Override
            public void release() {
                said.add("released on " + Thread.currentThread().getName());
                Egl.eglMakeCurrent(application.display(), 0, 0, 0);
            }
        };
        Backend backend = fixture.keep(GlBackends.in(context, GlFixture.options(GlPath.STAGED)));
        assertSeenByTheApplication(backend, GlPath.STAGED);
        assertThat(said).containsExactly("current on penstock-gl");
        fixture.close();
        assertThat(said).containsExactly("current on penstock-gl", "released on penstock-gl");
    }

    @Test
    void anApplicationWithoutAWindowDrawsInAContextThatTheBackendSharesWith() {
        HeadlessContext headless = HeadlessContext.open(GlFixture.options(GlPath.STAGED));
        try (headless) {
            assertThat(Egl.eglGetCurrentContext()).isEqualTo(headless.context()).isNotZero();
            byte[] bytes = random(100_000, 3);
            try (Backend backend = headless.share()) {
                DeviceBuffer buffer = get(backend.allocate(bytes.length));
                Path path = fixture.file("drawn", bytes);
                get(backend.withFile(
                        path, FileOption.READ, file -> backend.submit(Transfer.read(file.all(), buffer.all()))));
                byte[] seen = new byte[bytes.length];
                GlDrawing.glGetNamedBufferSubData((int) buffer.nativeHandle(), 0, seen.length, seen);
                assertThat(seen).isEqualTo(bytes);
            }
            CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(headless::close);
            assertThatThrownBy(elsewhere::join).hasRootCauseInstanceOf(IllegalStateException.class);
            assertThat(Egl.eglGetCurrentContext()).isEqualTo(headless.context());
        }
        assertThat(Egl.eglGetCurrentContext()).isZero();
        headless.close();
    }

    @Test
    void aContextThatCannotBeMadeCurrentIsNoContext() {
        SharedContext nothing = new SharedContext() {
            @Override
            public void makeCurrent() {
                // as an application does whose window is gone
            }

            @Override
            public void release() {
                // there is none
            }
        };
        assertThatThrownBy(() -> GlBackends.in(nothing, Options.none()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no context: no OpenGL context is current on thread penstock-gl");
    }

    @Test
    void aThreadWithoutAContextHasNoneToShareWith() {
        Options current = Options.none().with(GlOptions.CONTEXT, "current");
        String reason = "no context: penstock.gl.context=current, but no EGL context is current on thread "
                + Thread.currentThread().getName();
        assertThatThrownBy(() -> Backends.open("gl", current))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(reason);
        assertThat(new GlProvider().probe(current.resolve(Backends.options())).reason())
                .isEqualTo(reason);
    }

    @Test
    void aContextThatEglDoesNotKnowIsRefused() {
        assertThatThrownBy(() -> GlBackends.sharing(application.display(), 0x1234, Options.none()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("EGL has no context 0x1234")
                .hasMessageContaining("EGL_BAD_CONTEXT");
    }

    @Test
    void theApplicationsOwnBuffersAreFilledAndItsMistakesNamed() {
        Backend backend = fixture.keep(
                GlBackends.sharing(application.display(), application.context(), GlFixture.options(GlPath.HOST)));
        byte[] bytes = random(100_000, 2);
        StorageFile file = fixture.open(backend, "data", bytes);
        int name = application.buffer(new byte[bytes.length]);
        DeviceBuffer wrapped = fixture.keep(backend.wrap(name, bytes.length));
        assertThat(wrapped.nativeHandle()).isEqualTo(name);
        assertThat(wrapped.hostView())
                .as("the application's, which may map it itself")
                .isEmpty();
        assertThat(GlFixture.move(backend, Transfer.read(file.all(), wrapped.all()))
                        .path())
                .isEqualTo(TransferPath.STAGED);
        assertThat(application.content(0, name, bytes.length)).isEqualTo(bytes);

        assertThatThrownBy(() -> backend.wrap(name, bytes.length + 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 100000 bytes, not 100001");
        for (long none : new long[] {0, 4711, -1, 1L << 40}) {
            assertThatThrownBy(() -> backend.wrap(none, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the GL buffer " + none + " is not valid");
        }
    }

    @Test
    void theProbeReportsTheDevicesAndLeavesNothing() {
        var probe = new GlProvider().probe(Options.none().resolve(Backends.options()));
        assertThat(probe.available()).isTrue();
        assertThat(probe.details())
                .anyMatch(line -> line.startsWith("display: "))
                .anyMatch(line -> line.startsWith("EGL device 0"))
                .anyMatch(line -> line.startsWith("staging buffers, past the page cache: "))
                .anyMatch(line -> line.startsWith("OpenGL "));
        boolean software = probe.reason().toLowerCase(Locale.ROOT).contains("llvmpipe");
        assertThat(probe.hardware()).isEqualTo(!software);
    }

    @Test
    void unknownDevicesAndContextsAreTheCallersMistake() {
        for (String device : new String[] {"first", "-1", "1.5"}) {
            assertThatThrownBy(() -> Backends.open("gl", Options.none().with(GlOptions.DEVICE, device)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("penstock.gl.device=" + device);
        }
        assertThatThrownBy(() -> Backends.open("gl", Options.none().with(GlOptions.CONTEXT, "mine")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.gl.context=mine");
    }
}
