// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend;

import io.penstock.Options;
import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.staging.StagingRoute;

/** In a backend's package, but it knows what is internal to the engine. */
public abstract class BadRoute extends StagingRoute {

    protected BadRoute(Options options) {
        super(options, Slabs.class.getName() + IoUring.class.getName());
    }
}
