// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.backend.gl.context.BufferCalls;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlDrawing;
import io.penstock.backend.gl.platform.EglPlatform;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** An application that draws: an EGL context of its own, current on a thread of its own. */
final class Application implements AutoCloseable {

    private static final int SIDE = 64;

    /** On Mesa's one thread some tenths of a second: long enough that code which does not wait comes first. */
    private static final int STEPS = 100_000;

    private static final String EVERYWHERE = """
            #version 430 core
            void main() {
                gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1);
            }
            """;

    /** Shows the first byte of a buffer, after some thought. */
    private static final String SLOW = """
            #version 430 core
            layout(std430, binding = 0) readonly buffer Words { uint word[]; };
            uniform int steps;
            layout(location = 0) out vec4 colour;
            void main() {
                float x = 0.0;
                for (int i = 0; i < steps; i++) {
                    x = fract(x * 1.37 + float(i) * 0.013);
                }
                colour = vec4(float(word[0] & 255u) / 255.0, x * 0.0001, 0, 1);
            }
            """;

    private final ExecutorService thread = Executors.newSingleThreadExecutor(r -> new Thread(r, "application"));
    private final List<Long> contexts = new ArrayList<>(); // the thread's
    private final long display;
    private final long context;
    private int program; // the thread's, as all below
    private int drawn;

    Application() {
        GlSubject.require();
        display = EglPlatform.find(Options.none().resolve(Backends.options())).display();
        context = on(() -> {
            Egl.eglBindAPI(Egl.EGL_OPENGL_API);
            long made = create(0);
            Egl.eglMakeCurrent(display, 0, 0, made);
            return made;
        });
    }

    private long create(long shared) {
        int[] core = {Egl.EGL_CONTEXT_MAJOR_VERSION, 4, Egl.EGL_CONTEXT_MINOR_VERSION, 5, Egl.EGL_NONE};
        long made = Egl.eglCreateContext(display, 0, shared, core);
        assertThat(made).as("%x", Egl.eglGetError()).isNotZero();
        contexts.add(made);
        return made;
    }

    long display() {
        return display;
    }

    long context() {
        return context;
    }

    /** Returns a context that shares with this one, and is not current anywhere. */
    long anotherContext() {
        return on(() -> create(context));
    }

    /** Runs something on the thread of the context. */
    <T> T on(Supplier<T> calls) {
        return CompletableFuture.supplyAsync(calls, thread).join();
    }

    void run(Runnable calls) {
        CompletableFuture.runAsync(calls, thread).join();
    }

    /** Makes a buffer as applications do. */
    int buffer(byte[] content) {
        return buffer(content.length, 0);
    }

    /** Makes a buffer as the manual of AMD's extension wants it. */
    int visibleBuffer(int bytes) {
        return buffer(bytes, Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT);
    }

    int buffer(int bytes, int flags) {
        return on(() -> {
            int[] name = new int[1];
            Gl.glCreateBuffers(1, name);
            Gl.glNamedBufferStorage(name[0], bytes, 0, flags);
            return name[0];
        });
    }

    void delete(int buffer) {
        run(() -> {
            BufferCalls.delete(buffer);
            Gl.glFinish();
        });
    }

    /** Makes a texture of one level, filled with a byte; one slice for two dimensions. */
    int texture(int format, ImageRegion.Texels size, int filled) {
        return on(() -> {
            boolean flat = size.z() == 1;
            int[] name = new int[1];
            GlDrawing.glCreateTextures(flat ? GlDrawing.GL_TEXTURE_2D : GlDrawing.GL_TEXTURE_3D, 1, name);
            if (flat) {
                GlDrawing.glTextureStorage2D(name[0], 1, format, size.x(), size.y());
            } else {
                GlDrawing.glTextureStorage3D(name[0], 1, format, size.x(), size.y(), size.z());
            }
            byte[] texel = {(byte) filled, (byte) filled, (byte) filled, (byte) filled};
            GlDrawing.glClearTexImage(name[0], 0, GlDrawing.GL_RGBA, GlDrawing.GL_UNSIGNED_BYTE, texel);
            Gl.glFinish();
            assertThat(Gl.glGetError()).isZero();
            return name[0];
        });
    }

