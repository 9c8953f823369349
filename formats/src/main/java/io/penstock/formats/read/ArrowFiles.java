// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ArrayFile;
import io.penstock.formats.FormatOption;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** Arrow's files and streams, read by {@link ArrowReader} where the library is that it needs. */
public final class ArrowFiles implements FormatReader {

    /** What messages call the format. */
    public static final String FORMAT = "Arrow";

    @Override
    public boolean recognizes(Path path, byte[] start) {
        return FileStart.isArrow(start);
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        try {
            return new ArrowReader().read(path, permitted);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    "Arrow's files need org.apache.arrow:arrow-format, which is not on the class path", e);
        }
    }
}
