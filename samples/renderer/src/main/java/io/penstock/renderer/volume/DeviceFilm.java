// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteBuffer;

/** A {@link Film} on a device. */
interface DeviceFilm {

    /** Returns the kernel that moves rays over it. */
    String kernel();

    /** Returns the addresses that this kernel takes after the addresses that all rays need. */
    long[] addresses();

    /** Waits for the device and returns the picture. */
    Picture develop();

    /** {@link Lights} on a device. */
    final class Shaded implements DeviceFilm {

        private static final int PIXEL_BYTES = 4 * Float.BYTES;

        private final int side;
        private final DeviceMemory memory;
        private final long means;
        private final long opacity;
        private final long exposure;

        Shaded(Scene scene, DeviceMemory memory) {
            this.memory = memory;
            side = scene.display().side();
            means = floats(scene.terrain().map().means());
            opacity = floats(scene.tissue().table());
            exposure = memory.allocate(bytes());
            memory.kernels().run("begin", (long) side * side, exposure);
        }

        private long bytes() {
            return (long) side * side * PIXEL_BYTES;
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
            ByteBuffer lights = memory.get(exposure, bytes());
            Exposure gathered = new Exposure(side);
            for (int pixel = 0; pixel < side * side; pixel++) {
                gathered.red[pixel] = lights.getFloat();
                gathered.green[pixel] = lights.getFloat();
                gathered.blue[pixel] = lights.getFloat();
                gathered.clear[pixel] = lights.getFloat();
            }
            return gathered.develop();
        }
    }

    /** {@link Maxima} on a device. */
    final class Brightest implements DeviceFilm {

        private final Maxima maxima;
        private final DeviceMemory memory;
        private final long bytes;
        private final long codes;

        Brightest(Scene scene, DeviceMemory memory) {
            this.maxima = new Maxima(scene);
            this.memory = memory;
            this.bytes = (long) maxima.codes.length * Float.BYTES;
            this.codes = memory.filled(bytes, to -> to.asFloatBuffer().put(maxima.codes));
        }

        @Override
        public String kernel() {
            return "brightest";
        }

        @Override
        public long[] addresses() {
            return new long[] {codes};
        }

        @Override
        public Picture develop() {
            memory.get(codes, bytes).asFloatBuffer().get(maxima.codes);
            return maxima.develop();
        }
    }
}
