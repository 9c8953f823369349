// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.ImageRegion;
import io.penstock.Transfer;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The images among the targets of a transfer, which retains them on the device. */
public final class TargetImages {

    private final @Nullable DeviceMemory[] taken; // by pair

    private TargetImages(int pairs) {
        taken = new @Nullable DeviceMemory[pairs];
    }

    /** Retains the images among the targets of a transfer until {@link #free}; returns why one is not available. */
    public static @Nullable RuntimeException take(OpenTransfer open, DeviceDriver driver) {
        Transfer transfer = open.transfer();
        int pairs = transfer.isGather() ? 0 : transfer.pairs(); // gathers go to buffers
        for (int pair = 0; pair < pairs; pair++) {
            if (transfer.target(pair) instanceof ImageRegion region) {
                TargetImages images = open.images == null ? new TargetImages(pairs) : open.images;
                open.images = images;
                try {
                    images.taken[pair] = driver.image(region);
                } catch (RuntimeException e) {
                    return e;
                }
            }
        }
        return null;
    }

    DeviceMemory memory(int pair) {
        return Objects.requireNonNull(taken[pair]);
    }

    /** Releases the images that a transfer retains. */
    public static void free(OpenTransfer open) {
        TargetImages images = open.images;
        open.images = null;
        for (int pair = 0; images != null && pair < images.taken.length; pair++) {
            DeviceMemory image = images.taken[pair];
            if (image != null) {
                image.free();
            }
        }
    }
}
