// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.ImageRegion;
import io.penstock.Transfer;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import org.jspecify.annotations.Nullable;

/** Retains the images of a transfer on the device, from its subscription to its native completion (rule 201). */
final class ImagePins {

    private ImagePins() {}

    /** Retains all images; returns why one is not available on the device, and then retains none. */
    static @Nullable RuntimeException take(OpenTransfer open, DeviceDriver driver) {
        Transfer transfer = open.transfer();
        int pairs = transfer.isGather() ? 0 : transfer.pairs(); // gathers go to buffers
        for (int pair = 0; pair < pairs; pair++) {
            if (transfer.target(pair) instanceof ImageRegion region) {
                if (open.images == null) {
                    open.images = new @Nullable DeviceMemory[pairs];
                }
                try {
                    open.images[pair] = driver.image(region);
                } catch (RuntimeException e) {
                    free(open);
                    return e;
                }
            }
        }
        return null;
    }

    /** Releases the retained images. */
    static void free(OpenTransfer open) {
        @Nullable DeviceMemory[] images = open.images;
        open.images = null;
        for (int pair = 0; images != null && pair < images.length; pair++) {
            DeviceMemory image = images[pair];
            if (image != null) {
                image.free();
            }
        }
    }
}
