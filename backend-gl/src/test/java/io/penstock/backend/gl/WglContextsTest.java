// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.Wgl;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.backend.gl.platform.WglContext;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.tck.Require;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contexts of Windows': handed over to a backend, lent to one, and made by it. */
class WglContextsTest {

    private static final int BYTES = 300_000;
    private static final Options STAGED = Options.none().with(GlOptions.PATH, GlPath.STAGED);

    @TempDir
    Path folder;

    private final byte[] content = GlFixture.random(BYTES, 1);
    private WglContext application;
    private Path path;

    @BeforeEach
    void drawing() throws Exception {
        Require.backend("wgl", Wgl.isHere() ? null : "WGL is a part of Windows");
        GlSubject.require();
        path = Files.write(folder.resolve("content"), content);
        application = new WglContext(0);
        application.begin();
    }

    @AfterEach
    void end() {
        if (application != null) {
            application.end();
        }
    }

    /** Makes a buffer in the application's context. */
    private static int buffer() {
        int[] name = new int[1];
        Gl.glCreateBuffers(1, name);
        Gl.glNamedBufferStorage(name[0], BYTES, 0, Gl.GL_MAP_READ_BIT | Gl.GL_MAP_PERSISTENT_BIT);
        return name[0];
    }

    /** Returns what the application's context sees in it. */
    private static byte[] seen(int name) {
        long at = Gl.glMapNamedBufferRange(name, 0, BYTES, Gl.GL_MAP_READ_BIT | Gl.GL_MAP_PERSISTENT_BIT);
        assertThat(at).isNotZero();
        byte[] seen = new byte[BYTES];
        NativeMemory.view(at, BYTES).get(seen);
        return seen;
    }

    /** A context that was made on the application's thread, and is used on the backend's. */
    private static final class Handed implements SharedContext {
        private final long dc;
        private final long context;
        boolean released;

        Handed(WglContext made) {
            dc = made.dc();
            context = made.handle();
        }

        @Override
        public void makeCurrent() {
            assertThat(Wgl.wglMakeCurrent(dc, context)).isNotZero();
        }

        @Override
        public void release() {
            Wgl.wglMakeCurrent(0, 0);
            released = true;
        }
    }

    @Test
    void aContextThatIsHandedOverSharesBuffersAndSyncs() {
        int name = buffer();
        WglContext shared = new WglContext(application.handle());
        shared.begin(); // and so is current here, instead of the application's
        assertThat(Wgl.wglMakeCurrent(application.dc(), application.handle())).isNotZero();
        Handed handed = new Handed(shared);
        try (Backend backend = GlBackends.in(handed, STAGED);
                DeviceBuffer wrapped = backend.wrap(name, BYTES);
                StorageFile file = Objects.requireNonNull(
                        backend.openFile(path, FileOption.READ).block(GlFixture.LONG))) {
            long sync = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            Gl.glFlush();
            Transfer read = Transfer.read(file.all(), wrapped.all()).after(backend.fence(sync));
            assertThat(GlFixture.move(backend, read).bytes()).isEqualTo(BYTES);
            Gl.glDeleteSync(sync);
            assertThat(seen(name)).isEqualTo(content);
        }
        GlFixture.await(() -> handed.released);
        shared.end();
        assertThat(Wgl.wglMakeCurrent(application.dc(), application.handle())).isNotZero();
    }

    @Test
    void anApplicationsOwnContextIsPumped() {
        int name = buffer();
        try (GlPump pump = GlPump.open(STAGED);
                DeviceBuffer wrapped = pump.backend().wrap(name, BYTES)) {
            StorageFile file =
                    Objects.requireNonNull(pump.runUntil(pump.backend().openFile(path, FileOption.READ)));
            assertThat(Objects.requireNonNull(
                                    pump.runUntil(pump.backend().submit(Transfer.read(file.all(), wrapped.all()))))
                            .bytes())
                    .isEqualTo(BYTES);
            file.close();
            assertThat(seen(name)).isEqualTo(content);
        }
        assertThat(Wgl.wglGetCurrentContext()).as("stays the application's").isEqualTo(application.handle());
    }

    @Test
    void aContextOfTheBackendLeavesTheApplicationsContextCurrent() {
        try (Backend backend = new GlProvider().open(Options.none().resolve(Backends.options()));
                StorageFile file = Objects.requireNonNull(
                        backend.openFile(path, FileOption.READ).block(GlFixture.LONG));
                DeviceBuffer buffer =
                        Objects.requireNonNull(backend.allocate(BYTES).block(GlFixture.LONG))) {
            assertThat(GlFixture.move(backend, Transfer.read(file.all(), buffer.all()))
                            .bytes())
                    .isEqualTo(BYTES);
            ByteBuffer read = ByteBuffer.allocate(BYTES);
            buffer.download(0, read).block(GlFixture.LONG);
            assertThat(read.array()).isEqualTo(content);
        }
        assertThat(Wgl.wglGetCurrentContext()).isEqualTo(application.handle());
    }

    @Test
    void optionsForEglOnlyAreRefusedWithTheReason() {
        Options current = Options.none().with(GlOptions.CONTEXT, "current").resolve(Backends.options());
        assertThatThrownBy(() -> new GlProvider().open(current))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no EGL on Windows")
                .hasMessageContaining("GlBackends.in");
        assertThatThrownBy(() -> GlBackends.sharing(1, 1, Options.none()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no EGL on Windows");
        assertThatThrownBy(() -> HeadlessContext.open(Options.none()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no EGL on Windows");
    }
}
