// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** {@link Maxima} on a device. */
final class DeviceMaxima implements DeviceFilm {

    private final Maxima maxima;
    private final DeviceMemory memory;
    private final long bytes;
    private final long codes;

    DeviceMaxima(Scene scene, DeviceMemory memory) {
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
