// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.renderer.gl.ffi.GlCalls;
import io.penstock.renderer.volume.Kernels;
import java.util.HashMap;
import java.util.Map;

/**
 * The kernels of {@code compose.comp}, one program each, compiled by the driver at first use.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class ComputePrograms implements AutoCloseable {

    private final String source = Kernels.source("compose.comp");
    private final Map<String, Integer> programs = new HashMap<>();

    /**
     * Returns the program of a kernel.
     *
     * @throws IllegalStateException with the compiler's log
     */
    int program(String kernel) {
        return programs.computeIfAbsent(kernel, this::compiled);
    }

    private int compiled(String kernel) {
        int shader = GlCalls.glCreateShader(GlCalls.GL_COMPUTE_SHADER);
        int program = GlCalls.glCreateProgram();
        try {
            GlCalls.source(shader, "#version 430 core\n#define KERNEL_" + kernel + "\n#line 1\n" + source);
            GlCalls.glCompileShader(shader);
            int[] done = new int[1];
            GlCalls.glGetShaderiv(shader, GlCalls.GL_COMPILE_STATUS, done);
            if (done[0] == 0) {
                throw new IllegalStateException("glCompileShader of " + kernel + ": " + GlCalls.shaderLog(shader));
            }
            GlCalls.glAttachShader(program, shader);
            GlCalls.glLinkProgram(program);
            GlCalls.glGetProgramiv(program, GlCalls.GL_LINK_STATUS, done);
            if (done[0] == 0) {
                throw new IllegalStateException("glLinkProgram of " + kernel + ": " + GlCalls.programLog(program));
            }
            GlApplication.check("glLinkProgram of " + kernel);
            return program;
        } catch (RuntimeException | Error e) {
            GlCalls.glDeleteProgram(program);
            throw e;
        } finally {
            GlCalls.glDeleteShader(shader);
        }
    }

    @Override
    public void close() {
        programs.values().forEach(GlCalls::glDeleteProgram);
        programs.clear();
    }
}
