// SPDX-License-Identifier: Apache-2.0
package io.penstock.cudf;

import ai.rapids.cudf.Cuda;
import com.sun.jna.NativeLibrary;
import io.penstock.engine.testing.CompiledFakes;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A native library for cudf's classes, compiled from {@code src/test/c/cudf} and loaded into this process once. */
final class FakeCudf {

    private static final String LIBRARY = "libcudfjni.so";

    private static @Nullable NativeLibrary library;
    private static @Nullable String unavailable;

    private FakeCudf() {}

    /** Loads the fake, or skips the test. */
    static synchronized void load() {
        if (library == null && unavailable == null) {
            unavailable = CompiledFakes.unavailable();
        }
        if (library == null && unavailable == null) {
            try {
                Path file = compiled();
                System.load(file.toString()); // for the classes' native methods
                Cuda.isPtdsEnabled(); // cudf looks for its own library now, which an interrupt of the thread would end
                library = NativeLibrary.getInstance(file.toString());
            } catch (IOException | LinkageError e) {
                unavailable = "cudf's fake cannot be compiled and loaded: " + e;
            }
        }
        Require.backend("fakes", unavailable);
    }

    private static Path compiled() throws IOException {
        CompiledFakes fakes = new CompiledFakes("integrations/cudf");
        Path folder = fakes.folder(
                "cudf",
                List.of(),
                (output, flags) -> CompiledFakes.run(fakes.library(
                        output.resolve(LIBRARY), flags, fakes.sources().resolve("cudf"))));
        return folder.resolve(LIBRARY).toAbsolutePath();
    }

    /** Returns the stream that was synchronized last. */
    static long lastSynchronized() {
        return library.getFunction("fake_last_synchronized").invokeLong(new Object[0]);
    }

    static int synchronizations() {
        return library.getFunction("fake_synchronizations").invokeInt(new Object[0]);
    }

    /** Returns how many views of columns exist. */
    static int views() {
        return library.getFunction("fake_views").invokeInt(new Object[0]);
    }
}
