// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import java.io.IOException;
import java.nio.file.Path;

/** Recording in the file tree of a test, for tests of other packages. */
public final class ExtentMaps {

    private ExtentMaps() {}

    /** Records where a file lies, by the sysfs, procfs and devices below {@code root}. */
    public static ExtentMap of(Path root, Path file) throws IOException {
        return ExtentMap.of(root, file);
    }
}
