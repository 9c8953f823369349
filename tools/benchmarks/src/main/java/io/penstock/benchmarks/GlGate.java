// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceFence;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.benchmarks.ffi.GlFunctions;

/**
 * A long drawing that records when the device has completed it: work that waits for the fence behind it then continues
 * at a known time. GL has no event that the processor can set.
 *
 * <p><b>Threading:</b> the thread of the application's context.
 */
final class GlGate implements Device.Gate {

    private static final long SHUT_NANOS = 2_000_000; // at least: until the waiters are idle
    private static final int MOST_STEPS = 1 << 28;
    private static final int SIDE = 64;
    private static final int STEPS = 0; // location of the uniform
    private static final int CLOCK_READINGS = 16;

    private static final String EVERYWHERE = """
            #version 430 core
            void main() {
                gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1);
            }
            """;

    private static final String SLOW = """
            #version 430 core
            layout(location = 0) uniform int steps;
            layout(location = 0) out vec4 colour;
            void main() {
                float x = 0.0;
                for (int i = 0; i < steps; i++) {
                    x = fract(x * 1.37 + float(i) * 0.013);
                }
                colour = vec4(x);
            }
            """;

    private final int program = GlFunctions.program(
            GlFunctions.shader(GlFunctions.GL_VERTEX_SHADER, EVERYWHERE),
            GlFunctions.shader(GlFunctions.GL_FRAGMENT_SHADER, SLOW));
    private final int[] vertices = new int[1];
    private final int[] picture = new int[1];
    private final int[] frame = new int[1];
    private final int[] times = new int[2]; // queries: before the drawing, and behind it
    private long fence;

    GlGate() {
        GlFunctions.glCreateVertexArrays(1, vertices);
        GlFunctions.glCreateTextures(GlFunctions.GL_TEXTURE_2D, 1, picture);
        GlFunctions.glTextureStorage2D(picture[0], 1, GlFunctions.GL_RGBA8, SIDE, SIDE);
        GlFunctions.glCreateFramebuffers(1, frame);
        GlFunctions.glNamedFramebufferTexture(frame[0], GlFunctions.GL_COLOR_ATTACHMENT0, picture[0], 0);
        GlFunctions.glCreateQueries(GlFunctions.GL_TIMESTAMP, 2, times);
        GlFunctions.check("the set-up of a drawing");
        slowDown();
    }

    /** Calibrates the work of the drawing. */
    private void slowDown() {
        for (int steps = 256; steps <= MOST_STEPS; steps *= 2) {
            GlFunctions.glProgramUniform1i(program, STEPS, steps);
            shut();
            Gl.glFinish();
            long took = time(times[1]) - time(times[0]);
            done();
            if (took >= SHUT_NANOS) {
                return;
            }
        }
        throw new IllegalStateException("the device draws too fast, or does not report the time");
    }

    /** Starts the drawing; returns the GLsync behind it, which {@link #done()} deletes. */
    @Override
    public long shut() {
        GlFunctions.glQueryCounter(times[0], GlFunctions.GL_TIMESTAMP);
        GlFunctions.glBindFramebuffer(GlFunctions.GL_FRAMEBUFFER, frame[0]);
        GlFunctions.glBindVertexArray(vertices[0]);
        GlFunctions.glViewport(0, 0, SIDE, SIDE);
        GlFunctions.glUseProgram(program);
        GlFunctions.glDrawArrays(GlFunctions.GL_TRIANGLES, 0, 3);
        GlFunctions.glQueryCounter(times[1], GlFunctions.GL_TIMESTAMP);
        fence = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        Gl.glFlush();
        GlFunctions.check("a drawing");
        return fence;
    }

    /** Waits for the drawing and returns when it completed, by the clock of {@link System#nanoTime()}. */
    @Override
    public long opened() {
        long passed = time(times[1]);
        long[] device = new long[1];
        long narrowest = Long.MAX_VALUE;
        long behind = 0;
        for (int i = 0; i < CLOCK_READINGS; i++) {
            long before = System.nanoTime();
            GlFunctions.glGetInteger64v(GlFunctions.GL_TIMESTAMP, device);
            long after = System.nanoTime();
            if (after - before < narrowest) {
                narrowest = after - before;
                behind = before + (after - before) / 2 - device[0];
            }
        }
        return passed + behind;
    }

    @Override
    public void open() {}

    @Override
    public DeviceFence fence(Backend backend, long drawn) {
        return backend.fence(drawn);
    }

    private static long time(int query) {
        long[] nanos = new long[1];
        GlFunctions.glGetQueryObjectui64v(query, GlFunctions.GL_QUERY_RESULT, nanos);
        return nanos[0];
    }

    /** Deletes the fence, once it has no waiters. */
    @Override
    public void done() {
        Gl.glDeleteSync(fence);
    }

    @Override
    public void close() {
        Gl.glFinish();
        GlFunctions.glUseProgram(0);
        GlFunctions.glBindFramebuffer(GlFunctions.GL_FRAMEBUFFER, 0);
        GlFunctions.glDeleteProgram(program);
        GlFunctions.glDeleteFramebuffers(1, frame);
        GlFunctions.glDeleteTextures(1, picture);
        GlFunctions.glDeleteVertexArrays(1, vertices);
        GlFunctions.glDeleteQueries(2, times);
    }
}
