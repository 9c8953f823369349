// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** A {@link Film} on a device. */
interface DeviceFilm {

    /** Returns the kernel that moves rays over it. */
    String kernel();

    /** Returns the addresses that this kernel takes after those that all rays need. */
    long[] addresses();

    /** Waits for the device and returns the picture. */
    Picture develop();
}
