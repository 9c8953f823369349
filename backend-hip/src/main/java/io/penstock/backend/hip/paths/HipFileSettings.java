// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.file.FileSettings;
import io.penstock.backend.hip.HipOptions;
import java.util.List;

/**
 * The settings of hipFile, for the whole process: all are in its environment, which {@code HipFile.load} sets before.
 *
 * @param allowCompat whether it may fall back to POSIX calls by itself
 */
record HipFileSettings(boolean allowCompat) implements FileSettings {

    @Override
    public void beforeOpening() {}

    @Override
    public void afterOpening() {}

    @Override
    public List<String> ignored(DriverProperties driver) {
        boolean ignored = driver.mayBeDirect() && !allowCompat && driver.allowsCompatibility();
        return ignored ? List.of(HipOptions.ALLOW_COMPAT.name()) : List.of();
    }

    @Override
    public boolean provesDirect() {
        return false; // the layout of its counters is not documented
    }

    @Override
    public String toString() {
        return HipOptions.ALLOW_COMPAT + "=" + allowCompat;
    }
}
