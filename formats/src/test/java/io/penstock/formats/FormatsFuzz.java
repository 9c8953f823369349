// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What Jazzer calls: {@code ./mvnw -Pfuzz -pl formats -am test -DskipTests -Dfuzz.format=npz -Dfuzz.seconds=600}.
 * docs/testing.md has more.
 */
public final class FormatsFuzz {

    private static final FuzzTarget TARGET = target();

    private FormatsFuzz() {}

    private static FuzzTarget target() {
        try {
            return FuzzTarget.of(
                    System.getProperty("fuzz.format", "npy"),
                    Files.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "fuzz"),
                    Backends.open("host"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Called by Jazzer. */
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        TARGET.run(input);
    }
}
