// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.engine.spi.IoPath;
import io.penstock.engine.kit.PathFilter;
import io.penstock.tck.Gate;
import io.penstock.tck.GateProvider;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Puts {@link HeldCommands} in front of all paths and gives each subject such a gate, where it is found as a service.
 */
public final class HoldingPaths implements PathFilter, GateProvider {

    /** Makes one; for ServiceLoader. */
    public HoldingPaths() {}

    @Override
    public IoPath around(IoPath ioPath) {
        return ioPath instanceof HoldingPath ? ioPath : new HoldingPath(ioPath);
    }

    @Override
    public Gate in(Path folder) throws IOException {
        return HeldCommands.in(folder);
    }
}
