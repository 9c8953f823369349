// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.engine.kit.ffi.UnnamedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A temporary file, in the directory for such files: without a name if the file system supports that, so that nothing
 * remains of it however the process ends.
 */
final class InflatedFile implements AutoCloseable {

    /** The prefix of names of this process: identifies files left by a killed process. */
    static final String PREFIX = "penstock-" + ProcessHandle.current().pid() + "-";

    private static final int MODE = 0600;

    private final Path folder;
    private final Path path;
    private final @Nullable UnnamedFile unnamed;

    private InflatedFile(Path folder, Path path, @Nullable UnnamedFile unnamed) {
        this.folder = folder;
        this.path = path;
        this.unnamed = unnamed;
    }

    static InflatedFile create() throws IOException {
        Path folder = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        UnnamedFile unnamed = UnnamedFile.in(folder, MODE).orElse(null);
        return unnamed == null ? named(folder) : new InflatedFile(folder, unnamed.path(), unnamed);
    }

    /** Creates a file as on a file system without unnamed files. */
    static InflatedFile named(Path folder) throws IOException {
        Path path = Files.createTempFile(folder, PREFIX, ".nii");
        path.toFile().deleteOnExit(); // for Ctrl-C
        return new InflatedFile(folder, path, null);
    }

    /** Returns the path to open; {@link #toString} returns the text for users. */
    Path path() {
        return path;
    }

    Path folder() {
        return folder;
    }

    /** Deletes the file. */
    @Override
    public void close() {
        if (unnamed != null) {
            unnamed.close();
            return;
        }
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            path.toFile().deleteOnExit();
        }
    }

    @Override
    public String toString() {
        return unnamed == null ? path + ", which is deleted at the end" : "a temporary file in " + folder;
    }
}
