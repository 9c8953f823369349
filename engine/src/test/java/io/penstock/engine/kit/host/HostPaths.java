// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.host;

import io.penstock.Options;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.memory.Slabs;

/** Opens paths on simulated kernels, for tests in other packages. */
public final class HostPaths {

    private HostPaths() {}

    public static HostPath open(Options options, Slabs slabs, Kernel kernel) {
        return HostPath.open(options, slabs, kernel);
    }
}
