// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Set;

/**
 * What an open backend can do.
 *
 * @param device the name of the device
 * @param hardware whether the device is hardware
 * @param paths the paths that transfers may take on it
 * @param fences when {@link Backend#enqueue} emits its fence
 * @param hostVisible whether buffers have a {@link HostView}
 * @param images whether {@link ImageRegion} targets are supported
 * @param features further facts, a line each, as {@code doctor} prints them
 */
public record Capabilities(
        String device,
        boolean hardware,
        Set<TransferPath> paths,
        FenceSupport fences,
        boolean hostVisible,
        boolean images,
        Set<String> features) {

    public Capabilities {
        paths = Set.copyOf(paths);
        features = Set.copyOf(features);
    }
}
