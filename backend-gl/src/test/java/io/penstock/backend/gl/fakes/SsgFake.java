// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.fakes;

import io.penstock.engine.testing.CompiledFakes;
import io.penstock.engine.testing.FakeControl;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The fake of AMD's SSG for OpenGL: a layer between the tests of this JVM and the machine's libOpenGL, and the library
 * of the five functions. {@code src/test/c/ssg/ssg.h} lists what {@link #set} may set; {@link FreshSsg} does what a
 * test needs.
 *
 * <p>{@link #control} knows the five functions and glClientWaitSync by their names;
 * {@code fail("late:glReadFileAMD", ...)} lets a transfer move nothing, without an error. {@code live} counts
 * files, syncs that were given out, operations and visible_bytes.
 */
public final class SsgFake {

    /** What {@code PENSTOCK_REQUIRE} calls what needs a C compiler and Linux. */
    public static final String NAME = "fakes";

    private static final String LIBRARY = "libgl-ssg-fake.so";

    private SsgFake() {}

    /** Built and named to the backend once, or the reason why not. */
    private static final class Built {
        static final @Nullable String UNAVAILABLE;
        static final Path LAYER;
        static final @Nullable FakeControl CONTROL;

        static {
            UNAVAILABLE = unavailable();
            try {
                LAYER = UNAVAILABLE == null ? compiled() : Path.of("");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            CONTROL = UNAVAILABLE == null ? new FakeControl(LAYER) : null;
            if (UNAVAILABLE == null) {
                System.setProperty("penstock.gl.libgl", LAYER.toString());
            }
        }

        private static @Nullable String unavailable() {
            if (System.getProperty("penstock.gl.libgl") != null || System.getenv("PENSTOCK_GL_LIBGL") != null) {
                return "another libOpenGL is named";
            }
            if (!Files.exists(Path.of("/usr/lib/x86_64-linux-gnu/libOpenGL.so.0"))) {
                return "no libOpenGL.so.0 to stand in front of";
            }
            return CompiledFakes.unavailable();
        }

        private static Path compiled() throws IOException {
            CompiledFakes fakes = new CompiledFakes("backend-gl");
            Path folder = fakes.folder("ssg", List.of("-O1"), (made, flags) -> {
                List<String> command = new ArrayList<>(fakes.library(
                        made.resolve(LIBRARY), flags, fakes.sources().resolve("ssg")));
                // What the fake does not have is found in these, through it.
                command.addAll(List.of("-Wl,--no-as-needed", "-l:libOpenGL.so.0", "-l:libEGL.so.1", "-ldl"));
                CompiledFakes.run(command);
            });
            return folder.resolve(LIBRARY);
        }
    }

    /** Puts the layer between this JVM and OpenGL, where there can be one; before OpenGL is loaded. */
    public static void install() {
        if (Built.LAYER.toString().isEmpty()) {
            return; // each test that needs it is skipped with the reason
        }
        control();
    }

    /** Skips the test with the reason unless the layer can be built here. */
    public static void require() {
        Require.backend(NAME, Built.UNAVAILABLE);
    }

    /** Returns the file of the layer. */
    public static Path file() {
        require();
        return Built.LAYER;
    }

    /** Returns the control of the layer. */
    public static FakeControl control() {
        require();
        FakeControl control = Built.CONTROL;
        if (control == null) {
            throw new IllegalStateException("the layer is not loaded");
        }
        return control;
    }

    /** Sets a property of the SSG. */
    public static void set(String property, long value) {
        control().set(property, value);
    }

    /** Returns the first wrong use that a driver need not have noticed. */
    public static Optional<String> complaint() {
        return control().complaint();
    }
}
