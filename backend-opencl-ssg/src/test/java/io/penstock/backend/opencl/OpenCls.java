// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.tck.Require;

/** The OpenCL of this machine, for tests. */
final class OpenCls {

    private OpenCls() {}

    /** Skips the test where there is none; a failure where {@code PENSTOCK_REQUIRE} names {@code opencl}. */
    static void require() {
        Require.backend("opencl", new OpenClProvider().probe(Options.none().resolve(Backends.options())));
    }
}
