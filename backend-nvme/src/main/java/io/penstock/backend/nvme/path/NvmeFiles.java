// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.FileOption;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** Finds the blocks of the files that a backend opens. */
@FunctionalInterface
public interface NvmeFiles {

    /**
     * Opens a file.
     *
     * @throws IOException if there is no such file, or an option is refused; a JDK type where one fits
     */
    NvmeFile open(Path path, Set<FileOption> options) throws IOException;
}
