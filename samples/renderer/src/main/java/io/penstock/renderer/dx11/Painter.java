// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.renderer.dx11.ffi.Layouts;
import io.penstock.renderer.dx11.ffi.Method;
import io.penstock.renderer.dx11.ffi.ShaderCompiler;
import io.penstock.renderer.volume.Kernels;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

/**
 * The application's side of Direct3D: shaders and other drawing state on the device of a backend, whose immediate
 * context is protected: draws are interleaved with the backend's copies, in the order of the calls.
 *
 * <p><b>Threading:</b> any thread, one at a time.
 *
 * <p><b>Ownership:</b> close it before the backend.
 */
public final class Painter implements AutoCloseable {

    static final int R32_FLOAT = 41; // DXGI_FORMAT

    private static final int BLENDABLE = 0x8000;
    private static final int ONE = 2;
    private static final int MAX = 5;
    private static final int TRIANGLES = 4;

    private final Deque<Long> held = new ArrayDeque<>(); // references, the last first
    private final long device;
    private final long context;
    private final long vertexShader;
    private final long pixelShader;
    private final long inputLayout;
    private final long brightest;

    private Painter(long device) {
        this.device = keep(device);
        try {
            context = keep(Method.GET_IMMEDIATE_CONTEXT.give(device));
            String source = Kernels.source(Painter.class, "projection.hlsl");
            byte[] place = ShaderCompiler.compile(source, "place", "vs_4_0");
            byte[] decode = ShaderCompiler.compile(source, "decode", "ps_4_0");
            vertexShader = keep(Method.CREATE_VERTEX_SHADER.make(device, place, (long) place.length, 0L));
            pixelShader = keep(Method.CREATE_PIXEL_SHADER.make(device, decode, (long) decode.length, 0L));
            inputLayout = keep(Layouts.inputLayout(device, place));
            brightest = keep(Method.CREATE_BLEND_STATE.make(device, brightest()));
            int[] support = new int[1];
            Method.CHECK_FORMAT_SUPPORT.check(Method.CHECK_FORMAT_SUPPORT.call(device, R32_FLOAT, support));
            if ((support[0] & BLENDABLE) == 0) {
                throw new IllegalStateException("this device does not blend 32-bit floats");
            }
        } catch (RuntimeException | Error refused) {
            close();
            throw refused;
        }
    }

    /**
     * Prepares to draw on the device that a backend's memory is on.
     *
     * @throws IllegalStateException with the error of Direct3D or the compiler, if a call fails
     */
    public static Painter beside(Backend backend) {
        try (DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(1).block())) {
            return new Painter(Method.GET_DEVICE.give(buffer.nativeHandle()));
        }
    }

    // D3D11_BLEND_DESC: two flags, and eight times enable, source, target, operation, these three of alpha, mask.
    private static int[] brightest() {
        int[] blend = new int[2 + 8 * 8];
        int[] first = {1, ONE, ONE, MAX, ONE, ONE, MAX, 0xf};
        System.arraycopy(first, 0, blend, 2, first.length);
        return blend;
    }

    /** Registers an object to be released with this, or earlier by {@link #drop}. */
    long keep(long object) {
        held.push(object);
        return object;
    }

    void drop(long object) {
        if (held.remove(object)) {
            Method.RELEASE.call(object);
        }
    }

    long device() {
        return device;
    }

    long context() {
        return context;
    }

    /**
     * Draws quads over each other, the brightest on top.
     *
     * @param view {@code D3D11_VIEWPORT}: the part of the target that each quad fills
     * @param voxel the constants of the shader
     */
    void draw(Canvas canvas, float[] view, TextureProjection.Quads quads, long voxel) {
        Method.IA_SET_INPUT_LAYOUT.call(context, inputLayout);
        Method.IA_SET_PRIMITIVE_TOPOLOGY.call(context, TRIANGLES);
        Method.IA_SET_VERTEX_BUFFERS.call(
                context,
                0,
                1,
                new long[] {quads.buffer()},
                new int[] {TextureProjection.Quads.VERTEX_BYTES},
                new int[1]);
        Method.VS_SET_SHADER.call(context, vertexShader, 0L, 0);
        Method.PS_SET_SHADER.call(context, pixelShader, 0L, 0);
        Method.PS_SET_CONSTANT_BUFFERS.call(context, 0, 1, new long[] {voxel});
        Method.PS_SET_SHADER_RESOURCES.call(context, 0, 1, new long[] {canvas.slabView()});
        Method.OM_SET_RENDER_TARGETS.call(context, 1, new long[] {canvas.targetView()}, 0L);
        Method.OM_SET_BLEND_STATE.call(context, brightest, 0L, -1);
        Method.RS_SET_VIEWPORTS.call(context, 1, view);
        Method.DRAW.call(context, quads.vertices(), 0);
    }

    /** Does not wait: Direct3D holds references to what it still needs. */
    @Override
    public void close() {
        while (!held.isEmpty()) {
            long object = held.pop();
            if (held.size() == 1) {
                Method.CLEAR_STATE.call(object); // the context: it holds the state that was set last
            }
            Method.RELEASE.call(object);
        }
    }
}
