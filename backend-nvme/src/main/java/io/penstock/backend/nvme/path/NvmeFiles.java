// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.FileOption;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** Opens the files of a backend: an {@link NvmeFile}, or a host file, if it is not on the controller. */
@FunctionalInterface
public interface NvmeFiles {

    /**
     * Opens a file.
     *
     * @throws IOException if there is no such file, or an option is refused; a JDK type where one fits
     */
    NativeFile open(Path path, Set<FileOption> options) throws IOException;
}
