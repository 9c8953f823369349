// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.benchmarks.ffi.GlFunctions;
import java.io.IOException;

/**
 * A compute shader that checks whether a buffer holds the contents of the test file. It computes the 64 bits of a word
 * in 32-bit arithmetic.
 *
 * <p><b>Threading:</b> the thread of the application's context.
 */
final class GlMemoryCheck implements AutoCloseable {

    /** A word that the test file does not contain; fills the targets of reads beforehand. */
    private static final int[] POISON = {-1};

    private static final long MOST_BYTES = 128 << 20; // at a time
    private static final int GROUPS = 128;
    private static final int BASE = 0; // locations of the uniforms
    private static final int WORDS = 1;

    private static final String SOURCE = """
            #version 430 core
            layout(local_size_x = 64) in;
            layout(std430, binding = 0) readonly buffer Memory { uvec2 memory[]; };
            layout(std430, binding = 1) buffer Count { uint bad; };
            layout(location = 0) uniform uvec2 base;
            layout(location = 1) uniform uvec2 words;
            uvec2 plus(uvec2 a, uvec2 b) {
                uint carry;
                uint low = uaddCarry(a.x, b.x, carry);
                return uvec2(low, a.y + b.y + carry);
            }
            uvec2 times(uvec2 a, uvec2 b) {
                uint high;
                uint low;
                umulExtended(a.x, b.x, high, low);
                return uvec2(low, high + a.x * b.y + a.y * b.x);
            }
            uvec2 folded(uvec2 a, int by) {
                return a ^ uvec2(a.x >> by | a.y << (32 - by), a.y >> by);
            }
            void main() {
                uint mine = 0;
                for (uint i = gl_GlobalInvocationID.x; i < words.x; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
                    uvec2 mixed = plus(plus(base, uvec2(i << 3, i >> 29)), uvec2(0x7F4A7C15u, 0x9E3779B9u));
                    mixed = folded(times(mixed, uvec2(0x1CE4E5B9u, 0xBF58476Du)), 27);
                    mixed = folded(times(mixed, uvec2(0x133111EBu, 0x94D049BBu)), 31);
                    mine += memory[i] != mixed ? 1 : 0;
                }
                if (mine != 0) {
                    atomicAdd(bad, mine);
                }
            }
            """;

    private final int program = GlFunctions.program(GlFunctions.shader(GlFunctions.GL_COMPUTE_SHADER, SOURCE));
    private final int count = buffer(Integer.BYTES, GlFunctions.GL_DYNAMIC_STORAGE_BIT);
    private final long most;

    GlMemoryCheck() {
        int[] limit = new int[1];
        Gl.glGetIntegerv(GlFunctions.GL_MAX_SHADER_STORAGE_BLOCK_SIZE, limit);
        most = Math.min(MOST_BYTES, Integer.toUnsignedLong(limit[0]) & -4096); // a multiple of any offset's alignment
    }

    /** Creates a buffer. */
    static int buffer(long bytes, int flags) {
        int[] name = new int[1];
        Gl.glCreateBuffers(1, name);
        Gl.glNamedBufferStorage(name[0], bytes, 0, flags);
        GlFunctions.check("glNamedBufferStorage");
        return name[0];
    }

    static void delete(int buffer) {
        Gl.glDeleteBuffers(1, new int[] {buffer});
    }

    void poison(int memory, long bytes) {
        fill(memory, bytes, POISON);
        Gl.glFinish();
    }

    private static void fill(int buffer, long bytes, int[] value) {
        GlFunctions.glClearNamedBufferSubData(
                buffer, GlFunctions.GL_R32UI, 0, bytes, GlFunctions.GL_RED_INTEGER, GlFunctions.GL_UNSIGNED_INT, value);
        GlFunctions.check("glClearNamedBufferSubData");
    }

    void verify(int memory, long at, long bytes, long fileOffset) throws IOException {
        fill(count, Integer.BYTES, new int[] {0});
        GlFunctions.glUseProgram(program);
        GlFunctions.glBindBufferBase(GlFunctions.GL_SHADER_STORAGE_BUFFER, 1, count);
        for (long done = 0; done < bytes; done += most) {
            long length = Math.min(most, bytes - done);
            long base = fileOffset + done;
            GlFunctions.glBindBufferRange(GlFunctions.GL_SHADER_STORAGE_BUFFER, 0, memory, at + done, length);
            GlFunctions.glProgramUniform2ui(program, BASE, (int) base, (int) (base >>> 32));
            GlFunctions.glProgramUniform2ui(program, WORDS, (int) (length / Long.BYTES), 0);
            GlFunctions.glDispatchCompute(GROUPS, 1, 1);
        }
        GlFunctions.glMemoryBarrier(GlFunctions.GL_BUFFER_UPDATE_BARRIER_BIT);
        int[] bad = new int[1];
        GlFunctions.glGetNamedBufferSubData(count, 0, Integer.BYTES, bad);
        GlFunctions.check("the check of a buffer");
        Device.none(bad[0]);
    }

    @Override
    public void close() {
        GlFunctions.glUseProgram(0);
        GlFunctions.glDeleteProgram(program);
        delete(count);
    }
}
