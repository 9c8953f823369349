// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.doubles;

import io.penstock.engine.testing.CompiledDoubles;
import io.penstock.engine.testing.DoubleControl;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The doubles of {@code libcuda.so.1} and {@code libcufile.so.0}: where they are, and their controls.
 *
 * <p>A test resets them before it starts, and looks at {@link #complaint} when it is done.
 */
public final class Doubles {

    /** What {@code PENSTOCK_REQUIRE} calls what needs a C compiler and Linux. */
    public static final String NAME = "doubles";

    private Doubles() {}

    /** Built and loaded once, or the reason why not. */
    private static final class Built {
        static final @Nullable String UNAVAILABLE;
        static final Path FOLDER;
        static final @Nullable DoubleControl CUDA;
        static final @Nullable DoubleControl CUFILE;

        static {
            String unavailable = CompiledDoubles.unavailable();
            UNAVAILABLE = unavailable;
            if (unavailable == null) {
                try {
                    FOLDER = DoublesBuild.libraries();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                // In this order: the double of libcufile finds the other by its soname, as the real one does.
                CUDA = new DoubleControl(FOLDER.resolve("libcuda.so.1"));
                CUFILE = new DoubleControl(FOLDER.resolve("libcufile.so.0"));
            } else {
                FOLDER = Path.of("");
                CUDA = null;
                CUFILE = null;
            }
        }
    }

    /** Goes on if the doubles can be built here, else skips the test with the reason. */
    public static void require() {
        Require.backend(NAME, Built.UNAVAILABLE);
    }

    /** Returns the file of the double of libcuda, for option {@code penstock.cufile.libcuda}. */
    public static Path libcuda() {
        require();
        return Built.FOLDER.resolve("libcuda.so.1");
    }

    /** Returns the file of the double of libcufile, for option {@code penstock.cufile.libcufile}. */
    public static Path libcufile() {
        require();
        return Built.FOLDER.resolve("libcufile.so.0");
    }

    /** Returns the control of the double of libcuda. */
    public static DoubleControl cuda() {
        require();
        return loaded(Built.CUDA);
    }

    /** Returns the control of the double of libcufile. */
    public static DoubleControl cufile() {
        require();
        return loaded(Built.CUFILE);
    }

    private static DoubleControl loaded(@Nullable DoubleControl control) {
        if (control == null) {
            throw new IllegalStateException("the doubles are not loaded");
        }
        return control;
    }

    /** Resets both. */
    public static void reset() {
        // What the one has enqueued with the other ends with the other's streams, and is counted down after that.
        cufile().reset();
        cuda().reset();
        cufile().reset();
    }

    /** Returns the first complaint of either. */
    public static Optional<String> complaint() {
        return cuda().complaint().or(cufile()::complaint);
    }
}