    /** Returns the texels of a texture, row by row. */
    byte[] texels(int texture, int components, int bytes) {
        return on(() -> {
            byte[] texels = new byte[bytes];
            GlDrawing.glPixelStorei(GlDrawing.GL_PACK_ALIGNMENT, 1);
            GlDrawing.glGetTextureImage(texture, 0, components, GlDrawing.GL_UNSIGNED_BYTE, bytes, texels);
            assertThat(Gl.glGetError()).isZero();
            return texels;
        });
    }

    void deleteTexture(int texture) {
        run(() -> GlDrawing.glDeleteTextures(1, new int[] {texture}));
    }

    /** Waits, in the order of the context, for a fence, and returns what is in a buffer then. */
    byte[] content(long fence, long buffer, int bytes) {
        return on(() -> {
            if (fence != 0) {
                Gl.glWaitSync(fence, 0, Gl.GL_TIMEOUT_IGNORED);
            }
            byte[] content = new byte[bytes];
            GlDrawing.glGetNamedBufferSubData((int) buffer, 0, bytes, content);
            assertThat(Gl.glGetError()).isZero();
            return content;
        });
    }

    /** Draws from a buffer, which takes its time; returns the fence behind it. */
    long drawSlowly(long buffer) {
        return on(() -> {
            prepare();
            GlDrawing.glBindBufferBase(GlDrawing.GL_SHADER_STORAGE_BUFFER, 0, (int) buffer);
            GlDrawing.glDrawArrays(GlDrawing.GL_TRIANGLES, 0, 3);
            long fence = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            Gl.glFlush();
            assertThat(Gl.glGetError()).isZero();
            return fence;
        });
    }

    private void prepare() {
        if (program == 0) {
            program = GlDrawing.program(EVERYWHERE, SLOW);
            int[] name = new int[1];
            GlDrawing.glCreateVertexArrays(1, name);
            GlDrawing.glBindVertexArray(name[0]);
            GlDrawing.glUseProgram(program);
            byte[] steps = "steps\0".getBytes(StandardCharsets.US_ASCII);
            GlDrawing.glUniform1i(GlDrawing.glGetUniformLocation(program, steps), STEPS);
            GlDrawing.glViewport(0, 0, SIDE, SIDE);
        }
        // A picture of its own, so that an earlier one can still be looked at.
        int[] name = new int[1];
        GlDrawing.glCreateTextures(GlDrawing.GL_TEXTURE_2D, 1, name);
        drawn = name[0];
        GlDrawing.glTextureStorage2D(drawn, 1, GlDrawing.GL_RGBA8, SIDE, SIDE);
        GlDrawing.glCreateFramebuffers(1, name);
        GlDrawing.glNamedFramebufferTexture(name[0], GlDrawing.GL_COLOR_ATTACHMENT0, drawn, 0);
        GlDrawing.glBindFramebuffer(GlDrawing.GL_FRAMEBUFFER, name[0]);
    }

    /** Returns the picture that was asked for last, to be looked at by {@link #seen}. */
    int picture() {
        return on(() -> drawn);
    }

    /** Returns the first byte of the buffer as every pixel of a picture has seen it, once. */
    List<Integer> seen(int picture) {
        return on(() -> {
            byte[] pixels = new byte[4 * SIDE * SIDE];
            GlDrawing.glGetTextureImage(
                    picture, 0, GlDrawing.GL_RGBA, GlDrawing.GL_UNSIGNED_BYTE, pixels.length, pixels);
            List<Integer> values = new ArrayList<>();
            for (int i = 0; i < pixels.length; i += 4) {
                if (!values.contains(pixels[i] & 255)) {
                    values.add(pixels[i] & 255);
                }
            }
            return values;
        });
    }

    void deleteFence(long fence) {
        run(() -> Gl.glDeleteSync(fence));
    }

    @Override
    public void close() {
        run(() -> {
            assertThat(Gl.glGetError()).as("errors left in the context").isZero();
            Egl.eglMakeCurrent(display, 0, 0, 0);
            contexts.forEach(made -> Egl.eglDestroyContext(display, made));
            Egl.eglReleaseThread();
        });
        thread.shutdown();
    }
}
