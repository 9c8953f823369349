// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.renderer.gl.ffi.GlCalls;
import io.penstock.renderer.volume.DevicePlace;
import io.penstock.renderer.volume.Kernels;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The kernels as compute shaders in an application's context: memory maps to buffers, addresses to their names, and a
 * slab to a 3D texture.
 *
 * <p><b>Ownership:</b> close it before the application.
 */
public final class GlKernels implements Kernels, AutoCloseable {

    /** The first parameters of each kernel: f the frame, s a slab, b a buffer; the others are numbers. */
    private static final Map<String, String> PARAMETERS = Map.ofEntries(
            Map.entry("maxima", "fsb"),
            Map.entry("decode", "fsb"),
            Map.entry("background", "fb"),
            Map.entry("begin", "b"),
            Map.entry("march", "fbbbbbbbb"),
            Map.entry("brightest", "fbbbbbb"));

    private static final int GROUP = 64; // local_size_x
    private static final int MOST_GROUPS = 65_535; // per direction: supported by every GL

    /** Starting a processor thread takes longer than handling an index. */
    private static final int MOST_GROUPS_IN_SOFTWARE = 64;

    private final GlApplication application;
    private final ComputePrograms programs = new ComputePrograms();
    private final long mostBytes;
    private final long mostGroups;

    /** Creates the kernels; the driver compiles each at its first run. */
    public GlKernels(GlApplication application) {
        this.application = application;
        this.mostGroups = application.backend().capabilities().hardware() ? Long.MAX_VALUE : MOST_GROUPS_IN_SOFTWARE;
        this.mostBytes = application.number(GlCalls.GL_MAX_SHADER_STORAGE_BLOCK_SIZE) & 0xffff_ffffL;
    }

    @Override
    public long allocate(long bytes) {
        if (bytes > mostBytes) {
            throw new IllegalStateException(
                    "a buffer of " + bytes + " bytes is too large for shaders, which can access " + mostBytes
                            + " bytes of one: set a smaller budget");
        }
        return application.call(() -> {
            int[] name = new int[1];
            GlCalls.glCreateBuffers(1, name);
            long words = (bytes + Integer.BYTES - 1) / Integer.BYTES;
            GlCalls.glNamedBufferStorage(name[0], words * Integer.BYTES, 0, GlCalls.GL_DYNAMIC_STORAGE_BIT);
            GlApplication.check("glNamedBufferStorage of " + bytes + " bytes");
            return (long) name[0];
        });
    }

    @Override
    public void free(long address) {
        application.run(() -> GlCalls.glDeleteBuffers(1, new int[] {(int) address}));
    }

    @Override
    public void put(ByteBuffer from, long address) {
        application.run(() -> {
            GlCalls.glNamedBufferSubData((int) address, 0, from.remaining(), from);
            GlApplication.check("glNamedBufferSubData");
        });
    }

    @Override
    public void get(long address, ByteBuffer to) {
        application.run(() -> {
            GlCalls.glGetNamedBufferSubData((int) address, 0, to.remaining(), to);
            GlApplication.check("glGetNamedBufferSubData");
        });
    }

    @Override
    public long[] parameters(DevicePlace slab) {
        return new long[] {slab.memory()};
    }

    @Override
    public void run(String kernel, long indices, long... arguments) {
        application.run(() -> {
            int program = programs.program(kernel);
            GlCalls.glUseProgram(program);
            bind(program, Objects.requireNonNull(PARAMETERS.get(kernel), kernel), arguments);
            long groups = Math.min((indices + GROUP - 1) / GROUP, mostGroups);
            long across = Math.min(groups, MOST_GROUPS);
            GlCalls.glDispatchCompute((int) across, (int) ((groups + across - 1) / across), 1);
            GlCalls.glMemoryBarrier(GlCalls.GL_ALL_BARRIER_BITS);
            GlApplication.check("glDispatchCompute of " + kernel);
        });
    }

    private static void bind(int program, String objects, long... arguments) {
        int buffers = 0;
        for (int i = 0; i < objects.length(); i++) {
            int name = (int) arguments[i];
            switch (objects.charAt(i)) {
                case 'f' -> GlCalls.glBindBufferBase(GlCalls.GL_UNIFORM_BUFFER, 0, name);
                case 's' -> GlCalls.glBindTextureUnit(0, name); // rebound each time: makes arrived data visible
                default -> GlCalls.glBindBufferBase(GlCalls.GL_SHADER_STORAGE_BUFFER, buffers++, name);
            }
        }
        int[] numbers = new int[arguments.length - objects.length()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Math.toIntExact(arguments[objects.length() + i]);
        }
        if (numbers.length > 0) {
            GlCalls.glProgramUniform1iv(program, 0, numbers.length, numbers);
        }
    }

    @Override
    public void close() {
        application.run(programs::close);
    }

    /**
     * The kernels of {@code compose.comp}, one program each, compiled by the driver at first use.
     *
     * <p><b>Threading:</b> the thread of the context.
     */
    private static final class ComputePrograms implements AutoCloseable {

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
}
