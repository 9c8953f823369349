// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend;

import io.penstock.Options;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.staging.StagingPath;

/** In a backend's package, but it knows what is internal to the engine. */
public abstract class BadPath extends StagingPath {

    protected BadPath(Options options) {
        super(options, Slabs.class.getName() + LinuxFile.class.getName());
    }
}
