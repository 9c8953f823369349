// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteBuffer;

/** {@link Lights} on a device. */
final class DeviceLights implements DeviceFilm {

    private static final int PIXELS = Picture.SIDE * Picture.SIDE;
    private static final long BYTES = 4L * PIXELS * Float.BYTES;

    private final DeviceMemory memory;
    private final long means;
    private final long opacity;
    private final long exposure;

    DeviceLights(Scene scene, DeviceMemory memory) {
        this.memory = memory;
        means = floats(scene.terrain().map().means());
        opacity = floats(scene.tissue().table());
        exposure = memory.allocate(BYTES);
        memory.kernels().run("begin", PIXELS, exposure);
    }

    private long floats(float[] values) {
        return memory.filled(
                (long) values.length * Float.BYTES, to -> to.asFloatBuffer().put(values));
    }

    @Override
    public String kernel() {
        return "march";
    }

    @Override
    public long[] addresses() {
        return new long[] {means, opacity, exposure};
    }

    @Override
    public Picture develop() {
        ByteBuffer lights = memory.get(exposure, BYTES);
        Exposure gathered = new Exposure();
        for (int pixel = 0; pixel < PIXELS; pixel++) {
            gathered.red[pixel] = lights.getFloat();
            gathered.green[pixel] = lights.getFloat();
            gathered.blue[pixel] = lights.getFloat();
            gathered.clear[pixel] = lights.getFloat();
        }
        return gathered.develop();
    }
}
