// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import io.penstock.backend.gpu.file.KeptDriver;
import io.penstock.engine.testing.CompiledFakes;
import io.penstock.engine.testing.FakeControl;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The fakes of {@code libcuda.so.1} and {@code libcufile.so.0}: where they are, and their controls.
 *
 * <p>A test resets them before it starts, and looks at {@link #complaint} when it is done.
 */
public final class Fakes {

    /** What {@code PENSTOCK_REQUIRE} calls what needs a C compiler and Linux. */
    public static final String NAME = "fakes";

    private Fakes() {}

    /** Built and loaded once, or the reason why not. */
    private static final class Built {
        static final @Nullable String UNAVAILABLE;
        static final Path FOLDER;
        static final @Nullable FakeControl CUDA;
        static final @Nullable FakeControl CUFILE;

        static {
            String unavailable = CompiledFakes.unavailable();
            UNAVAILABLE = unavailable;
            if (unavailable == null) {
                try {
                    FOLDER = FakesBuild.libraries();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                // In this order: the fake of libcufile finds the other by its soname, as the real one does.
                CUDA = new FakeControl(FOLDER.resolve("libcuda.so.1"));
                CUFILE = new FakeControl(FOLDER.resolve("libcufile.so.0"));
            } else {
                FOLDER = Path.of("");
                CUDA = null;
                CUFILE = null;
            }
        }
    }

    /** Skips the test with the reason unless the fakes can be built here. */
    public static void require() {
        Require.backend(NAME, Built.UNAVAILABLE);
    }

    /** Returns the file of the fake of libcuda, for option {@code penstock.cufile.libcuda}. */
    public static Path libcuda() {
        require();
        return Built.FOLDER.resolve("libcuda.so.1");
    }

    /** Returns the file of the fake of libcufile, for option {@code penstock.cufile.libcufile}. */
    public static Path libcufile() {
        require();
        return Built.FOLDER.resolve("libcufile.so.0");
    }

    /** Returns the control of the fake of libcuda. */
    public static FakeControl cuda() {
        require();
        return loaded(Built.CUDA);
    }

    /** Returns the control of the fake of libcufile. */
    public static FakeControl cufile() {
        require();
        return loaded(Built.CUFILE);
    }

    private static FakeControl loaded(@Nullable FakeControl control) {
        if (control == null) {
            throw new IllegalStateException("the fakes are not loaded");
        }
        return control;
    }

    /** Resets both, as if the process had not called them. */
    public static void reset() {
        // What the one has enqueued with the other ends with the other's streams, and is counted down after that.
        cufile().reset();
        cuda().reset();
        cufile().reset();
        KeptDriver.forget();
    }

    /** Returns the first complaint of either. */
    public static Optional<String> complaint() {
        return cuda().complaint().or(cufile()::complaint);
    }
}
