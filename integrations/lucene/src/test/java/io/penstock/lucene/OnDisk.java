// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Folders of the build: on a disk, where /tmp may be memory. */
final class OnDisk implements TempDirFactory {

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
        return Files.createTempDirectory(
                Files.createDirectories(Path.of("target").toAbsolutePath()), "lucene");
    }
}
