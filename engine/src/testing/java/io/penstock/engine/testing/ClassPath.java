// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of a JVM that a test starts: test runners may keep theirs elsewhere than in {@code java.class.path}.
 */
public final class ClassPath {

    private ClassPath() {}

    /** Returns a class path with the jars or folders that these classes were loaded from. */
    public static String of(Class<?>... types) {
        return Stream.of(types)
                .map(type -> origin(type).toString())
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Returns the jar or folder that a class was loaded from. */
    public static Path origin(Class<?> type) {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }
}
